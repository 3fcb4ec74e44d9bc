"""What is thrown away when its time is over."""

from __future__ import annotations

import structlog

from app.runtime import Runtime

log = structlog.get_logger(__name__)


def purge_idempotency(runtime: Runtime) -> None:
    """Forget the idempotency keys of every tenant that have expired."""
    with runtime.database.system() as system:
        purged = system.idempotency.purge()
    log.info("idempotency_purged", rows=purged)
