"""The one client for servers outside, against real ones on loopback."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import trustme

from app.errors import AddressRefused, OutsideFailed, OutsideTooSlow
from app.tools.addresses import NOT_PUBLIC, NOT_SECURE, Reach
from app.tools.client import Incoming, Outgoing, OutsideClient
from app.tools.exchange import UNREACHABLE
from app.tools.lookup import MOST_AT_ONCE
from tests.factories import until
from tests.fakes.outside import Outside, outside

LOOPBACK = Reach.of("127.0.0.1, ::1")


@pytest.fixture
def server() -> Iterator[Outside]:
    with outside() as running:
        yield running


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Outside]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("good.example").configure_cert(context)
    with outside(context) as running:
        yield running


class Names:
    """A resolver whose answers are told, one look-up after the other."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not answer:
            raise OSError("no such host")
        return answer


def call(client: OutsideClient, url: str, **more: Any) -> Incoming:
    asked = {"method": "GET", "seconds": 5.0, "max_bytes": 100_000, **more}
    return client.send(Outgoing(url=url, **asked))


def test_what_is_sent_and_what_comes_back(server: Outside) -> None:
    answer = call(
        OutsideClient(LOOPBACK),
        server.url("/echo?a=1"),
        method="POST",
        headers={"Authorization": "Bearer x", "Content-Type": "application/json"},
        content=b'{"q":1}',
    )

    assert (answer.status, answer.content_type, answer.is_cut) == (200, "application/json", False)
    (request,) = server.received
    assert (request.method, request.path, request.json) == ("POST", "/echo?a=1", {"q": 1})
    assert request.headers == {
        "host": f"127.0.0.1:{server.port}",
        "user-agent": "hango",
        "authorization": "Bearer x",
        "content-type": "application/json",
        "content-length": "7",
        "accept-encoding": "identity",
    }


def test_a_private_address_is_not_even_connected_to() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(0.2)
        client = OutsideClient(Reach(), look_up=Names(["127.0.0.1"]))

        with pytest.raises(AddressRefused, match="address_refused") as caught:
            call(client, "https://evil.example/")
        assert caught.value.detail == NOT_PUBLIC
        with pytest.raises(TimeoutError):
            listening.accept()


@pytest.mark.parametrize(
    "found",
    [["10.0.0.1"], ["::ffff:127.0.0.1"], ["64:ff9b::7f00:1"], ["8.8.8.8", "169.254.169.254"],
     ["2606:4700:4700::1111", "fd00::1"]],
)  # fmt: skip
def test_a_name_is_judged_by_all_its_addresses(found: list[str]) -> None:
    with pytest.raises(AddressRefused):
        call(OutsideClient(Reach(), look_up=Names(found)), "https://evil.example/")


def test_a_name_that_changes_gains_nothing(server: Outside) -> None:
    """What was checked is what is connected to; the second answer is never asked for."""
    names = Names(["127.0.0.1"], ["10.0.0.1"])
    client = OutsideClient(Reach.of("127.0.0.1"), look_up=names)

    answer = call(client, server.url(host="rebinding.example"))

    assert answer.status == 200
    assert server.received[0].headers["host"] == f"rebinding.example:{server.port}"
    assert names.asked == ["rebinding.example"]


def test_a_host_with_a_dead_address_is_reached_at_its_other(server: Outside) -> None:
    client = OutsideClient(LOOPBACK, look_up=Names(["::1", "127.0.0.1"]))

    assert call(client, server.url(host="two.example")).status == 200


def test_a_redirect_is_not_followed(server: Outside) -> None:
    answer = call(OutsideClient(LOOPBACK), server.url(f"/redirect?to={server.url('/echo')}"))

    assert answer.status == 307
    assert len(server.received) == 1


