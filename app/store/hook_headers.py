"""The headers that an agent's context hooks are sent: sealed, and read by nobody but hooks."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import Connection, select, update

from app.domain.jsontext import dumps, loads
from app.errors import NotFound
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.secrets import Vault, about
from app.store.tables import agents

Headers = Mapping[str, str]


class HookHeaders(Repository):
    """Of the agents that the principal may use; written with those that it may change."""

    def __init__(self, connection: Connection, scope: Scope, vault: Vault) -> None:
        super().__init__(connection, scope)
        self._vault = vault

    def of(self, agent_id: UUID) -> dict[str, dict[str, str]]:
        """The headers with their values, by the names of the hooks; to be sent, never shown.

        Raises:
            NotFound
            SecretsUnavailable: they cannot be opened.
        """
        usable = self._scope.usable_agent()
        found = select(agents.c.sealed_hook_headers).where(usable, agents.c.id == agent_id)
        sealed = self._one(found).sealed_hook_headers
        if sealed is None:
            return {}
        opened: dict[str, dict[str, str]] = loads(self._vault.open(sealed, self._about(agent_id)))
        return opened

    def put(self, agent_id: UUID, headers: Mapping[str, Headers]) -> None:
        """Make these all that the agent has.

        Raises:
            NotFound
            SecretsUnavailable: the deployment has no key.
        """
        kept = {name: dict(values) for name, values in headers.items() if values}
        sealed = self._vault.seal(dumps(kept), self._about(agent_id)) if kept else None
        changed = (
            update(agents)
            .where(self._scope.writable_agent(), agents.c.id == agent_id)
            .values(sealed_hook_headers=sealed)
        )
        if not self._connection.execute(changed).rowcount:
            raise NotFound

    def _about(self, agent_id: UUID) -> str:
        return about(self._scope.tenant_id, agents.name, agent_id)
