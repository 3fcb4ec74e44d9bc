"""PostgreSQL and Valkey of a test's own, which it may stop and start again at the same address."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg2
import redis

from app.settings import Secret, Settings
from cli.operate import db
from cli.operate.embedded.ownership import OwnedProcess
from cli.operate.embedded.postgres import Postgres
from cli.operate.embedded.valkey import Valkey
from tests.factories import until

STOP_WITHIN = 20.0  # seconds


@dataclass
class Server:
    """A running server; its data and its socket stay when it stops."""

    process: OwnedProcess

    def stop(self) -> None:
        self.process.stop(STOP_WITHIN)

    def start(self) -> None:
        self.process = OwnedProcess(self.process.program)


@dataclass
class Servers:
    """Both of them, and a hango's settings for them."""

    postgres: Server
    valkey: Server
    settings: Settings

    def wait_until_ready(self) -> None:
        until(self._answer)

    def _answer(self) -> bool:
        with suppress(psycopg2.OperationalError, redis.ConnectionError):
            with closing(psycopg2.connect(self.settings.admin_database_url)):
                pass
            with redis.Redis.from_url(self.settings.redis_url) as client:
                return bool(client.ping())
        return False


@contextmanager
def servers(folder: Path) -> Iterator[Servers]:
    """Both, with the newest schema."""
    with ExitStack() as stack:
        postgres, valkey = Postgres(folder, options={"fsync": "off"}), Valkey(folder)
        running = [Server(postgres.start()), Server(valkey.start())]
        for each in (postgres, valkey):
            stack.callback(each.stop)
        urls = postgres.urls()
        db.upgrade(urls.admin_url, urls.app_url)
        settings = Settings(
            database_url=Secret(urls.app_url),
            admin_database_url=Secret(urls.admin_url),
            redis_url=Secret(valkey.url),
            rate_limit_per_minute=0,
        )
        yield Servers(*running, settings)
        for server in running:
            server.stop()
