"""What the measurements run on: hango with its embedded servers, and sessions from the generator.

Everything is as `hango up` starts it. Nothing is started before a measurement asks for it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import cached_property
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import psycopg2
from msgspec.structs import replace as copied

from app.domain import keys
from app.domain.agents import Agent
from app.domain.ids import new_id
from app.domain.keys import ApiKey
from app.domain.messages import NewMessage, prepare
from app.domain.principals import Principal, Role
from app.domain.sessions import Session
from app.domain.tenants import Tenant
from app.domain.users import User
from app.settings import Secret, Settings
from app.store.transaction import Database
from app.tokens.estimator import estimator_for
from bench import generator
from cli.operate import children, db
from cli.operate.children import Services
from cli.operate.embedded.ownership import OwnedProcess
from cli.operate.embedded.postgres import Postgres
from cli.operate.embedded.valkey import Valkey
from cli.operate.listening import listen, url_of

MODEL = "claude-sonnet-4-5"
SYSTEM_PROMPT = "You are a careful engineer. Read before you write, and say what you found.\n" * 20
ANOTHER_ESTIMATOR = "another/1"  # what a session was counted by that is cold

_READY_WITHIN = 60.0  # seconds
_STOP_WITHIN = 15.0
_BATCH = 500  # messages in one insert


class Ground:
    """One hango of its own: servers, a tenant with a member, sessions. Gone when it is closed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._sessions: dict[tuple[int, bool, str], UUID] = {}

    def close(self) -> None:
        """Stop everything and remove its data."""
        self._stack.close()

    @cached_property
    def folder(self) -> Path:
        """The data folder; the account that runs PostgreSQL may pass through it."""
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hango-bench-")))
        folder.chmod(0o711)
        return folder

    @cached_property
    def services(self) -> Services:
        """PostgreSQL with the newest schema, and Valkey."""
        postgres = Postgres(self.folder)
        postgres.start()
        self._stack.callback(postgres.stop)
        valkey = Valkey(self.folder)
        valkey.start()
        self._stack.callback(valkey.stop)
        urls = postgres.urls()
        db.upgrade(urls.admin_url, urls.app_url)
        return Services(urls.app_url, urls.admin_url, valkey.url)

    @cached_property
    def database(self) -> Database:
        """The store, as the role that serves requests."""
        database = Database(
            Settings(
                database_url=Secret(self.services.database_url),
                redis_url=Secret(self.services.redis_url),
            )
        )
        self._stack.callback(database.dispose)
        return database

    @cached_property
    def principal(self) -> Principal:
        """A member, whose scope costs more than an admin's."""
        tenant = Tenant(id=new_id(), name="bench", trace_llm_content=False, created_at="")
        user = User(
            id=new_id(),
            tenant_id=tenant.id,
            name="member",
            role=Role.MEMBER,
            created_at="",
            disabled_at=None,
        )
        with self.database.system() as tx:
            tx.tenants.add(tenant)
            tx.users.add(user)
        return Principal(tenant_id=tenant.id, user_id=user.id, role=Role.MEMBER)

    @cached_property
    def key(self) -> str:
        """The member's API key."""
        minted = keys.mint()
        key = ApiKey(
            id=new_id(),
            tenant_id=self.principal.tenant_id,
            user_id=self.principal.user_id,
            public_id=minted.public_id,
            name="bench",
            created_by=None,
            created_at="",
            last_used_at=None,
            expires_at=None,
            revoked_at=None,
        )
        with self.database.system() as tx:
            tx.keys.add(key, minted.hash)
        return minted.text

    @cached_property
    def agent(self) -> UUID:
        """An agent with every middleware on: system blocks and tools stand beside the messages."""
        agent = Agent(
            id=new_id(),
            tenant_id=self.principal.tenant_id,
            owner_id=self.principal.user_id,
            name="bench",
            model=MODEL,
            system_blocks=(SYSTEM_PROMPT,),
            max_tokens=16_384,
        )
        with self.database.transaction(self.principal) as tx:
            tx.memory.put(tx.agents.add(agent).id, "/memories/AGENTS.md", SYSTEM_PROMPT)
        return agent.id

    def session(self, size: int, *, cold: bool = False, copy: str = "") -> UUID:
        """A session of this many generated messages; cold: none counted by its own estimator.

        Asked again, it is the same one; `copy` names another with the same messages.
        """
        which = (size, cold, copy)
        if which not in self._sessions:
            self._sessions[which] = self._stored(prepared(size), cold)
        return self._sessions[which]

    def empty_session(self) -> Session:
        """A new session without messages."""
        session = Session(
            id=new_id(),
            tenant_id=self.principal.tenant_id,
            owner_id=self.principal.user_id,
            agent_id=self.agent,
            title="",
        )
        with self.database.transaction(self.principal) as tx:
            return tx.sessions.add(session)

    def _stored(self, messages: list[NewMessage], cold: bool) -> UUID:
        if cold:
            messages = [copied(each, counted_by=ANOTHER_ESTIMATOR) for each in messages]
        session = self.empty_session()
        with self.database.transaction(self.principal) as tx:
            for start in range(0, len(messages), _BATCH):
                tx.messages.append(session.id, messages[start : start + _BATCH])
        self._settle()
        return session.id

    def _settle(self) -> None:
        """Do now what autovacuum would do in the middle of a measurement."""
        with closing(psycopg2.connect(self.services.admin_database_url)) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                cursor.execute("VACUUM (ANALYZE) messages, sessions, agents")

    @cached_property
    def url(self) -> str:
        """A web server as `hango up` starts it, but for the rate limit: there, never reached."""
        return self.web()[0]

    def web(self, *, processes: int = 2, **settings: str) -> tuple[str, OwnedProcess]:
        """Another one. `settings`: its environment."""
        listening = self._stack.enter_context(closing(listen("127.0.0.1", 0, None)))
        program = children.web(self.folder, self.services, listening.fileno())
        environment = {**program.environment, "HANGO_RATE_LIMIT_PER_MINUTE": "1000000", **settings}
        *command, application = program.command
        command += ["--workers", str(processes), application]
        process = OwnedProcess(replace(program, command=command, environment=environment))
        self._stack.callback(process.stop, _STOP_WITHIN)
        url = url_of(listening)
        _wait_for(url, process)
        return url, process

    def worker(
        self,
        provider_url: str,
        *,
        threads: int,
        application: str = "workers.app",
        services: Services | None = None,
    ) -> OwnedProcess:
        """A worker of runs and tries, with that provider if any; it may still be starting."""
        program = next(iter(children.workers(self.folder, services or self.services)))
        command = list(program.command)
        command[command.index("--app") + 1] = application
        command[command.index("--queues") + 1] = "runs,calls"
        command[command.index("--concurrency") + 1] = str(threads)
        environment = {**program.environment, "HANGO_ANTHROPIC_API_KEY": "sk-bench"}
        if provider_url:
            environment["HANGO_ANTHROPIC_BASE_URL"] = provider_url
        process = OwnedProcess(replace(program, command=command, environment=environment))
        self._stack.callback(process.stop, _STOP_WITHIN)
        return process

    def stub(self, delay: float) -> str:
        """The URL of a provider that answers after `delay` seconds."""
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.stub", str(delay)], stdout=subprocess.PIPE, text=True
        )
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        assert process.stdout
        return f"http://127.0.0.1:{int(process.stdout.readline())}"


def prepared(size: int) -> list[NewMessage]:
    """Generated messages, measured as when they are appended."""
    estimator = estimator_for(MODEL)
    return [prepare(each["role"], each["content"], estimator) for each in generator.session(size)]


def _wait_for(url: str, process: OwnedProcess) -> None:
    deadline = time.monotonic() + _READY_WITHIN
    while not _is_ready(url):
        if process.exit_code is not None or time.monotonic() > deadline:
            raise RuntimeError(f"The web server did not start:\n{process.last_words()}")
        time.sleep(0.1)


def _is_ready(url: str) -> bool:
    with suppress(OSError), closing(HTTPConnection(urlsplit(url).netloc, timeout=5)) as connection:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    return False
