"""A request that is sent again gets the first answer, and does nothing."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from app.domain.idempotency import Attempt, FirstAnswer
from app.errors import IdempotencyMismatch, IdempotencyRunning
from app.store.transaction import Database
from tests.store.rows import SHA

ATTEMPT = Attempt(method="POST", route="/v1/sessions", key="once", fingerprint=SHA)
ANSWER = FirstAnswer(status=201, location="/v1/sessions/7", resource={"id": "7"})


def answer(database, principal, attempt=ATTEMPT):
    with database.transaction(principal) as tx:
        assert tx.idempotency.begin(attempt) is None
        tx.idempotency.finish(attempt, ANSWER)


def test_the_second_request_gets_the_first_answer(database, people):
    answer(database, people.alice)

    with database.transaction(people.alice) as tx:
        assert tx.idempotency.begin(ATTEMPT) == ANSWER


def test_another_body_is_refused(database, people):
    answer(database, people.alice)

    other = replace(ATTEMPT, fingerprint="1" * 64)
    with database.transaction(people.alice) as tx, pytest.raises(IdempotencyMismatch):
        tx.idempotency.begin(other)


@pytest.mark.committed
def test_while_the_first_runs_the_second_is_told_so_at_once(database, people):
    with database.transaction(people.alice) as first:
        first.idempotency.begin(ATTEMPT)
        with database.transaction(people.alice) as second, pytest.raises(IdempotencyRunning):
            second.idempotency.begin(ATTEMPT)
        with database.transaction(people.bob) as another:
            assert another.idempotency.begin(ATTEMPT) is None


def test_a_request_that_failed_leaves_its_key_free(database, people):
    with suppress(ZeroDivisionError), database.transaction(people.alice) as tx:
        tx.idempotency.begin(ATTEMPT)
        tx.idempotency.finish(ATTEMPT, ANSWER)
        raise ZeroDivisionError

    with database.transaction(people.alice) as tx:
        assert tx.idempotency.begin(ATTEMPT) is None


@pytest.mark.parametrize(
    "other",
    [
        replace(ATTEMPT, key="twice"),
        replace(ATTEMPT, route="/v1/agents"),
        replace(ATTEMPT, method="PUT"),
    ],
)
def test_keys_of_other_requests_are_apart(database, people, other):
    answer(database, people.alice)

    with database.transaction(people.alice) as tx:
        assert tx.idempotency.begin(other) is None


def test_an_expired_key_is_free_and_swept(settings, database, people):
    forgetful = Database(replace(settings, idempotency_retention=timedelta(0)))
    answer(forgetful, people.alice)
    answer(forgetful, people.alice)
    answer(database, people.bob)

    with database.system() as tx:
        assert tx.idempotency.purge() == 1
    with database.transaction(people.bob) as tx:
        assert tx.idempotency.begin(ATTEMPT) == ANSWER
    forgetful.dispose()
