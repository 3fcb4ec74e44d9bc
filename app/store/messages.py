"""Messages. What an inspect reads goes past SQLAlchemy: see history.py."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from msgspec.structs import asdict
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    ScalarSelect,
    Select,
    Text,
    Update,
    any_,
    case,
    func,
    insert,
    literal,
    select,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.domain.blocks import SERVER
from app.domain.messages import MessageRef, NewMessage, StoredMessage
from app.domain.pages import Page
from app.domain.parts import MAX_SEQ
from app.domain.ports import History
from app.errors import NotFound
from app.store import history
from app.store.hot import Hot, parameter
from app.store.repository import Repository
from app.store.scope import Scope
from app.store.tables import messages, sessions

_STORED = [messages.c[name] for name in StoredMessage.__struct_fields__]
_INSERT = insert(messages)


@Hot
def _take_numbers(scope: Scope) -> Update:
    return (
        update(sessions)
        .where(scope.session(), sessions.c.id == parameter("session"))
        .values(
            last_seq=sessions.c.last_seq + parameter("number", Integer()),
            message_tokens=sessions.c.message_tokens + parameter("tokens", BigInteger()),
            updated_at=func.now(),
        )
        .returning(sessions.c.last_seq, sessions.c.updated_at)
    )


@Hot
def _contents(scope: Scope) -> Select[Any]:
    return select(messages.c.seq, messages.c.content).where(
        scope.of_session(messages),
        messages.c.session_id == parameter("session"),
        messages.c.seq.between(parameter("first"), parameter("last")),
    )


@Hot
def _contents_among(scope: Scope) -> Select[Any]:
    return select(messages.c.seq, messages.c.content).where(
        scope.of_session(messages),
        messages.c.session_id == parameter("session"),
        messages.c.seq == any_(parameter("seqs", ARRAY(Integer))),
    )


class Messages(Repository):
    """The messages of the principal's sessions."""

    def append(self, session_id: UUID, new: Sequence[NewMessage]) -> list[StoredMessage]:
        """Store messages at the session's end, numbered without a gap. Raises NotFound.

        Taking the numbers locks the session until the transaction ends, so that the order of
        numbers is the order of commits. With `tx.sessions.lock` before it, the history can be
        checked while nobody else changes it.
        """
        if not new:
            return []
        tokens = sum(each.tokens for each in new)
        taken = self._hot_one(_take_numbers, session=session_id, number=len(new), tokens=tokens)
        first = taken.last_seq - len(new) + 1
        place = {"tenant_id": self._scope.tenant_id, "session_id": session_id}
        rows = [place | {"seq": seq} | asdict(each) for seq, each in enumerate(new, first)]
        self._connection.execute(_INSERT, rows)
        return [_stored(row, taken.updated_at) for row in rows]

    def page(self, session_id: UUID, after_seq: int | None, limit: int) -> Page[StoredMessage]:
        """Messages with their content, by number. Raises NotFound."""
        part = (
            select(*_STORED)
            .where(*self._of(session_id), messages.c.seq > (after_seq or 0))
            .order_by(messages.c.seq)
            .limit(limit + 1)
            .lateral()
        )
        rows = self._rows(
            select(*part.c)
            .select_from(sessions.outerjoin(part, true()))
            .where(self._scope.session(), sessions.c.id == session_id)
            .order_by(part.c.seq)
        )
        if not rows:
            raise NotFound
        items = [StoredMessage(**row._mapping) for row in rows if row.seq is not None]
        return Page(items[:limit], items[limit - 1].seq if len(items) > limit else None)

    def history(self, session_id: UUID, counted_by: str) -> History:
        """What the next request starts from, in one query that reads no content of messages.

        `tokens` is None where another estimator than `counted_by` has counted. Raises NotFound.
        """
        return history.read(self._connection, self._scope, session_id, counted_by)

    def outline(self, session_id: UUID) -> History:
        """The same without counts, previews and hashes: roles and tool ids. Raises NotFound."""
        return history.outline(self._connection, self._scope, session_id)

    def hashes(self, session_id: UUID) -> list[str]:
        """The content hash of every message, by number."""
        found = select(messages.c.sha256).where(*self._visible(session_id))
        return list(self._connection.execute(found.order_by(messages.c.seq)).scalars())

    def contents(self, session_id: UUID, seqs: Iterable[int]) -> dict[int, str]:
        """The compact JSON of the blocks of these messages, by number; unknown ones left out."""
        wanted = sorted({seq for seq in seqs if 1 <= seq <= MAX_SEQ})
        if not wanted:
            return {}
        first, last = wanted[0], wanted[-1]
        if len(wanted) == last - first + 1:
            rows = self._hot(_contents, session=session_id, first=first, last=last)
        else:
            rows = self._hot(_contents_among, session=session_id, seqs=wanted)
        return {seq: content for seq, content in rows}  # noqa: C416 (rows are no tuples to mypy)

    def headers(self, session_id: UUID, seqs: Iterable[int], counted_by: str) -> list[MessageRef]:
        """These messages without their content, by number; unknown ones left out."""
        counted = case((messages.c.counted_by == counted_by, messages.c.tokens))
        columns = [counted if each is messages.c.tokens else each for each in history.HEADERS]
        wanted = literal(sorted(set(seqs)), ARRAY(Integer))
        found = select(*columns).where(*self._visible(session_id), messages.c.seq == any_(wanted))
        return [MessageRef(*row) for row in self._rows(found.order_by(messages.c.seq))]

    def tail(self, session_id: UUID) -> list[MessageRef]:
        """The rows that tell which calls are open: enough to check what is appended next.

        They start at the last user message before the newest run of assistant messages. Which
        calls its own results answer is not told, since those calls stand before it.
        """
        newest = self._last(session_id, "assistant", MAX_SEQ)
        start = self._last(session_id, "user", func.coalesce(newest, MAX_SEQ))
        rows = self._rows(
            select(*history.HEADERS)
            .where(*self._visible(session_id), messages.c.seq >= func.coalesce(start, 1))
            .order_by(messages.c.seq)
        )
        refs = [MessageRef(*row) for row in rows]
        if refs:
            refs[0].tool_result_ids = ""
        return refs

    def has_tool_ids(self, session_id: UUID, ids: Collection[str]) -> set[str]:
        """Those of `ids` that calls of the session have, whether or not they are answered."""
        if not ids:
            return set()
        asked = {each.removeprefix(SERVER) for each in ids}
        forms = sorted({*asked, *(SERVER + each for each in asked)})
        used = func.string_to_array(messages.c.tool_use_ids, " ", type_=ARRAY(Text))
        found = select(messages.c.tool_use_ids).where(
            *self._visible(session_id), messages.c.tool_use_ids != "", used.overlap(forms)
        )
        taken = {
            each.removeprefix(SERVER)
            for row in self._rows(found)
            for each in row.tool_use_ids.split()
        }
        return {each for each in ids if each.removeprefix(SERVER) in taken}

    def _of(self, session_id: UUID) -> tuple[ColumnElement[bool], ...]:
        """Rows of a session that the statement checks elsewhere."""
        return (self._scope.in_tenant(messages), messages.c.session_id == session_id)

    def _visible(self, session_id: UUID) -> tuple[ColumnElement[bool], ...]:
        return (self._scope.of_session(messages), messages.c.session_id == session_id)

    def _last(
        self, session_id: UUID, role: str, before: int | ColumnElement[int]
    ) -> ScalarSelect[int]:
        return (
            select(messages.c.seq)
            .where(*self._of(session_id), messages.c.role == role, messages.c.seq < before)
            .order_by(messages.c.seq.desc())
            .limit(1)
            .scalar_subquery()
        )


def _stored(row: Mapping[str, Any], created_at: str) -> StoredMessage:
    fields = StoredMessage.__struct_fields__
    known = {name: row[name] for name in fields if name in row}
    return StoredMessage(**known, created_at=created_at)
