"""The sealed secrets of every tenant: which keys they need, and sealing them anew."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import (
    Column,
    Connection,
    Row,
    Select,
    Table,
    Text,
    cast,
    func,
    literal,
    select,
    tuple_,
    union_all,
    update,
)

from app.domain.sealed import Resealed, SealedCounts
from app.errors import SecretsUnavailable
from app.store.secrets import NO_KEY, Vault, about
from app.store.tables import agents, http_tools, mcp_servers

# Each table that has secrets: what tells its rows apart within a tenant, and the sealed column.
_PLACES: Mapping[str, tuple[Table, Column[object], Column[str | None]]] = {
    "agents": (agents, agents.c.id, agents.c.sealed_hook_headers),
    "http_tools": (http_tools, http_tools.c.name, http_tools.c.sealed_headers),
    "mcp_servers": (mcp_servers, mcp_servers.c.name, mcp_servers.c.sealed_headers),
}
_START = ("", "", "")  # before every (table, tenant, key)


class AllSecrets:
    """Every tenant's secrets. Their values never leave this class."""

    def __init__(self, connection: Connection, vault: Vault) -> None:
        self._connection = connection
        self._vault = vault

    def counts(self) -> SealedCounts:
        """How many the newest key opens, how many an older one, and how many none."""
        ids = [_key_ids(column) for _, _, column in _PLACES.values()]
        found = union_all(*ids).subquery()
        query = select(found.c.key_id, func.count()).group_by(found.c.key_id)
        numbers = dict(self._connection.execute(query).tuples().all())
        newest, *older = [numbers.pop(key_id, 0) for key_id in self._vault.key_ids] or [0]
        return SealedCounts(newest, sum(older), sum(numbers.values()))

    def reseal(self, after: tuple[str, str, str] | None, limit: int) -> Resealed:
        """Seal with the newest key what an older one opens; at most `limit` of them.

        Raises:
            SecretsUnavailable: there is no key.
        """
        if not self._vault.key_ids:
            raise SecretsUnavailable(NO_KEY)
        rows = self._connection.execute(self._older(after or _START, limit)).all()
        sealed = sum(self._resealed(row) for row in rows)
        last = (rows[-1].place, rows[-1].tenant, rows[-1].key) if rows else None
        return Resealed(sealed, len(rows) - sealed, last)

    def _older(self, after: tuple[str, str, str], limit: int) -> Select[tuple[str, str, str, str]]:
        older = self._vault.key_ids[1:]
        found = union_all(
            *(
                select(
                    literal(name).label("place"),
                    cast(table.c.tenant_id, Text).label("tenant"),
                    cast(key, Text).label("key"),
                    column.label("sealed"),
                ).where(func.split_part(column, ".", 1).in_(older))
                for name, (table, key, column) in _PLACES.items()
            )
        ).subquery()
        place = tuple_(*(func.convert_to(found.c[n], "UTF8") for n in ("place", "tenant", "key")))
        begin = tuple_(*(func.convert_to(each, "UTF8") for each in after))
        return select(found).where(place > begin).order_by(*place.clauses).limit(limit)

    def _resealed(self, row: Row[tuple[str, str, str, str]]) -> bool:
        table, key, column = _PLACES[row.place]
        whose = about(row.tenant, table.name, row.key)
        try:
            anew = self._vault.seal(self._vault.open(row.sealed, whose), whose)
        except SecretsUnavailable:
            return False
        # Only what is still the same: somebody may have written another value meanwhile, and
        # that one has the newest key.
        same = (cast(table.c.tenant_id, Text) == row.tenant) & (cast(key, Text) == row.key)
        self._connection.execute(
            update(table).where(same, column == row.sealed).values({column.name: anew})
        )
        return True


def _key_ids(column: Column[str | None]) -> Select[tuple[str]]:
    key_id = func.split_part(column, ".", 1).label("key_id")
    return select(key_id).where(column.is_not(None))
