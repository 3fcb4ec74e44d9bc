"""The published web server with more waiting clients than it has room for, and at its end."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from app.settings import Settings
from tests.factories import until
from tests.fakes.strict_provider import StrictProvider
from tests.faults.conftest import Stage, staged
from tests.faults.web import Web, serving

pytestmark = pytest.mark.processes

ROOM = 8  # for waits
AT_ONCE = 10  # seconds; far less than what they ask for, far more than a slow machine needs


@pytest.fixture
def stage(settings: Settings, clean_database: None, clean_redis: None) -> Iterator[Stage]:
    with StrictProvider() as strict, staged(settings, strict) as made:
        yield made


@pytest.fixture
def web(stage: Stage, tmp_path: Path) -> Iterator[Web]:
    with serving(stage.runtime.settings, tmp_path, HANGO_MAX_WAITS=str(ROOM)) as made:
        yield made


def test_more_waits_than_there_is_room_for_leave_the_server_free(stage: Stage, web: Web) -> None:
    """D43: who finds no room is told at once when to come back, and all else is answered."""
    key, path = stage.alice.key, stage.begin("tries", stage.session())
    with ThreadPoolExecutor(3 * ROOM) as pool:
        started = time.monotonic()
        waits = [pool.submit(web.ask, "GET", f"{path}?wait=60", key) for _ in range(3 * ROOM)]
        until(lambda: sum(each.done() for each in waits) == 2 * ROOM)
        sent_away = [each.result() for each in waits if each.done()]
        assert {each.headers["retry-after"] for each in sent_away} == {"1"}

        assert web.ask("GET", "/healthz").status == 200
        assert web.ask("GET", "/v1/sessions", key).status == 200
        assert time.monotonic() - started < AT_ONCE
        connected = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hango-web'"
        ((busy,),) = stage.ask(f"{connected} AND state <> 'idle'")
        assert busy == 0
        stage.alice.delete(path)
        statuses = {
            each.result().json["status"] for each in waits if each.result() not in sent_away
        }
    assert statuses == {"cancelled"}


def test_who_waits_or_follows_is_let_go_at_once_when_the_server_stops(
    stage: Stage, web: Web
) -> None:
    key, path = stage.alice.key, stage.begin("runs", stage.session())
    with (
        ThreadPoolExecutor(1) as pool,
        closing(HTTPConnection("127.0.0.1", web.port, timeout=60)) as following,
    ):
        following.request("GET", f"{path}/events", headers={"Authorization": f"Bearer {key}"})
        events = following.getresponse()
        assert events.readline() == b": following\n"
        wait = pool.submit(web.ask, "GET", f"{path}?wait=60", key)
        until(lambda: stage.runtime.redis.pubsub_numsub("hango:runs:ended")[0][1] == 1)

        started = time.monotonic()
        web.process.send_signal(signal.SIGTERM)

        assert b"done" not in events.read()
        let_go = wait.result()
        assert web.process.wait(60) == 0
        assert time.monotonic() - started < AT_ONCE
    assert (let_go.status, let_go.json["status"]) == (200, "queued")
    assert let_go.headers["retry-after"] == "1"
