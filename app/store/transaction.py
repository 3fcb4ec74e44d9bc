"""Units of work: one transaction through one principal's eyes, or across tenants.

Row-level security is the second wall behind the scope of each statement. The database lets a
transaction see the rows of the tenant that `hango.tenant` names; without it there are none. Only
what cannot know a tenant (sign-in, sweeps, bootstrap) runs as `hango.system`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

from sqlalchemy import Connection, text

from app.domain.audit import Origin
from app.domain.jobs import Job
from app.domain.keys import PresentedKey
from app.domain.principals import Principal
from app.domain.web_sessions import SignedIn
from app.settings import Settings
from app.store.ablations import Ablations, AllAblations
from app.store.agents import Agents
from app.store.attachments import Attachments
from app.store.audit import AllAudit, Audit
from app.store.checkpoints import Checkpoints
from app.store.counts import AllCounts
from app.store.engine import POOL_WAIT_SECONDS, begun, make_engine
from app.store.files import Files
from app.store.hook_headers import HookHeaders
from app.store.idempotency import AllIdempotency, Idempotency
from app.store.imports import Imports
from app.store.keys import AllKeys, Keys
from app.store.measures import AllMeasures
from app.store.memory import Memory
from app.store.messages import Messages
from app.store.outside import HttpTools, McpServers
from app.store.overrides import Overrides
from app.store.quota import AllQuotas, Quotas
from app.store.revision import SCHEMA_REVISION
from app.store.runs import AllRuns, Runs
from app.store.scope import Scope
from app.store.sealed import AllSecrets
from app.store.secrets import Vault
from app.store.sessions import AllSessions, Sessions
from app.store.skills import Skills
from app.store.sources import StoredSources
from app.store.tenants import AllTenants, Tenants
from app.store.thinking import Thinking
from app.store.todos import Todos
from app.store.tries import AllTries, Tries
from app.store.usage import Usage
from app.store.usage_reports import AllUsageReports, UsageReports
from app.store.users import AllUsers, Users
from app.store.web_sessions import AllWebSessions, WebSessions

Queued = tuple[Job, str]

# One round trip each. They hold until the transaction ends, whatever becomes of the connection.
_WRITING = """
SELECT set_config('hango.tenant', %(tenant)s, true), set_config('hango.system', %(system)s, true)
"""
# One snapshot for all statements, so that what is read together was true together.
_READING = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY;" + _WRITING

_NO_ORIGIN = Origin()


class Transaction:
    """One unit of work. Commits when its `with` block ends cleanly, and only then sends jobs."""

    def __init__(
        self,
        connection: Connection,
        principal: Principal,
        origin: Origin,
        idempotency_retention: timedelta,
        vault: Vault,
    ) -> None:
        scope = Scope(principal)
        self.principal = principal
        self.tenants = Tenants(connection, scope)
        self.users = Users(connection, scope)
        self.keys = Keys(connection, scope)
        self.web_sessions = WebSessions(connection, scope)
        self.agents = Agents(connection, scope)
        self.hook_headers = HookHeaders(connection, scope, vault)
        self.memory = Memory(connection, scope)
        self.skills = Skills(connection, scope)
        self.http_tools = HttpTools(connection, scope, vault)
        self.mcp_servers = McpServers(connection, scope, vault)
        self.sessions = Sessions(connection, scope)
        self.messages = Messages(connection, scope)
        self.thinking = Thinking(connection, scope)
        self.checkpoints = Checkpoints(connection, scope)
        self.overrides = Overrides(connection, scope)
        self.files = Files(connection, scope)
        self.todos = Todos(connection, scope)
        self.attachments = Attachments(connection, scope)
        self.imports = Imports(connection, scope)
        self.runs = Runs(connection, scope)
        self.tries = Tries(connection, scope)
        self.ablations = Ablations(connection, scope)
        self.usage = Usage(connection, scope)
        self.usage_reports = UsageReports(connection, scope)
        self.quota = Quotas(connection, scope)
        self.audit = Audit(connection, scope, origin)
        self.idempotency = Idempotency(connection, scope, idempotency_retention)
        self.sources = StoredSources(
            self.memory, self.skills, self.todos, self.http_tools, self.mcp_servers
        )
        self.queued: list[Queued] = []

    def enqueue(self, job: Job, row_id: str) -> None:
        """Have a job sent once this transaction is committed; with a rollback it never is."""
        self.queued.append((job, row_id))


class SystemTransaction:
    """One unit of work across tenants, for what runs before or beside any principal."""

    def __init__(self, connection: Connection, vault: Vault) -> None:
        self.tenants = AllTenants(connection)
        self.users = AllUsers(connection)
        self.keys = AllKeys(connection)
        self.web_sessions = AllWebSessions(connection)
        self.sessions = AllSessions(connection)
        self.runs = AllRuns(connection)
        self.tries = AllTries(connection)
        self.ablations = AllAblations(connection)
        self.counts = AllCounts(connection)
        self.quota = AllQuotas(connection)
        self.audit = AllAudit(connection)
        self.idempotency = AllIdempotency(connection)
        self.measures = AllMeasures(connection)
        self.usage_reports = AllUsageReports(connection)
        self.secrets = AllSecrets(connection, vault)
        self.queued: list[Queued] = []

    def enqueue(self, job: Job, row_id: str) -> None:
        """Have a job sent once this transaction is committed."""
        self.queued.append((job, row_id))


class Database:
    """The store of one process. Opens its first connection when it is first used."""

    def __init__(
        self,
        settings: Settings,
        *,
        on_commit: Callable[[Sequence[Queued]], None] | None = None,
        application_name: str = "hango",
        pool_wait: float = POOL_WAIT_SECONDS,
    ) -> None:
        """`on_commit` gets the jobs of each committed transaction that has queued some.

        Who finds all connections in use waits for `pool_wait` seconds at most.
        """
        self._engine = make_engine(settings, application_name, pool_wait)
        self._retention = settings.idempotency_retention
        self._vault = Vault(settings.secret_keys)
        self._on_commit = on_commit

    @contextmanager
    def transaction(
        self, principal: Principal, origin: Origin = _NO_ORIGIN
    ) -> Iterator[Transaction]:
        """A unit of work of this principal's. `origin` goes into its audit rows.

        Raises:
            DatabaseUnavailable: PostgreSQL does not answer, or not in time.
        """
        with self._begun(_WRITING, tenant=str(principal.tenant_id)) as connection:
            tx = Transaction(connection, principal, origin, self._retention, self._vault)
            yield tx
        self._hand_over(tx.queued)

    @contextmanager
    def reading(self, principal: Principal) -> Iterator[Transaction]:
        """The same, read-only, and over one snapshot of the database.

        Raises:
            DatabaseUnavailable: PostgreSQL does not answer, or not in time.
        """
        with self._begun(_READING, tenant=str(principal.tenant_id)) as connection:
            yield Transaction(connection, principal, _NO_ORIGIN, self._retention, self._vault)

    @contextmanager
    def system(self) -> Iterator[SystemTransaction]:
        """A unit of work across tenants: sign-in, sweeps, bootstrap.

        Raises:
            DatabaseUnavailable: PostgreSQL does not answer, or not in time.
        """
        with self._begun(_WRITING, system="on") as connection:
            tx = SystemTransaction(connection, self._vault)
            yield tx
        self._hand_over(tx.queued)

    def authenticate(self, presented: PresentedKey) -> Principal | None:
        """Whom this key makes its sender, if it is good now; its use is noted.

        Raises:
            DatabaseUnavailable: PostgreSQL does not answer, or not in time.
        """
        with self.system() as tx:
            return tx.keys.holder(presented)

    def signed_in(self, token_hash: bytes, idle: timedelta) -> SignedIn | None:
        """Whose web session has this token, if it is good now; its use is noted.

        Raises:
            DatabaseUnavailable: PostgreSQL does not answer, or not in time.
        """
        with self.system() as tx:
            return tx.web_sessions.holder(token_hash, idle)

    def answers(self) -> bool:
        """Whether PostgreSQL answers. Raises DatabaseUnavailable where it does not."""
        with self._begun(_READING) as connection:
            return bool(connection.execute(text("SELECT true")).scalar())

    def is_current(self) -> bool:
        """Whether the schema is at the migration that this code needs."""
        with self._begun(_READING) as connection:
            known = connection.execute(text("SELECT to_regclass('alembic_version')")).scalar()
            if known is None:
                return False
            found = connection.execute(text("SELECT version_num FROM alembic_version"))
            return list(found.scalars()) == [SCHEMA_REVISION]

    def dispose(self) -> None:
        """Close every connection; the next use opens new ones."""
        self._engine.dispose()

    @contextmanager
    def _begun(self, opening: str, *, tenant: str = "", system: str = "") -> Iterator[Connection]:
        with begun(self._engine, opening, {"tenant": tenant, "system": system}) as connection:
            yield connection

    def _hand_over(self, queued: Sequence[Queued]) -> None:
        if queued and self._on_commit is not None:
            self._on_commit(queued)
