"""Agents with memory and skills; sessions with messages, files, todos and attachments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "agents",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("max_tokens", sa.Integer(), nullable=False),
        sa.Column("system_blocks", sa.Text(), nullable=False),
        sa.Column("tools", sa.Text(), nullable=False),
        sa.Column("tool_choice", sa.Text(), nullable=True),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("middleware", sa.Text(), nullable=False),
        sa.Column("subagents", sa.Text(), nullable=False),
        sa.Column("strategy", sa.Text(), nullable=False),
        sa.Column("shared", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "char_length(model) BETWEEN 1 AND 200", name=op.f("ck_agents_model_length")
        ),
        sa.CheckConstraint(
            "char_length(name) BETWEEN 1 AND 200", name=op.f("ck_agents_name_length")
        ),
        sa.CheckConstraint("max_tokens >= 1", name=op.f("ck_agents_max_tokens")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_agents_version")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_agents_tenant_id_owner_id"),
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_agents_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_agents")),
    )
    op.create_index(
        op.f("ix_agents_tenant_id_owner_id_id"),
        "agents",
        ["tenant_id", "owner_id", "id"],
        unique=False,
    )
    op.create_table(
        "memory_files",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "path LIKE '/memories/_%' AND char_length(path) <= 400",
            name=op.f("ck_memory_files_path"),
        ),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_memory_files_sha256")),
        sa.CheckConstraint("version >= 1", name=op.f("ck_memory_files_version")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_memory_files_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "agent_id", "path", name=op.f("pk_memory_files")),
    )
    op.create_table(
        "sessions",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("archived", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("parent_tool_use_id", sa.Text(), nullable=True),
        sa.Column("last_seq", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("message_tokens", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint("char_length(title) <= 200", name=op.f("ck_sessions_title_length")),
        sa.CheckConstraint("last_seq >= 0", name=op.f("ck_sessions_last_seq")),
        sa.CheckConstraint("message_tokens >= 0", name=op.f("ck_sessions_message_tokens")),
        sa.CheckConstraint("parent_id <> id", name=op.f("ck_sessions_not_its_own_parent")),
        sa.CheckConstraint(
            "parent_tool_use_id IS NULL OR parent_id IS NOT NULL",
            name=op.f("ck_sessions_call_has_parent"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_sessions_tenant_id_agent_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "owner_id"],
            ["users.tenant_id", "users.id"],
            name=op.f("fk_sessions_tenant_id_owner_id"),
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "parent_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_sessions_tenant_id_parent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name=op.f("fk_sessions_tenant_id")),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_sessions")),
    )
    op.create_index(
        op.f("ix_sessions_tenant_id_agent_id_id"),
        "sessions",
        ["tenant_id", "agent_id", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_sessions_tenant_id_owner_id_id"),
        "sessions",
        ["tenant_id", "owner_id", "id"],
        unique=False,
    )
    op.create_index(
        op.f("ix_sessions_tenant_id_parent_id"),
        "sessions",
        ["tenant_id", "parent_id"],
        unique=False,
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )
    op.create_table(
        "skills",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("agent_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("allowed_tools", sa.Text(), nullable=True),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "char_length(name) BETWEEN 1 AND 64", name=op.f("ck_skills_name_length")
        ),
        sa.CheckConstraint("version >= 1", name=op.f("ck_skills_version")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "agent_id"],
            ["agents.tenant_id", "agents.id"],
            name=op.f("fk_skills_tenant_id_agent_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "agent_id", "name", name=op.f("pk_skills")),
    )
    op.create_table(
        "attachments",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_attachments_sha256")),
        sa.CheckConstraint(
            "char_length(media_type) BETWEEN 3 AND 200",
            name=op.f("ck_attachments_media_type_length"),
        ),
        sa.CheckConstraint(
            "char_length(name) BETWEEN 1 AND 400", name=op.f("ck_attachments_name_length")
        ),
        sa.CheckConstraint(
            "size_bytes = octet_length(content)", name=op.f("ck_attachments_size_bytes")
        ),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_attachments_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "id", name=op.f("pk_attachments")),
    )
    op.create_index(
        op.f("ix_attachments_tenant_id_session_id_id"),
        "attachments",
        ["tenant_id", "session_id", "id"],
        unique=False,
    )
    op.create_table(
        "messages",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=True),
        sa.Column("counted_by", sa.Text(), nullable=True),
        sa.Column("preview", sa.Text(), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("tool_use_ids", sa.Text(), nullable=False),
        sa.Column("tool_result_ids", sa.Text(), nullable=False),
        sa.Column("marks", sa.Text(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column("content", sa.Text(), nullable=False),
        sa.CheckConstraint("content LIKE '[%'", name=op.f("ck_messages_content_is_blocks")),
        sa.CheckConstraint(
            "role IN ('user', 'assistant', 'system')", name=op.f("ck_messages_role")
        ),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_messages_sha256")),
        sa.CheckConstraint(
            "(tokens IS NULL) = (counted_by IS NULL)", name=op.f("ck_messages_counted")
        ),
        sa.CheckConstraint("seq >= 1", name=op.f("ck_messages_seq")),
        sa.CheckConstraint("tokens >= 0", name=op.f("ck_messages_tokens")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_messages_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "seq", name=op.f("pk_messages")),
    )
    op.create_table(
        "session_files",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), server_default=sa.text("1"), nullable=False),
        sa.Column("sha256", sa.Text(), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column(
            "created_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.Column(
            "updated_at",
            sa.DateTime(timezone=True),
            server_default=sa.text("now()"),
            nullable=False,
        ),
        sa.CheckConstraint(
            "path LIKE '/_%' AND char_length(path) <= 400", name=op.f("ck_session_files_path")
        ),
        sa.CheckConstraint("path NOT LIKE '/memories/%'", name=op.f("ck_session_files_not_memory")),
        sa.CheckConstraint("sha256 ~ '^[0-9a-f]{64}$'", name=op.f("ck_session_files_sha256")),
        sa.CheckConstraint(
            "size_bytes = octet_length(content)", name=op.f("ck_session_files_size_bytes")
        ),
        sa.CheckConstraint("version >= 1", name=op.f("ck_session_files_version")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_session_files_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "path", name=op.f("pk_session_files")),
    )
    op.create_table(
        "todos",
        sa.Column("tenant_id", sa.Uuid(), nullable=False),
        sa.Column("session_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "status IN ('pending', 'in_progress', 'completed')", name=op.f("ck_todos_status")
        ),
        sa.CheckConstraint("position >= 1", name=op.f("ck_todos_position")),
        sa.ForeignKeyConstraint(
            ["tenant_id", "session_id"],
            ["sessions.tenant_id", "sessions.id"],
            name=op.f("fk_todos_tenant_id_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "session_id", "position", name=op.f("pk_todos")),
    )


def downgrade() -> None:
    for table in (
        "attachments",
        "todos",
        "session_files",
        "messages",
        "sessions",
        "skills",
        "memory_files",
        "agents",
    ):
        op.drop_table(table)
