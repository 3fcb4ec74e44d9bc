"""/v1/web-session: who is signed in on the admin page."""

from __future__ import annotations

import contextlib
from datetime import datetime
from typing import Any

from flask import after_this_request
from werkzeug.wrappers import Response

from app.api import auth, web_cookie
from app.api.current import reading, runtime, transaction, transaction_of, web_session
from app.api.resource import Resource
from app.api.schemas.identity import SignInSchema, WebSessionSchema
from app.domain import web_sessions as tokens
from app.domain.ids import rfc3339
from app.domain.web_sessions import WebSession
from app.errors import NotFound
from app.services import web_sessions
from app.store.transaction import Transaction

blueprint = Resource("web_session", "Signing in on the admin page, which then shows a cookie.")


@blueprint.post("/web-session")
@blueprint.takes(SignInSchema)
@blueprint.gives(201, WebSessionSchema)
def create_web_session(body: dict[str, Any]) -> dict[str, Any]:
    """Sign in with an API key. The answer sets a new cookie, and ends what an old one named."""
    web_cookie.check_origin()
    signing_in = auth.gate().sign_in(body["key"])
    _end_earlier()
    with transaction_of(signing_in) as tx:
        begun, token = web_sessions.begin(tx, runtime().settings.web_session_lifetime)
        shown = _shown(tx, begun, token)

    @after_this_request
    def remember(response: Response) -> Response:
        web_cookie.give(response, token)
        return response

    return shown


@blueprint.get("/web-session")
@blueprint.gives(200, WebSessionSchema)
def get_web_session() -> dict[str, Any]:
    """Tell who is signed in, until when, and what X-CSRF-Token has to be."""
    with reading() as tx:
        return _shown(tx, web_session(), web_cookie.token() or "")


@blueprint.delete("/web-session")
@blueprint.gives(204)
def delete_web_session() -> None:
    """Sign out."""
    with transaction() as tx:
        web_sessions.end(tx, web_session())

    @after_this_request
    def forget(response: Response) -> Response:
        web_cookie.take_back(response)
        return response


def _end_earlier() -> None:
    earlier = auth.signed_in()
    if earlier is None:
        return
    with contextlib.suppress(NotFound), transaction_of(earlier.principal) as tx:
        web_sessions.end(tx, earlier.web_session)


def _shown(tx: Transaction, shown: WebSession, token: str) -> dict[str, Any]:
    idle = runtime().settings.web_session_idle
    unused_at = datetime.fromisoformat(shown.last_used_at) + idle
    return {
        "tenant": tx.tenants.current(),
        "user": tx.users.get(tx.principal.user_id),
        "role": tx.principal.role.value,
        "key": tx.keys.get(shown.key_id),
        "csrf_token": tokens.csrf_token(token),
        "created_at": shown.created_at,
        "expires_at": shown.expires_at,
        "idle_expires_at": min(rfc3339(unused_at), shown.expires_at),
    }
