"""Real servers for the tests that need them, started at the first use and gone at the end.

Every worker of pytest-xdist has its own PostgreSQL and Valkey, or, when HANGO_TEST_DATABASE_URL
(a superuser's) and HANGO_TEST_REDIS_URL name servers, its own databases on those.
"""

from __future__ import annotations

import ipaddress
import os
import re
import secrets
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg2
import pytest
from psycopg2 import sql
from sqlalchemy.engine import URL, make_url

from cli.operate import db
from cli.operate.embedded.postgres import APP_ROLE, Postgres, PostgresUrls
from cli.operate.embedded.valkey import Valkey

if TYPE_CHECKING:
    from flask import Flask

    from app.runtime import Runtime
    from app.settings import Settings
    from app.store.transaction import Database

_FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


@dataclass
class Cluster:
    """A PostgreSQL server, and the databases that this test run made on it."""

    urls: Callable[[str], PostgresUrls]  # of a database, by its name
    maintenance: str  # a superuser's, on a database that nobody uses
    prefix: str
    role: str = ""  # made for this run
    _template: str = field(default="", init=False)

    def create(self, *, migrated: bool = True) -> PostgresUrls:
        """A new database, with the schema of the newest migration or with nothing in it."""
        if not migrated:
            return self.urls(self._create())
        if not self._template:
            self._template = self._create()
            urls = self.urls(self._template)
            db.upgrade(urls.admin_url, urls.app_url)
        return self.urls(self._create(self._template))

    def drop_all(self) -> None:
        """Remove every database that was made here, and the role."""
        with self._maintaining() as cursor:
            cursor.execute("SELECT datname FROM pg_database")
            for (name,) in cursor.fetchall():
                if name.startswith(self.prefix):
                    drop = sql.SQL("DROP DATABASE {} WITH (FORCE)")
                    cursor.execute(drop.format(sql.Identifier(name)))
            if self.role:
                cursor.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(self.role)))

    def _create(self, template: str = "template1") -> str:
        name = f"{self.prefix}{secrets.token_hex(4)}"
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
        with self._maintaining() as cursor:
            cursor.execute(create.format(sql.Identifier(name), sql.Identifier(template)))
        return name

    @contextmanager
    def _maintaining(self) -> Iterator[Any]:
        with closing(psycopg2.connect(self.maintenance)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                yield cursor


@pytest.fixture(scope="session")
def state_folder() -> Iterator[Path]:
    """Where this worker's servers keep their data; PostgreSQL's account may pass through it."""
    with tempfile.TemporaryDirectory(prefix="hango-test-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        yield folder


@pytest.fixture(scope="session")
def cluster(state_folder: Path) -> Iterator[Cluster]:
    """A PostgreSQL server; `cluster.create(migrated=False)` gives an empty database."""
    with ExitStack() as stack:
        if outside := os.environ.get("HANGO_TEST_DATABASE_URL"):  # noqa: TID251 (test set-up)
            made = _outside(make_url(outside))
            stack.callback(made.drop_all)
        else:
            server = Postgres(state_folder, options=_FAST)
            server.start()
            stack.callback(server.stop)
            made = Cluster(server.urls, server.urls("postgres").admin_url, "hango_test_")
        yield made


@pytest.fixture(scope="session")
def postgres_urls(cluster: Cluster) -> PostgresUrls:
    """The migrated database of this worker: `.admin_url` (superuser) and `.app_url`."""
    return cluster.create()


@pytest.fixture(scope="session")
def redis_url(state_folder: Path) -> Iterator[str]:
    """A Redis of this worker's own, empty at the start of the run."""
    if outside := os.environ.get("HANGO_TEST_REDIS_URL"):  # noqa: TID251 (test set-up)
        yield _numbered(outside)
        return
    server = Valkey(state_folder)
    server.start()
    yield server.url
    server.stop()


@pytest.fixture(scope="session")
def settings(postgres_urls: PostgresUrls, redis_url: str) -> Settings:
    """What a hango process in these tests is told."""
    from app.settings import Secret, Settings  # noqa: PLC0415 (the unit tests need no server part)

    return Settings(
        database_url=Secret(postgres_urls.app_url),
        admin_database_url=Secret(postgres_urls.admin_url),
        redis_url=Secret(redis_url),
    )


@pytest.fixture(scope="session")
def _broom(postgres_urls: PostgresUrls) -> Iterator[Broom]:
    broom = Broom(postgres_urls.admin_url)
    yield broom
    broom.close()


@pytest.fixture
def clean_database(_broom: Broom) -> None:
    """No row of any earlier test is left; asked for by everything that writes."""
    _broom.sweep()


@pytest.fixture
def clean_redis(redis_url: str) -> None:
    """No key of any earlier test is left."""
    import redis  # noqa: PLC0415 (the unit tests need no server part)

    with redis.Redis.from_url(redis_url) as client:
        client.flushdb()


@pytest.fixture
def database(settings: Settings, clean_database: None) -> Iterator[Database]:
    """The store, connected as the role that serves requests, with every table empty."""
    from app.store.transaction import Database  # noqa: PLC0415 (the unit tests need no server part)

    opened = Database(settings)
    yield opened
    opened.dispose()


@dataclass(frozen=True)
class Process:
    """The parts of a web process, and its application."""

    runtime: Runtime
    app: Flask


@pytest.fixture(scope="session")
def process(settings: Settings) -> Iterator[Process]:
    """A web process made once for all tests: making it takes longer than most of them.

    Without a rate limit, since tests ask more often than people do. A test that changes the
    application, or what it is made of, makes one of its own.
    """
    with web_process(settings) as made:
        yield made


@contextmanager
def web_process(settings: Settings) -> Iterator[Process]:
    """Another one, with other settings."""
    from app.runtime import build_runtime  # noqa: PLC0415 (the unit tests need no server part)
    from app.web import create_app  # noqa: PLC0415

    made = build_runtime(replace(settings, rate_limit_per_minute=0, max_streams=2))
    yield Process(made, create_app(made))
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@pytest.fixture
def runtime(process: Process, clean_database: None, clean_redis: None) -> Runtime:
    """A process's parts, on servers without any row or key."""
    return process.runtime


@pytest.fixture
def app(runtime: Runtime, process: Process) -> Flask:
    """The application of `runtime`."""
    from app.telemetry import logs  # noqa: PLC0415
    from app.web import create_app  # noqa: PLC0415

    logs.configure("INFO")
    return process.app if runtime is process.runtime else create_app(runtime)


class Broom:
    """Empties the tables of one database, over one connection.

    Most tables are empty after most tests: to ask and DELETE is far faster than TRUNCATE of all. As
    a replica, PostgreSQL fires no trigger, so that the append-only audit gives way here.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection: Any = None

    def sweep(self) -> None:
        """Remove every row. Connects anew where a test has cut connections."""
        try:
            self._sweep()
        except psycopg2.OperationalError:
            self.close()
            self._sweep()

    def close(self) -> None:
        """Let go of the connection; the next use makes another one."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _sweep(self) -> None:
        if self._connection is None:
            self._connection = psycopg2.connect(self._url)
            with self._connection.cursor() as cursor:
                cursor.execute(_TABLES)
                (asked,) = cursor.fetchone()
                cursor.execute(f"PREPARE filled AS {asked}")
        with self._connection.cursor() as cursor:
            cursor.execute("EXECUTE filled")
            if filled := [name for (name,) in cursor.fetchall()]:
                deleted = "".join(f"DELETE FROM {name};" for name in filled)
                cursor.execute(f"SET LOCAL session_replication_role = replica; {deleted}")
        self._connection.commit()


# A query that names each table which has a row.
_TABLES = """
SELECT string_agg(format('SELECT %L WHERE EXISTS (SELECT FROM %s)', oid::regclass, oid::regclass),
                  ' UNION ALL ')
  FROM pg_class
 WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'alembic_version'
"""


class NotThisMachine(OSError):
    """No test leaves this machine."""


@pytest.fixture(scope="session", autouse=True)
def _only_this_machine() -> Iterator[None]:
    """Refuse every connection that would leave the machine."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, _local_only(getattr(socket.socket, name)))
        yield


def _local_only(original: Callable[..., Any]) -> Callable[..., Any]:
    def guarded(self: socket.socket, address: Any) -> Any:
        if self.family != socket.AF_UNIX and not _is_loopback(str(address[0])):
            raise NotThisMachine(f"A test tried to reach {address[0]}")
        return original(self, address)

    return guarded


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _outside(url: URL) -> Cluster:
    """A server that was there before: its own app role, and databases of this run alone."""
    password = secrets.token_urlsafe(12)
    with closing(psycopg2.connect(_text(url))) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [APP_ROLE])
            if cursor.fetchone() is None:
                cursor.execute(f"CREATE ROLE {APP_ROLE} NOLOGIN")
            role = f"{APP_ROLE}_{secrets.token_hex(4)}"
            cursor.execute(f"CREATE ROLE {role} LOGIN IN ROLE {APP_ROLE} PASSWORD '{password}'")

    def urls(database: str) -> PostgresUrls:
        admin = url.set(database=database)
        return PostgresUrls(_text(admin), _text(admin.set(username=role, password=password)))

    return Cluster(urls, _text(url), f"hango_test_{secrets.token_hex(4)}_", role)


def _text(url: URL) -> str:
    return url.set(drivername="postgresql").render_as_string(hide_password=False)


def _numbered(url: str) -> str:
    """The same Redis, with the database number of this xdist worker (main: 0, gw0: 1 …)."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")  # noqa: TID251 (set by xdist)
    number = int(found[0]) + 1 if (found := re.findall(r"\d+", worker)) else 0
    parts = make_url(url)
    if parts.drivername == "unix":
        return f"{url.partition('?')[0]}?db={number}"
    return parts.set(database=str(number)).render_as_string(hide_password=False)
