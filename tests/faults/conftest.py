"""Runs and tries side by side, carried out by a worker process that lives through a module."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from app.domain.jobs import Job
from app.runtime import Runtime, build_runtime
from app.services import runs as runs_service
from app.services import tries as tries_service
from app.settings import Secret, Settings
from app.web import create_app
from tests.celery_worker import started
from tests.conftest import Cluster
from tests.factories import Caller, make_caller, make_session, make_tenant, until
from tests.fakes.strict_provider import StrictProvider
from tests.history import user

BOTH = ["runs", "tries"]  # what the API calls them
JOB_OF = {"runs": Job.EXECUTE_RUN, "tries": Job.EXECUTE_TRY}
_UNHEARD = 15  # the number of a Redis database that no worker listens to
FINAL = ("succeeded", "failed", "timed_out", "cancelled")
SPANS = {"HANGO_RUN_LEASE": "1s", "HANGO_CONTEXT_TRY_TIMEOUT": "30s"}


@dataclass
class Stage:
    """One hango with a worker, and a person who uses it."""

    alice: Caller
    runtime: Runtime
    strict: StrictProvider
    deaf: Runtime  # the same, but no worker hears of what is accepted
    unheard: Caller  # alice, by that one

    def session(self) -> str:
        return make_session(self.alice, None, user("hi"))

    def begin(self, kind: str, session: str, words: str = "hello") -> str:
        """Have something accepted; its path."""
        return _accepted(self.alice, kind, session, words)

    def begin_unheard(self, kind: str, session: str) -> str:
        """The same, but no worker is told: see `tell`."""
        return _accepted(self.unheard, kind, session, "hello")

    def tell(self, path: str) -> None:
        """Send the job of what was accepted, once more if need be."""
        self.runtime.queue.send(JOB_OF[kind_of(path)], id_of(path))

    def get(self, path: str) -> Any:
        return self.alice.get(path).json

    def swept(self, path: str, by: Runtime | None = None) -> Any:
        """What became of it, once the sweeps have been there."""
        runs_service.sweep(by or self.runtime)
        tries_service.sweep(by or self.runtime)
        return self.get(path)

    def ended(self, path: str, seconds: float = 30) -> Any:
        """As it is when it has ended, with the help of the sweeps."""
        until(lambda: self.swept(path)["status"] in FINAL, seconds)
        return self.get(path)

    def messages(self, session: str) -> int:
        return len(self.get(f"/v1/sessions/{session}/messages")["items"])

    def calls(self, path: str) -> list[tuple[str, int | None]]:
        """What is on record of its calls: how each ended, and the tokens of its input."""
        column = "run_id" if kind_of(path) == "runs" else "try_id"
        rows = self.ask(
            "SELECT outcome, input_tokens FROM usage_records"
            f" WHERE {column} = %s ORDER BY created_at",
            id_of(path),
        )
        return [(outcome, tokens) for outcome, tokens in rows]

    def ask(self, sql: str, *values: Any) -> list[Any]:
        """Rows, as the owner of the tables sees them."""
        with database_of(self.runtime.settings) as cursor:
            cursor.execute(sql, values)
            return list(cursor.fetchall())


def kind_of(path: str) -> str:
    return path.split("/")[2]


def id_of(path: str) -> str:
    return path.split("/")[3]


def _accepted(caller: Caller, kind: str, session: str, words: str) -> str:
    route = "runs" if kind == "runs" else "context/try"
    reply = caller.post(f"/v1/sessions/{session}/{route}", json={"message": words})
    assert reply.status_code == 202, reply.text
    return f"/v1/{kind}/{reply.json['id']}"


@contextmanager
def database_of(settings: Settings) -> Iterator[Any]:
    """A cursor in a transaction of its own, which is given up at the end."""
    connection = psycopg2.connect(settings.admin_database_url)
    try:
        yield connection.cursor()
    finally:
        connection.close()


@contextmanager
def staged(settings: Settings, strict: StrictProvider) -> Iterator[Stage]:
    """A stage on these servers, still without a worker."""
    with ExitStack() as stack:
        runtime = _runtime(replace(settings, rate_limit_per_minute=0), stack)
        elsewhere = Secret(_other_database(settings.redis_url))
        deaf = _runtime(replace(runtime.settings, redis_url=elsewhere), stack)
        tenant = make_tenant(runtime.database)
        alice = make_caller(runtime.database, create_app(runtime).test_client(), tenant, "alice")
        unheard = replace(alice, client=create_app(deaf).test_client())
        yield Stage(alice, runtime, strict, deaf, unheard)


def _runtime(settings: Settings, stack: ExitStack) -> Runtime:
    runtime = build_runtime(settings)
    for end in (runtime.database.dispose, runtime.redis.close, runtime.queue.close):
        stack.callback(end)
    return runtime


def _other_database(redis_url: str) -> str:
    """Of the same Redis: one that no worker listens to."""
    base, _, _ = redis_url.partition("?")
    return f"{base}?db={_UNHEARD}"


@pytest.fixture(scope="module")
def own_settings(settings: Settings, cluster: Cluster) -> Settings:
    """A database for one module, since its worker outlives each single test."""
    urls = cluster.create()
    return replace(
        settings,
        database_url=Secret(urls.app_url),
        admin_database_url=Secret(urls.admin_url),
    )


@pytest.fixture(scope="module")
def strict_server() -> Iterator[StrictProvider]:
    with StrictProvider() as provider:
        yield provider


@pytest.fixture(scope="module")
def pool() -> str:
    """Of the worker; a module may choose another."""
    return "prefork"


@pytest.fixture(scope="module")
def working(own_settings: Settings, strict_server: StrictProvider, pool: str) -> Iterator[Stage]:
    """The stage of a module; its worker is there when something was answered."""
    with (
        tempfile.TemporaryDirectory(prefix="hango-test-") as folder,
        staged(own_settings, strict_server) as stage,
        started(own_settings, strict_server.url, Path(folder), "runs,calls", pool=pool, **SPANS),
    ):
        warm = stage.begin("tries", stage.session())
        until(lambda: stage.get(warm)["status"] == "succeeded", 60)
        yield stage


@pytest.fixture
def stage(working: Stage) -> Iterator[Stage]:
    """The stage of one test, with nothing left of those before it."""
    working.strict.reset()
    yield working
    working.strict.reset()
