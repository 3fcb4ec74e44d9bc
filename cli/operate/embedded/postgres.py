"""One PostgreSQL on a unix socket, with its data in the state folder."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from urllib.parse import quote

from cli.operate.embedded.account import hand_over, owner_of, unprivileged_account
from cli.operate.embedded.binaries import ROOT_FOLDER, postgres_programs
from cli.operate.embedded.failures import EmbeddedFailure
from cli.operate.embedded.ownership import OwnedProcess, Program, switched_to
from cli.operate.embedded.sockets import socket_folder
from cli.operate.embedded.state import data_folder, secret

OWNER_ROLE = "hango"
APP_ROLE = "hango_app"
DATABASE = "hango"

_PORT = 5432  # names the socket; given everywhere, so that a PGPORT of the person does no harm
_START_WITHIN = 60.0  # seconds; replaying the log after a crash takes its time
_STOP_WITHIN = 20.0
_PROBE_EVERY = 0.02
_NO_CONTENT_IN_LOGS = {"log_min_error_statement": "panic", "log_error_verbosity": "terse"}
_ENVIRONMENT = {"LC_ALL": "C"}  # nothing of the person's own PG* variables

# Runs at each start: what an interrupted first start left out is made up for.
_PREPARE = """
SELECT 'CREATE ROLE {app} LOGIN' WHERE to_regrole('{app}') IS NULL \\gexec
ALTER ROLE {app} LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD '{password}';
SELECT 'CREATE DATABASE {database}'
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '{database}') \\gexec
"""


@dataclass(frozen=True, slots=True)
class PostgresUrls:
    """One database, seen by its owner (migrations) and by the role that serves requests."""

    admin_url: str
    app_url: str


class Postgres:
    """The server of one state folder; the caller holds the folder's lock.

    `options` are server settings (postgresql.conf), for instance `{"fsync": "off"}` in tests.
    """

    def __init__(
        self,
        state: Path,
        *,
        binaries: Path | None = None,
        options: Mapping[str, str] | None = None,
        root_folder: Path = ROOT_FOLDER,
    ) -> None:
        self._state = state
        self._options = {**_NO_CONTENT_IN_LOGS, **(options or {})}
        # Data that is there already stays with its owner, also when a candidate appears later.
        self._account = owner_of(state / "postgres") or unprivileged_account()
        self._programs = postgres_programs(binaries, self._account, root_folder)
        self._data = data_folder(state, "postgres", self._account, root_folder)
        self._stack = ExitStack()
        self._sockets = Path()

    def start(self) -> OwnedProcess:
        """Start it and wait until it answers; the first time, make the cluster.

        Raises:
            EmbeddedFailure: it cannot run here, or did not answer in time.
        """
        self._owner_password = self._known_password()
        self._app_password = secret(self._state / "postgres-app.password")
        with ExitStack() as stack:
            self._sockets = stack.enter_context(socket_folder(self._account))
            self._make_cluster()
            process = OwnedProcess(self._program())
            stack.callback(process.stop, _STOP_WITHIN)
            self._wait_for(process)
            self._prepare_roles()
            self._stack = stack.pop_all()
        return process

    def stop(self) -> None:
        """End all connections, write everything down, stop."""
        self._stack.close()

    def urls(self, database: str = DATABASE) -> PostgresUrls:
        """The database's addresses, in the form that SQLAlchemy and libpq both take."""
        return PostgresUrls(
            self._url(OWNER_ROLE, self._owner_password, database),
            self._url(APP_ROLE, self._app_password, database),
        )

    def _url(self, role: str, password: str, database: str) -> str:
        host = quote(str(self._sockets), safe="/")
        return f"postgresql://{role}:{password}@/{database}?host={host}&port={_PORT}"

    def _known_password(self) -> str:
        path = self._state / "postgres-owner.password"
        if self._data.exists() and not path.exists():
            raise EmbeddedFailure(f"{path} is missing, and {self._data} opens with it alone.")
        return secret(path)

    def _make_cluster(self) -> None:
        version = self._data / "PG_VERSION"
        if not self._data.exists():
            self._initdb()
        elif (found := version.read_text().strip()) != str(self._programs.major):
            raise EmbeddedFailure(
                f"The data in {self._data} are PostgreSQL {found}'s, but the programs are "
                f"PostgreSQL {self._programs.major}. Set HANGO_PG_BIN to the programs of "
                f"version {found}, or dump and restore into another data folder."
            )

    def _initdb(self) -> None:
        """Make the cluster beside its place first: an interrupted start leaves no half one."""
        partial = self._data.with_name(f"{self._data.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        password = self._sockets / "password"
        password.touch(mode=0o600)
        password.write_text(self._owner_password)
        for path in (partial, password):
            hand_over(path, self._account)
        done = subprocess.run(
            [*self._initdb_command(), "-D", partial, f"--pwfile={password}"],
            capture_output=True,
            text=True,
            check=False,
            env=_ENVIRONMENT,
            cwd="/",
            **switched_to(self._account),
        )
        password.unlink()
        if done.returncode:
            raise EmbeddedFailure(f"initdb failed: {done.stderr.strip()[-800:]}")
        partial.rename(self._data)

    def _initdb_command(self) -> list[str | Path]:
        # The builtin provider needs no locale of the system, and still knows what lower('Ä') is.
        builtin = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        return [
            *(self._programs["initdb"], "--username", OWNER_ROLE, "--auth", "scram-sha-256"),
            *("--encoding", "UTF8", "--no-instructions"),
            *(builtin if self._programs.major >= 17 else ["--locale=C.UTF-8"]),
        ]

    def _program(self) -> Program:
        settings = [f"--{name}={value}" for name, value in self._options.items()]
        return Program(
            name="postgres",
            command=[
                *(self._programs["postgres"], "-D", self._data),
                *("-k", self._sockets, "-p", str(_PORT), "-h", ""),
                *settings,
            ],
            log=self._state / "logs" / "postgres.log",
            stop_with=Signals.SIGINT,  # fast: connected clients are sent away
            orphaned_with=Signals.SIGINT,
            environment=_ENVIRONMENT,
            account=self._account,
        )

    def _wait_for(self, process: OwnedProcess) -> None:
        deadline = time.monotonic() + _START_WITHIN
        probe = [self._programs["pg_isready"], "-q", *self._target()]
        while subprocess.run(probe, env=_ENVIRONMENT, check=False).returncode:
            if process.exit_code is not None:
                raise EmbeddedFailure(f"PostgreSQL did not start:\n{process.last_words()}")
            if time.monotonic() > deadline:
                raise EmbeddedFailure(f"PostgreSQL did not answer in {_START_WITHIN:.0f} s.")
            time.sleep(_PROBE_EVERY)

    def _prepare_roles(self) -> None:
        sql = _PREPARE.format(app=APP_ROLE, password=self._app_password, database=DATABASE)
        done = subprocess.run(
            [self._programs["psql"], "-X", "-q", "-v", "ON_ERROR_STOP=1", *self._target()],
            input=sql,
            capture_output=True,
            text=True,
            check=False,
            env={**_ENVIRONMENT, "PGPASSWORD": self._owner_password, "HOME": os.devnull},
        )
        if done.returncode:
            raise EmbeddedFailure(f"PostgreSQL refused its set-up: {done.stderr.strip()[-800:]}")

    def _target(self) -> list[str | Path]:
        return ["-h", self._sockets, "-p", str(_PORT), "-U", OWNER_ROLE, "-d", "postgres"]
