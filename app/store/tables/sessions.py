"""Sessions and what belongs to one: messages, files, todos, attachments."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    Table,
    Uuid,
)
from sqlalchemy import (
    text as sql,
)

from app.store.tables.columns import (
    id_key,
    json_text,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

sessions = Table(
    "sessions",
    metadata,
    tenant_key(),
    id_key(),
    Column("owner_id", Uuid, nullable=False),
    Column("agent_id", Uuid, nullable=False),
    text("title"),
    Column("archived", Boolean, nullable=False, server_default=sql("false")),
    Column("parent_id", Uuid),
    text("parent_tool_use_id", nullable=True),
    json_text("helper", nullable=True),  # the Subagent, as it was when `task` made the session
    Column("last_seq", Integer, nullable=False, server_default=sql("0")),
    Column("message_tokens", BigInteger, nullable=False, server_default=sql("0")),
    made_at(),
    made_at("updated_at"),
    of_tenant(),
    refers("owner_id", "users"),
    refers("agent_id", "agents"),
    refers("parent_id", "sessions", ondelete="CASCADE"),
    Index(None, "tenant_id", "owner_id", "id"),
    Index(None, "tenant_id", "agent_id", "id"),
    Index(None, "tenant_id", "parent_id", postgresql_where=sql("parent_id IS NOT NULL")),
    CheckConstraint("char_length(title) <= 200", name="title_length"),
    CheckConstraint("last_seq >= 0", name="last_seq"),
    CheckConstraint("message_tokens >= 0", name="message_tokens"),
    CheckConstraint("parent_id <> id", name="not_its_own_parent"),
    CheckConstraint("parent_tool_use_id IS NULL OR parent_id IS NOT NULL", name="call_has_parent"),
    CheckConstraint("helper IS NULL OR parent_tool_use_id IS NOT NULL", name="helper_has_call"),
)

# Rows are never changed, but for their counts when the estimator has become another. Header
# columns stand before the content, so that reading them does not unpack it.
messages = Table(
    "messages",
    metadata,
    tenant_key(),
    Column("session_id", Uuid, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    text("role"),
    Column("tokens", Integer),
    text("counted_by", nullable=True),
    text("preview"),
    text("sha256"),
    text("tool_use_ids"),
    text("tool_result_ids"),
    text("marks"),
    made_at(),
    text("content"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    CheckConstraint("seq >= 1", name="seq"),
    CheckConstraint("role IN ('user', 'assistant', 'system')", name="role"),
    CheckConstraint("tokens >= 0", name="tokens"),
    CheckConstraint("(tokens IS NULL) = (counted_by IS NULL)", name="counted"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("content LIKE '[%'", name="content_is_blocks"),
)

# Beside a message with thinking: what tells whether that thinking can go back.
message_thinking = Table(
    "message_thinking",
    metadata,
    tenant_key(),
    Column("session_id", Uuid, primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    text("bare_sha256"),
    text("prefix_sha256", nullable=True),
    Column("after_seq", Integer),
    Column("retired", Boolean, nullable=False, server_default=sql("false")),
    ForeignKeyConstraint(
        ["tenant_id", "session_id", "seq"],
        ["messages.tenant_id", "messages.session_id", "messages.seq"],
        ondelete="CASCADE",
    ),
    CheckConstraint("bare_sha256 ~ '^[0-9a-f]{64}$'", name="bare_sha256"),
    CheckConstraint("prefix_sha256 ~ '^[0-9a-f]{64}$'", name="prefix_sha256"),
    CheckConstraint("after_seq < seq", name="after_seq"),
)

session_files = Table(
    "session_files",
    metadata,
    tenant_key(),
    Column("session_id", Uuid, primary_key=True),
    text("path", primary_key=True),
    text("content"),
    Column("version", Integer, nullable=False, server_default=sql("1")),
    text("sha256"),
    Column("size_bytes", Integer, nullable=False),
    made_at(),
    made_at("updated_at"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    CheckConstraint("path LIKE '/_%' AND char_length(path) <= 400", name="path"),
    # The agent's memory is mapped there; a file of the session would hide it.
    CheckConstraint("path NOT LIKE '/memories/%'", name="not_memory"),
    CheckConstraint("version >= 1", name="version"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("size_bytes = octet_length(content)", name="size_bytes"),
)

todos = Table(
    "todos",
    metadata,
    tenant_key(),
    Column("session_id", Uuid, primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    text("content"),
    text("status"),
    refers("session_id", "sessions", ondelete="CASCADE"),
    CheckConstraint("position >= 1", name="position"),
    CheckConstraint("status IN ('pending', 'in_progress', 'completed')", name="status"),
)

attachments = Table(
    "attachments",
    metadata,
    tenant_key(),
    id_key(),
    Column("session_id", Uuid, nullable=False),
    text("name"),
    text("media_type"),
    Column("size_bytes", Integer, nullable=False),
    text("sha256"),
    made_at(),
    Column("content", LargeBinary, nullable=False),
    refers("session_id", "sessions", ondelete="CASCADE"),
    Index(None, "tenant_id", "session_id", "id"),
    CheckConstraint("char_length(name) BETWEEN 1 AND 400", name="name_length"),
    CheckConstraint("char_length(media_type) BETWEEN 3 AND 200", name="media_type_length"),
    CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name="sha256"),
    CheckConstraint("size_bytes = octet_length(content)", name="size_bytes"),
)
