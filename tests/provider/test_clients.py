"""Long-lived clients: few, reused, and never shared over a fork."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest

from app.provider.clients import CALLS_PER_CLIENT, MOST_CLIENTS, Clients


class Client:
    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


def test_a_client_is_made_when_it_is_needed_and_then_kept() -> None:
    clients = Clients(Client)
    assert len(clients) == 0

    with clients.one() as first:
        pass
    with clients.one() as second:
        pass

    assert first is second


def test_a_full_client_is_joined_by_another_and_both_are_filled() -> None:
    clients = Clients(Client)
    with ExitStack() as calls:
        used = [calls.enter_context(clients.one()) for _ in range(CALLS_PER_CLIENT + 1)]

    assert len(set(map(id, used))) == len(clients) == 2


def test_there_is_a_limit_to_clients_but_not_to_calls() -> None:
    clients = Clients(Client)
    with ExitStack() as calls:
        for _ in range(CALLS_PER_CLIENT * MOST_CLIENTS + 7):
            calls.enter_context(clients.one())

        assert len(clients) == MOST_CLIENTS


def test_a_client_that_cannot_be_made_leaves_nothing_behind() -> None:
    broken = [True]

    def make() -> Client:
        if broken:
            raise OSError("no")
        return Client()

    clients = Clients(make)
    with pytest.raises(OSError, match="no"), clients.one():
        pass
    broken.clear()

    with clients.one() as client:
        assert not client.closed


def test_closing_closes_every_client_and_a_later_call_makes_a_new_one() -> None:
    clients = Clients(Client)
    with clients.one() as first:
        clients.close()
    with clients.one() as second:
        pass

    assert first.closed
    assert second is not first


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12, with threads
def test_a_child_process_makes_its_own_clients() -> None:
    clients = Clients(Client)
    with clients.one() as parents:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            with clients.one() as childs:
                os.write(writing, b"same" if childs is parents else b"own")
            os._exit(0)
        os.close(writing)
        told = os.read(reading, 10)
        os.close(reading)
        os.waitpid(child, 0)

    assert told == b"own"
