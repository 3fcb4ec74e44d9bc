"""Every error → application/problem+json (RFC 9457), in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from flask import Flask, Response, current_app
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import RoutingException

from app import errors
from app.api.current import request_id
from app.errors import Failure
from app.telemetry import logs

log = structlog.get_logger(__name__)

_OF_STATUS: Mapping[int, type[Failure]] = {
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    413: errors.TooLarge,
    415: errors.UnsupportedMediaType,
    503: errors.Unavailable,
}


class BadRequest(Failure):
    """The request itself is broken: a header, a form, a path that cannot be read."""

    status, code, title = 400, "bad_request", "The request cannot be read"


def register(app: Flask) -> None:
    """Answer every failure, expected or not, with a problem."""
    app.register_error_handler(Failure, _expected)
    app.register_error_handler(HTTPException, _from_http)
    app.register_error_handler(Exception, _unexpected)


def problem(failure: Failure) -> Response:
    """The JSON document that tells a client what went wrong and what to do."""
    body: dict[str, Any] = {
        "type": f"/docs/errors#{failure.code}",
        "title": failure.title,
        "status": failure.status,
        "code": failure.code,
        "request_id": request_id(),
    }
    if failure.detail:
        body["detail"] = failure.detail
    if failure.faults:
        body["errors"] = [
            {"at": fault.at, "code": fault.code, "detail": fault.detail} for fault in failure.faults
        ]
    body |= failure.extensions
    return Response(
        current_app.json.dumps(body),
        status=failure.status,
        headers=failure.headers,
        content_type="application/problem+json",
    )


def _expected(failure: Failure) -> Response:
    if isinstance(failure, errors.Internal):
        return _unexpected(failure)
    log.info(
        "refused",
        status=failure.status,
        code=failure.code,
        faults=[fault.code for fault in failure.faults[:10]],
    )
    return problem(failure)


def _from_http(error: HTTPException) -> Response:
    if isinstance(error, RoutingException) or error.response is not None:
        return error.get_response()  # type: ignore[return-value]
    status = error.code or 500
    if status >= 500 and status not in _OF_STATUS:
        return _unexpected(error)
    failure = _OF_STATUS.get(status, BadRequest)()
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        failure.headers["Allow"] = ", ".join(sorted(error.valid_methods))
    return _expected(failure)


def _unexpected(error: Exception) -> Response:
    said = str(error) if isinstance(error, errors.Internal) else None  # ours: no content in it
    log.error("unexpected_failure", kind=type(error).__name__, said=said, where=logs.where(error))
    return problem(errors.Internal())