def test_proxies_of_the_environment_are_ignored(
    server: Outside, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    assert call(OutsideClient(LOOPBACK), server.url()).status == 200


@pytest.mark.parametrize("path", ["/silent", "/trickle", "/slow-head"])
def test_no_way_of_being_slow_outlasts_the_deadline(server: Outside, path: str) -> None:
    began = time.monotonic()

    with pytest.raises(OutsideTooSlow):
        call(OutsideClient(LOOPBACK), server.url(path), seconds=0.5)

    assert time.monotonic() - began < 10


def test_a_server_that_does_not_read_does_not_outlast_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"

        with pytest.raises(OutsideTooSlow):
            call(OutsideClient(LOOPBACK), url, content=b"x" * 50_000_000, seconds=0.5)


def test_a_resolver_that_hangs_does_not_outlast_it() -> None:
    release = threading.Event()

    def hanging(host: str) -> Sequence[str]:
        release.wait()
        return []

    client = OutsideClient(LOOPBACK, look_up=hanging)
    try:
        with pytest.raises(OutsideTooSlow):
            call(client, "https://slow.example/", seconds=0.2)
    finally:
        release.set()


def test_resolvers_that_hang_are_not_piled_up() -> None:
    release = threading.Event()
    asked: list[str] = []

    def hanging(host: str) -> Sequence[str]:
        asked.append(host)
        release.wait()
        return []

    client = OutsideClient(LOOPBACK, look_up=hanging)
    outcomes = []
    try:
        for _ in range(MOST_AT_ONCE + 1):
            with pytest.raises(OutsideFailed) as caught:
                call(client, "https://slow.example/", seconds=0.01)
            outcomes.append(caught.value.code)
    finally:
        release.set()
        until(lambda: not any(each.name == "look-up" for each in threading.enumerate()))

    assert outcomes[-1] == "outside_failed"
    assert len(asked) <= MOST_AT_ONCE


def test_an_endless_answer_is_cut(server: Outside) -> None:
    answer = call(OutsideClient(LOOPBACK), server.url("/endless"), max_bytes=1000)

    assert answer.is_cut
    assert answer.body == b"x" * 1000


@pytest.mark.parametrize(("size", "is_cut"), [(999, False), (1000, False), (1001, True)])
def test_what_just_fits_is_whole(server: Outside, size: int, is_cut: bool) -> None:
    server.answer = (200, "text/plain", b"x" * size)

    answer = call(OutsideClient(LOOPBACK), server.url("/answer"), max_bytes=1000)

    assert (len(answer.body), answer.is_cut) == (min(size, 1000), is_cut)


def test_compressed_answers_are_refused(server: Outside) -> None:
    with pytest.raises(OutsideFailed, match="outside_failed"):
        call(OutsideClient(LOOPBACK), server.url("/gzip"))


@pytest.mark.parametrize("path", ["/garbage", "/hang-up", "/half"])
def test_answers_that_are_none(server: Outside, path: str) -> None:
    with pytest.raises(OutsideFailed) as caught:
        call(OutsideClient(LOOPBACK), server.url(path))

    assert caught.value.detail == UNREACHABLE
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_closed_port_is_not_told_from_one_that_speaks_otherwise() -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]

    with pytest.raises(OutsideFailed) as caught:
        call(OutsideClient(LOOPBACK), f"http://127.0.0.1:{port}/")

    assert caught.value.detail == UNREACHABLE


def test_headers_cannot_carry_a_second_request(server: Outside) -> None:
    with pytest.raises(OutsideFailed):
        call(OutsideClient(LOOPBACK), server.url(), headers={"x": "a\r\nInjected: yes"})

    assert server.received == []


class TestTls:
    def client(self, authority: trustme.CA | None) -> OutsideClient:
        trusted = None
        if authority:
            trusted = ssl.create_default_context()
            authority.configure_trust(trusted)
        names = Names(["127.0.0.1"])
        return OutsideClient(LOOPBACK, look_up=names, authorities=trusted)

    def test_the_certificate_is_for_the_name_and_not_the_address(
        self, secure: Outside, authority: trustme.CA
    ) -> None:
        answer = call(self.client(authority), secure.url(host="good.example"))

        assert answer.status == 200

    def test_a_certificate_for_another_name_is_refused(
        self, secure: Outside, authority: trustme.CA
    ) -> None:
        with pytest.raises(OutsideFailed):
            call(self.client(authority), secure.url(host="other.example"))

        assert secure.received == []

    def test_an_unknown_authority_is_refused(self, secure: Outside) -> None:
        with pytest.raises(OutsideFailed):
            call(self.client(None), secure.url(host="good.example"))

        assert secure.received == []

    def test_plain_http_needs_to_be_allowed(self, server: Outside) -> None:
        client = OutsideClient(Reach(), look_up=Names(["8.8.8.8"]))

        with pytest.raises(AddressRefused) as caught:
            call(client, "http://good.example/")

        assert caught.value.detail == NOT_SECURE


def test_secrets_are_in_no_repr() -> None:
    asked = Outgoing(
        method="GET",
        url="https://h.example/?key=CANARY",
        headers={"Authorization": "CANARY"},
        content=b"CANARY",
        seconds=1,
        max_bytes=1,
    )

    assert "CANARY" not in repr(asked)
    assert "CANARY" not in repr(Incoming(200, "text/plain", b"CANARY", is_cut=False))
