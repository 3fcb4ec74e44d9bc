"""The tenant's own settings."""

from __future__ import annotations

from app.domain.audit import Action
from app.domain.tenants import Tenant
from app.store.transaction import Transaction


def change(tx: Transaction, *, trace_llm_content: bool | None = None) -> Tenant:
    """Change what is given; None leaves as it is.

    Raises:
        NotFound: the principal is no admin.
    """
    before = tx.tenants.current()
    if trace_llm_content in (None, before.trace_llm_content):
        return before
    after = tx.tenants.update(trace_llm_content=bool(trace_llm_content))
    detail = {"trace_llm_content": after.trace_llm_content}
    tx.audit.add(Action.TENANT_UPDATE, "tenant", after.id, detail)
    return after
