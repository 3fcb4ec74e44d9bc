"""Bounded connections when they are encrypted, as they are outside of tests."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import closing

import httpcore2
import pytest
import trustme

from app.domain.jsontext import dumps
from app.provider.call import ATTENTION, Call, bounded_by
from app.provider.failures import DeadlinePassed, Unreachable
from app.provider.network import BoundedBackend
from app.provider.sdk import Client
from tests.fakes.strict_provider import Silence, StrictProvider, Trickle, text
from tests.provider.conftest import a_body, failure_of, within

HEADERS = [
    ("authorization", "Bearer key"),
    ("anthropic-version", "2026-10-21"),
    ("content-type", "application/json"),
]


@pytest.fixture
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def encrypted(authority: trustme.CA) -> Iterator[StrictProvider]:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(tls)
    with StrictProvider(tls=tls) as provider:
        yield provider


@pytest.fixture
def pool(authority: trustme.CA) -> Iterator[httpcore2.ConnectionPool]:
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with httpcore2.ConnectionPool(ssl_context=trusting, network_backend=BoundedBackend()) as pool:
        yield pool


def ask(pool: httpcore2.ConnectionPool, provider: StrictProvider, words: str, **more: bool) -> str:
    content = dumps(a_body(words, **more)).encode()
    headers = [*HEADERS, ("content-length", str(len(content)))]
    answer = pool.request("POST", f"{provider.url}/v1/messages", headers=headers, content=content)
    return answer.content.decode()


def test_a_large_request_and_a_slow_answer_get_through_on_one_connection(
    encrypted: StrictProvider, pool: httpcore2.ConnectionPool
) -> None:
    words = "word " * 400_000
    for _ in range(2):
        encrypted.reply(text("in the end"), delay=3 * ATTENTION)

    with bounded_by(Call(within(60))):
        answers = [ask(pool, encrypted, words) for _ in range(2)]

    assert all("in the end" in answer for answer in answers)
    assert [words in call.body.decode() for call in encrypted.calls] == [True, True]
    assert encrypted.connections == 1


@pytest.mark.parametrize("fault", [Silence(), Trickle(seconds=0.2)], ids=["silence", "a trickle"])
def test_the_deadline_holds(
    encrypted: StrictProvider, pool: httpcore2.ConnectionPool, fault: Silence | Trickle
) -> None:
    encrypted.fail(fault)

    with bounded_by(Call(within(1.5))), pytest.raises(DeadlinePassed):
        ask(pool, encrypted, "hi", stream=True)


def test_a_server_that_nobody_vouches_for_gets_no_request(encrypted: StrictProvider) -> None:
    with closing(Client("key", encrypted.url)) as client, bounded_by(Call(within(30))):
        failure = failure_of(lambda: client.stream(b"{}", None))

    assert isinstance(failure, Unreachable)
    assert encrypted.requests == []
