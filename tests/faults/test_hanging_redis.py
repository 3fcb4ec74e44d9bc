"""A Redis that takes connections and answers nothing: news get lost, and nothing else."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from uuid import uuid4

import pytest

from app.events import Events
from app.runtime import redis_client
from app.settings import Secret, Settings

WORDS = 200


@pytest.fixture
def hanging(settings: Settings) -> Iterator[Events]:
    with closing(socket.create_server(("127.0.0.1", 0), backlog=64)) as listening:
        url = Secret(f"redis://127.0.0.1:{listening.getsockname()[1]}")
        with closing(redis_client(replace(settings, redis_url=url))) as client:
            yield Events(client)


def test_an_answer_is_not_slowed_down_word_by_word(hanging: Events) -> None:
    """Otherwise a call of two hundred words would take minutes, and run into its deadline."""
    run = uuid4()
    started = time.monotonic()

    for _ in range(WORDS):
        hanging.tell(run, "message.delta", {"turn": 1})
        assert not hanging.is_asked_to_cancel(run)
    hanging.ended(run, "succeeded")

    assert time.monotonic() - started < WORDS / 10
