"""The hot read: a session's history as the next request starts from it.

One query over the driver's cursor. The first row says that the session is there, and carries its
newest checkpoint; the others are the headers of the messages after it, in the order of
`MessageRef`, without their content.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import starmap
from operator import attrgetter
from typing import Any
from uuid import UUID

import msgspec
from sqlalchemy import Connection

from app.domain.messages import Block, MadeMessage, MessageRef
from app.domain.parts import SUMMARY
from app.domain.ports import Checkpoint, History
from app.errors import NotFound
from app.store.scope import SESSION_AS_SQL, Scope
from app.store.tables import messages

HEADERS = [messages.c[name] for name in MessageRef.__struct_fields__ if name in messages.c]

_HEAD = f"""
WITH head AS MATERIALIZED (
  SELECT s.id, c.covers_seq, c.role, c.tokens, c.counted_by, c.sha256, c.marks,
         json_build_object('preview', c.preview, 'label', c.label, 'origin', c.origin,
                           'content', c.content)::text AS summary
    FROM sessions s
    LEFT JOIN LATERAL (
      SELECT * FROM checkpoints
       WHERE tenant_id = s.tenant_id AND session_id = s.id
         AND kind = 'summary' AND state = 'completed'
       ORDER BY version DESC LIMIT 1
    ) c ON true
   WHERE s.id = %(session)s AND {SESSION_AS_SQL}
)
SELECT 0 AS seq, role, CASE WHEN counted_by = %(counted_by)s THEN tokens END, summary, sha256,
       covers_seq::text, '', marks
  FROM head
"""  # noqa: S608 (all parts are constants)


def _with_messages(columns: str) -> str:
    """The query of a whole history: the head, and these columns of its messages.

    Sub-selects and no join, so that the messages come out of their key's index in order, unsorted.
    """
    return f"""
{_HEAD}
UNION ALL
(SELECT {columns}
   FROM messages
  WHERE tenant_id = %(tenant)s
    AND session_id = (SELECT id FROM head)
    AND seq > (SELECT coalesce(covers_seq, 0) FROM head)
  ORDER BY seq)
"""  # noqa: S608 (all parts are constants)


_HISTORY = _with_messages(
    "seq, role, CASE WHEN counted_by = %(counted_by)s THEN tokens END, preview, sha256,"
    " tool_use_ids, tool_result_ids, marks"
)
# Who follows whom, and which call belongs to which result: enough to decide what may be left out.
_OUTLINE = _with_messages("seq, role, NULL, '', '', tool_use_ids, tool_result_ids, marks")


class _Summary(msgspec.Struct):
    preview: str
    label: str
    origin: str
    content: str


def read(connection: Connection, scope: Scope, session_id: UUID, counted_by: str) -> History:
    """The history.

    Raises:
        NotFound: the session is not in the scope.
    """
    return _read(connection, _HISTORY, scope, session_id, counted_by)


def outline(connection: Connection, scope: Scope, session_id: UUID) -> History:
    """The history without counts, previews and hashes.

    Raises:
        NotFound: the session is not in the scope.
    """
    return _read(connection, _OUTLINE, scope, session_id, "")


def _read(
    connection: Connection, query: str, scope: Scope, session_id: UUID, counted_by: str
) -> History:
    with _rows(connection, query, scope, session_id, counted_by) as cursor:
        head = cursor.fetchone()
        if head is None:
            raise NotFound
        refs = list(starmap(MessageRef, cursor))
    # SQL promises no order across UNION ALL. They are in order as it is, and seeing that is cheap.
    refs.sort(key=attrgetter("seq"))
    return History(checkpoint=_checkpoint(head), messages=refs)


def read_checkpoint(
    connection: Connection, scope: Scope, session_id: UUID, counted_by: str
) -> Checkpoint | None:
    """The newest checkpoint alone.

    Raises:
        NotFound: the session is not in the scope.
    """
    with _rows(connection, _HEAD, scope, session_id, counted_by) as cursor:
        head = cursor.fetchone()
    if head is None:
        raise NotFound
    return _checkpoint(head)


def _checkpoint(head: tuple[Any, ...]) -> Checkpoint | None:
    """The checkpoint that the first row carries."""
    _, role, tokens, document, sha256, covers_seq, _, marks = head
    if covers_seq is None:
        return None
    summary = msgspec.json.decode(document, type=_Summary)
    made = MadeMessage(
        part=SUMMARY,
        label=summary.label,
        origin=summary.origin,
        blocks=msgspec.json.decode(summary.content, type=list[Block]),
    )
    ref = MessageRef(0, role, tokens, summary.preview, sha256, "", "", marks, made)
    return Checkpoint(covers_seq=int(covers_seq), summary=ref)


@contextmanager
def _rows(
    connection: Connection, query: str, scope: Scope, session_id: UUID, counted_by: str
) -> Iterator[Any]:
    values = scope.as_values() | {"session": str(session_id), "counted_by": counted_by}
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(query, values)
        yield cursor
