"""Signing in on the admin page, and out again."""

from __future__ import annotations

from datetime import timedelta

import structlog

from app.domain import web_sessions
from app.domain.audit import Action
from app.domain.web_sessions import WebSession
from app.runtime import Runtime
from app.store.transaction import Transaction

log = structlog.get_logger(__name__)


def begin(tx: Transaction, lifetime: timedelta) -> tuple[WebSession, str]:
    """Begin a web session for the principal's key, and give its token: it is kept nowhere."""
    token = web_sessions.mint()
    begun = tx.web_sessions.add(web_sessions.token_hash(token), lifetime)
    tx.audit.add(Action.WEB_SIGN_IN, "web_session", begun.id, {})
    return begun, token


def end(tx: Transaction, web_session: WebSession) -> None:
    """End it at once and for good. Raises NotFound when it has ended in the meantime."""
    tx.web_sessions.end(web_session.id)
    tx.audit.add(Action.WEB_SIGN_OUT, "web_session", web_session.id, {})


def purge(runtime: Runtime) -> None:
    """Forget the web sessions of every tenant that are over."""
    with runtime.database.system() as system:
        purged = system.web_sessions.purge(runtime.settings.web_session_idle)
    log.info("web_sessions_purged", rows=purged)
