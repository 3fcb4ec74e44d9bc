"""Keys and users: who is let in."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.domain import keys
from app.domain.ids import new_id
from app.domain.principals import Role
from app.domain.users import User
from app.errors import NameTaken
from tests.store.people import a_key

PAST, FUTURE = "2001-01-01T00:00:00Z", "2101-01-01T00:00:00Z"


def presented(minted):
    found = keys.parse(minted.text)
    assert found is not None
    return found


@pytest.fixture
def mint(database, people):
    """A new key of Alice's, made with these changes."""

    def make(**changes):
        minted = keys.mint()
        with database.transaction(people.alice) as tx:
            stored = tx.keys.add(a_key(people.alice, minted, **changes), minted.hash)
        return minted, stored

    return make


@pytest.mark.parametrize("expires_at", [None, FUTURE])
def test_a_good_key_makes_its_sender_its_user(database, people, mint, expires_at):
    minted, stored = mint(expires_at=expires_at)

    principal = database.authenticate(presented(minted))

    assert principal == replace(people.alice, key_id=stored.id)
    with database.reading(people.alice) as tx:
        assert tx.keys.get(stored.id).last_used_at


def test_an_unknown_key_makes_nobody(database, people):
    assert database.authenticate(presented(keys.mint())) is None


def test_a_wrong_secret_makes_nobody(database, mint):
    minted, _ = mint()
    guessed = replace(presented(minted), hash=bytes(32))

    assert database.authenticate(guessed) is None


def test_an_expired_key_makes_nobody(database, mint):
    minted, _ = mint(expires_at=PAST)

    assert database.authenticate(presented(minted)) is None


def test_a_revoked_key_makes_nobody_from_then_on(database, people, mint):
    minted, stored = mint()
    assert database.authenticate(presented(minted))

    with database.transaction(people.alice) as tx:
        first = tx.keys.revoke(stored.id)
        again = tx.keys.revoke(stored.id)

    assert first.revoked_at == again.revoked_at
    assert database.authenticate(presented(minted)) is None


def test_a_disabled_user_is_shut_out_with_all_its_keys(database, people, mint):
    minted, _ = mint()

    with database.transaction(people.admin) as tx:
        tx.users.update(people.alice.user_id, disabled=True)
    assert database.authenticate(presented(minted)) is None

    with database.transaction(people.admin) as tx:
        tx.users.update(people.alice.user_id, disabled=False)
    assert database.authenticate(presented(minted))


def test_use_is_noted_once_a_minute(database, people, mint):
    minted, stored = mint()
    database.authenticate(presented(minted))
    with database.reading(people.alice) as tx:
        noted = tx.keys.get(stored.id).last_used_at

    database.authenticate(presented(minted))

    with database.reading(people.alice) as tx:
        assert tx.keys.get(stored.id).last_used_at == noted


def test_a_role_counts_as_it_is_now(database, people, mint):
    minted, _ = mint()
    with database.transaction(people.admin) as tx:
        tx.users.update(people.alice.user_id, role=Role.ADMIN)

    principal = database.authenticate(presented(minted))

    assert principal is not None
    assert principal.is_admin


def test_a_name_is_taken_once_in_a_tenant_and_free_in_others(database, people):
    def add(admin, name):
        with database.transaction(admin) as tx:
            return tx.users.add(
                User(
                    id=new_id(),
                    tenant_id=admin.tenant_id,
                    name=name,
                    role=Role.MEMBER,
                    created_at="",
                    disabled_at=None,
                )
            )

    with pytest.raises(NameTaken):
        add(people.admin, "Alice")
    assert add(people.eve, "Alice").role is Role.MEMBER
