"""The broker and the database, stopped and started again while runs and tries come in.

What was accepted ends, and is paid for once; what was not leaves nothing behind.
"""

from __future__ import annotations

import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

from app.errors import DatabaseUnavailable
from app.services import runs, tries
from tests.celery_worker import started
from tests.factories import make_agent, make_session, until
from tests.fakes.strict_provider import Reply, StrictProvider, text
from tests.faults.conftest import BOTH, Stage, staged
from tests.faults.servers import Servers, servers
from tests.faults.web import Answer, Web, serving

pytestmark = pytest.mark.processes

CLIENTS = 4
ACCEPTED = 8  # at least, before and after
SWEEP_EVERY = 0.5  # seconds
SESSIONS = 30  # of each client
PAUSE = 0.2  # seconds, of a client behind each answer


@pytest.fixture(scope="module")
def own() -> Iterator[Servers]:
    with tempfile.TemporaryDirectory(prefix="hango-test-") as name:
        Path(name).chmod(0o711)
        with servers(Path(name)) as made:
            yield made


@pytest.fixture(scope="module")
def running(own: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Stage, Web]]:
    """A web server, a worker, and a provider that takes a moment for each answer."""
    folder = tmp_path_factory.mktemp("hango")
    with (
        StrictProvider() as strict,
        staged(own.settings, strict) as stage,
        serving(own.settings, folder) as web,
        started(own.settings, strict.url, folder, "runs,calls", HANGO_RUN_LEASE="10s"),
    ):
        strict.answer_by(lambda _body: Reply(blocks=[text("Here.")], delay=0.3))
        warm = stage.begin("tries", stage.session())
        until(lambda: stage.get(warm)["status"] == "succeeded", 60)
        yield stage, web


@dataclass
class Clients:
    """People who have one thing after the other accepted, each in a session of its own."""

    stage: Stage
    web: Web
    sessions: list[str]
    accepted: dict[str, tuple[str, str]] = field(default_factory=dict)  # path → session, words
    refused: list[Answer] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def work(self, number: int, sessions: Sequence[str]) -> None:
        """Ask, and ask again where that is refused, in other words each time."""
        kinds, turn = cycle(BOTH), count()
        for session, kind in zip(sessions, kinds, strict=False):
            while not self._is_accepted(kind, session, f"words {number}.{next(turn)}."):
                if self.stopping.wait(PAUSE):
                    return
            if self.stopping.wait(PAUSE):
                return

    def _is_accepted(self, kind: str, session: str, words: str) -> bool:
        route = "runs" if kind == "runs" else "context/try"
        path = f"/v1/sessions/{session}/{route}"
        answer = self.web.ask("POST", path, self.stage.alice.key, {"message": words})
        if answer.status == 202:
            self.accepted[f"/v1/{kind}/{answer.json['id']}"] = (session, words)
        else:
            self.refused.append(answer)
        return answer.status == 202

    def refusals(self, code: str) -> int:
        return sum(answer.json["code"] == code for answer in list(self.refused))


@contextmanager
def under_load(stage: Stage, web: Web) -> Iterator[Clients]:
    """Clients at work, and the sweeps that beat would start."""
    stage.strict.requests.clear()
    agent = make_agent(stage.alice)
    sessions = [make_session(stage.alice, agent) for _ in range(CLIENTS * SESSIONS)]
    clients = Clients(stage, web, sessions)
    threads = [
        threading.Thread(target=clients.work, args=(number, sessions[number::CLIENTS]))
        for number in range(CLIENTS)
    ]
    threads.append(threading.Thread(target=_sweep, args=(stage, clients.stopping)))
    for thread in threads:
        thread.start()
    try:
        yield clients
    finally:
        clients.stopping.set()
        for thread in threads:
            thread.join()


def _sweep(stage: Stage, stopping: threading.Event) -> None:
    while not stopping.wait(SWEEP_EVERY):
        for service in (runs, tries):
            with suppress(DatabaseUnavailable):
                service.sweep(stage.runtime)


def more(clients: Clients, number: int = ACCEPTED) -> None:
    """Until so many more were accepted."""
    before = len(clients.accepted)
    until(lambda: len(clients.accepted) >= before + number, 60)


def check(clients: Clients) -> None:
    """All that was accepted has ended well and was called for once; of the rest nothing is left."""
    stage = clients.stage
    for path in clients.accepted:
        assert stage.ended(path, 60)["status"] == "succeeded", stage.get(path)
        assert [outcome for outcome, _ in stage.calls(path)] == ["succeeded"]
    assert {answer.status for answer in clients.refused} == {503}
    left = "SELECT session_id::text FROM runs UNION ALL SELECT session_id::text FROM tries"
    of = Counter(session for session, _ in clients.accepted.values())
    assert Counter(row[0] for row in stage.ask(left) if row[0] in clients.sessions) == of
    asked = Counter(_last_words(each.json) for each in stage.strict.calls)
    assert asked == Counter(words for _, words in clients.accepted.values())


def _last_words(body: Any) -> str:
    return str(body["messages"][-1]["content"][-1]["text"])


def test_the_broker_restarts(running: tuple[Stage, Web], own: Servers) -> None:
    """D29: 503 while it is away, by a server and a worker that nobody starts again."""
    with under_load(*running) as clients:
        more(clients)
        own.valkey.stop()
        until(lambda: clients.refusals("broker_unavailable") >= CLIENTS)
        own.valkey.start()
        own.wait_until_ready()
        more(clients)
    check(clients)


def test_the_database_restarts(running: tuple[Stage, Web], own: Servers) -> None:
    """Calls that were under way are answered meanwhile; what they cost is written afterwards."""
    with under_load(*running) as clients:
        more(clients)
        own.postgres.stop()
        until(lambda: clients.refusals("database_unavailable") >= CLIENTS)
        own.postgres.start()
        own.wait_until_ready()
        more(clients)
    check(clients)
