"""Secrets at rest: what opens them, and what does not."""

from __future__ import annotations

import pytest

from app.errors import SecretsUnavailable
from app.store.secrets import NO_KEY, OTHER_KEY, Vault

OLD, NEW = b"o" * 32, b"n" * 32
ABOUT = "tenant|http_tools|weather"


def test_what_was_sealed_is_opened_and_never_the_same_twice() -> None:
    vault = Vault([NEW])

    first, second = vault.seal("s3crét", ABOUT), vault.seal("s3crét", ABOUT)

    assert first != second
    assert "s3cr" not in first
    assert vault.open(first, ABOUT) == vault.open(second, ABOUT) == "s3crét"


@pytest.mark.parametrize("about", ["tenant|http_tools|other", "other|http_tools|weather", ""])
def test_it_opens_for_its_own_row_alone(about: str) -> None:
    vault = Vault([NEW])

    with pytest.raises(SecretsUnavailable):
        vault.open(vault.seal("s", ABOUT), about)


def test_the_old_key_opens_and_the_new_one_seals() -> None:
    old = Vault([OLD]).seal("s", ABOUT)
    both = Vault([NEW, OLD])

    assert both.open(old, ABOUT) == "s"
    assert Vault([NEW]).open(both.seal("s", ABOUT), ABOUT) == "s"


def test_another_key_and_altered_data_are_told_from_no_key() -> None:
    sealed = Vault([OLD]).seal("s", ABOUT)
    key_id, nonce, data = sealed.split(".")
    altered = f"{key_id}.{nonce}.{'A' if data[0] != 'A' else 'B'}{data[1:]}"

    for vault, text, detail in (
        (Vault([NEW]), sealed, OTHER_KEY),
        (Vault([OLD]), altered, OTHER_KEY),
        (Vault(), sealed, NO_KEY),
    ):
        with pytest.raises(SecretsUnavailable) as caught:
            vault.open(text, ABOUT)
        assert caught.value.detail == detail
    with pytest.raises(SecretsUnavailable):
        Vault().seal("s", ABOUT)


def test_a_vault_shows_no_key() -> None:
    assert "nnnn" not in repr(Vault([NEW]))
