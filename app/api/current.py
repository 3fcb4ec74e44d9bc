"""What the request at hand works with: its runtime, its principal, its transaction."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import cast

from flask import current_app, g, request

from app.domain.audit import Origin
from app.domain.principals import Principal
from app.domain.web_sessions import WebSession
from app.runtime import Runtime
from app.store.transaction import Transaction
from app.telemetry import spans

EXTENSION = "hango"


def runtime() -> Runtime:
    """What this process is made of."""
    return cast(Runtime, current_app.extensions[EXTENSION])


def principal() -> Principal:
    """Who asks. Set by app/api/auth.py before any view runs."""
    return cast(Principal, g.principal)


def web_session() -> WebSession:
    """The web session that the request's cookie names, where one is what let it in."""
    return cast(WebSession, g.web_session)


def transaction() -> AbstractContextManager[Transaction]:
    """One unit of work through the principal's eyes; commits on a clean exit."""
    return transaction_of(principal())


def transaction_of(whose: Principal) -> AbstractContextManager[Transaction]:
    """The same through the eyes of somebody who was not let in by this request's headers."""
    ids = spans.ids()
    origin = Origin(
        request_id=request_id(),
        trace_id=ids.trace if ids else None,
        address=request.remote_addr,
    )
    return runtime().database.transaction(whose, origin)


def reading() -> AbstractContextManager[Transaction]:
    """The same, read-only."""
    return runtime().database.reading(principal())


def request_id() -> str:
    """The id of this request, as logs, problems and X-Request-Id name it."""
    return cast(str, g.get("request_id", ""))
