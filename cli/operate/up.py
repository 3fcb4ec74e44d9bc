"""`hango up`: a whole hango on this machine, from its servers to a session to look at."""

from __future__ import annotations

import contextlib
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import click

from app.launch import Launch
from app.setting_checks import SECRET_KEY_BYTES
from app.settings import BadSettings, Secret, Settings
from app.store.transaction import Database
from cli import configuration
from cli.exits import Stop
from cli.http import Api, Problem
from cli.operate import children, connection, db, first_session
from cli.operate.admin import bootstrap
from cli.operate.children import Services
from cli.operate.connection import Connection
from cli.operate.embedded.failures import EmbeddedFailure
from cli.operate.embedded.ownership import OwnedProcess, Program
from cli.operate.embedded.postgres import Postgres
from cli.operate.embedded.state import held_state, secret
from cli.operate.embedded.valkey import Valkey
from cli.operate.listening import listen, url_of
from cli.operate.supervision import (
    Stopped,
    running,
    stopping_on_signals,
    wait_for_ever,
    wait_until,
)

_READY_WITHIN = 60.0  # seconds
_ANSWERS_WITHIN = 30.0
_STOP_WITHIN = 15.0
_KEY_NAME = "hango up"


@dataclass(frozen=True, slots=True)
class Running:
    """What was started, for the person in front of it."""

    data: Path
    connection: Connection
    key_is_new: bool
    session_id: str | None  # of the sample


@click.command()
def up() -> None:
    """Start a whole hango on this machine, and stop it with Ctrl-C.

    PostgreSQL and Valkey come with it unless HANGO_DATABASE_URL and HANGO_REDIS_URL name others.
    HANGO_DATA_DIR (default: .hango) keeps everything; HANGO_HOST and HANGO_PORT say where to
    listen.
    """
    try:
        launch = Launch.from_environment()
        with stopping_on_signals(), ExitStack() as stack:
            processes = _start(launch, stack)
            wait_for_ever(processes)
    except Stopped:
        click.echo("\nhango has stopped.", err=True)
    except (BadSettings, EmbeddedFailure) as failure:
        raise click.ClickException(str(failure)) from failure


def _start(launch: Launch, stack: ExitStack) -> list[OwnedProcess]:
    """Start everything; `stack` stops it, the last started first."""
    data = Path(launch.data_dir).absolute()
    describe = stack.enter_context(held_state(data))
    known = connection.read(data)
    listening = stack.enter_context(
        closing(listen(launch.host, launch.port, known.url if known else None))
    )
    url = url_of(listening)
    describe(f"hango at {url}")

    processes: list[OwnedProcess] = []
    services = _services(launch, data, stack, processes)
    with db.told_in_one_line():
        db.upgrade(services.admin_database_url, services.database_url)
    programs = _programs(data, services, listening)
    processes += stack.enter_context(running(programs, _STOP_WITHIN))
    api = _api(url)
    if not wait_until(lambda: _is_ready(api), processes, _READY_WITHIN):
        raise click.ClickException(f"hango is not ready after {_READY_WITHIN:.0f} s: {data}/logs")
    _tell(_furnish(data, services, url, known))
    return processes


def _services(
    launch: Launch, data: Path, stack: ExitStack, processes: list[OwnedProcess]
) -> Services:
    """The servers to use: the person's own, or embedded ones, which are started here."""
    database_url, admin_url = launch.database_url, launch.admin_database_url
    if not database_url:
        postgres = Postgres(data, binaries=Path(launch.pg_bin) if launch.pg_bin else None)
        processes.append(postgres.start())
        stack.callback(postgres.stop)
        urls = postgres.urls()
        database_url, admin_url = Secret(urls.app_url), Secret(urls.admin_url)
    redis_url = launch.redis_url
    if not redis_url:
        valkey = Valkey(data)
        processes.append(valkey.start())
        stack.callback(valkey.stop)
        redis_url = Secret(valkey.url)
    secret_key = "" if launch.secret_key else secret(data / "secret.key", SECRET_KEY_BYTES)
    return Services(database_url, admin_url or database_url, redis_url, secret_key)


def _programs(data: Path, services: Services, listening: socket.socket) -> Iterator[Program]:
    yield children.web(data, services, listening.fileno())
    yield from children.workers(data, services)
    yield children.beat(data, services)


def _furnish(data: Path, services: Services, url: str, known: Connection | None) -> Running:
    """See to it that there is a good key in connection.json, and something to look at."""
    key = known.key if known and _is_good(_api(url, known.key)) else None
    found = Connection(url, key or _new_key(services))
    connection.write(data, found)
    session_id = None
    try:
        session_id = first_session.ensure(_api(url, found.key), data)
    except Stop as stop:
        click.echo(f"The sample session could not be imported: {stop.line}", err=True)
    return Running(data, found, key is None, session_id)


def _new_key(services: Services) -> str:
    settings = Settings(
        database_url=Secret(services.database_url), redis_url=Secret(services.redis_url)
    )
    database = Database(settings, application_name="hango-up")
    try:
        return bootstrap(database, _KEY_NAME).key
    finally:
        database.dispose()


def _is_ready(api: Api) -> bool:
    with contextlib.suppress(Stop):
        api.get("healthz")
        api.get("readyz")
        return True
    return False


def _is_good(api: Api) -> bool:
    try:
        api.get("v1", "me")
    except Problem:
        return False
    return True


def _api(url: str, key: str = "") -> Api:
    return Api(configuration.parse(url, "hango up", key), _ANSWERS_WITHIN)


def _tell(made: Running) -> None:
    url, key = made.connection.url, made.connection.key
    file = made.data / connection.FILE
    click.echo(f"hango is running at {url}  (API: {url}/docs)\n")
    click.echo(f"  page  {url}/admin/  (sign in with the key)")
    click.echo(f"  key   {key}" if made.key_is_new else f"  key   in {file}")
    click.echo(f"  data  {made.data}\n")
    if made.session_id:
        click.echo("What would the next model call of the sample session send? In another shell:\n")
        click.echo(f"  {_hango(made.data)} context show --session {made.session_id}\n")
    click.echo("Ctrl-C stops everything.")


def _hango(data: Path) -> str:
    """How to call the CLI from another shell, wherever that one stands."""
    script = Path(sys.executable).with_name("hango")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "cli"]
    return f"HANGO_DATA_DIR={shlex.quote(str(data))} {shlex.join(command)}"
