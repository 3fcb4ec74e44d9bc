"""What each tenant may use, has used by day, and has reserved for calls that are running."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Date,
    Index,
    Table,
    Uuid,
)
from sqlalchemy import (
    text as sql,
)

from app.store.tables.columns import (
    Instant,
    id_key,
    instant,
    made_at,
    metadata,
    of_tenant,
    refers,
    tenant_key,
    text,
)

# One row a tenant: whoever reserves locks it, so that two never count on the same rest.
quotas = Table(
    "quotas",
    metadata,
    tenant_key(),
    text("period", server_default="month"),
    Column("tokens", BigInteger),  # NULL: unlimited
    Column("micro_dollars", BigInteger),  # NULL: unlimited
    of_tenant(),
    CheckConstraint("period IN ('day', 'month')", name="period"),
    CheckConstraint("least(tokens, micro_dollars) >= 0", name="not_negative"),
)

# By day, whatever the period is: it can be changed without forgetting what was used.
quota_days = Table(
    "quota_days",
    metadata,
    tenant_key(),
    Column("day", Date, primary_key=True),  # UTC
    Column("tokens", BigInteger, nullable=False),
    Column("micro_dollars", BigInteger, nullable=False),
    of_tenant(),
    CheckConstraint("least(tokens, micro_dollars) >= 0", name="not_negative"),
)

# A settled one stays for a while, so that settling again changes nothing.
quota_reservations = Table(
    "quota_reservations",
    metadata,
    tenant_key(),
    id_key(),
    Column("user_id", Uuid, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("micro_dollars", BigInteger, nullable=False),
    made_at(),
    Column("lease_until", Instant, nullable=False),
    instant("settled_at"),
    of_tenant(),
    refers("user_id", "users"),
    Index(
        "ix_quota_reservations_held",
        "tenant_id",
        "lease_until",
        postgresql_where=sql("settled_at IS NULL"),
    ),
    Index("ix_quota_reservations_lease_until", "lease_until"),
    CheckConstraint("least(tokens, micro_dollars) >= 0", name="not_negative"),
)
