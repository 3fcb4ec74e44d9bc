"""What every request gets: an id, a limit for its body, a log line, and safe headers."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from flask import Flask, g, request
from flask.json.provider import JSONProvider
from werkzeug.wrappers import Response

from app.api import auth, current
from app.domain.ids import new_id
from app.runtime import Runtime
from app.settings import Settings

log = structlog.get_logger(__name__)

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_FRAMING_BYTES = 2**20  # what a multipart body or JSON may hold around the bytes that are limited


def add(app: Flask, runtime: Runtime) -> None:
    """Put them before and after every view, and the gate behind the first."""
    limits = _body_limits(runtime.settings)

    @app.before_request
    def begin() -> None:
        g.started = time.perf_counter()
        g.request_id = _request_id()
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=g.request_id)
        request.max_content_length = limits.get(
            request.endpoint or "", runtime.settings.max_body_bytes
        )

    gate = auth.Gate(runtime.redis, runtime.settings.rate_limit_per_minute)
    app.extensions[auth.EXTENSION] = gate
    app.before_request(gate)
    app.after_request(_finish)


def _body_limits(settings: Settings) -> Mapping[str, int]:
    base64_bytes = settings.max_attachment_bytes * 4 // 3
    return {
        "imports.create_import": settings.max_import_bytes + _FRAMING_BYTES,
        "attachments.create_attachment": base64_bytes + _FRAMING_BYTES,
    }


def _request_id() -> str:
    given = request.headers.get("X-Request-Id", "")
    return given if _REQUEST_ID.fullmatch(given) else str(new_id())


def _finish(response: Response) -> Response:
    headers = response.headers
    headers["X-Request-Id"] = current.request_id()
    headers.extend(g.get("rate_headers", {}))
    for name, value in _SECURITY.items():
        headers.setdefault(name, value)
    if request.path.startswith("/v1"):
        headers["Cache-Control"] = "no-store"
    if request.is_secure or current.runtime().settings.public_url.startswith("https:"):
        headers["Strict-Transport-Security"] = "max-age=31536000"
    # The rule and not the path: paths name memory files, and names are content.
    log.info(
        "request",
        method=request.method,
        route=str(request.url_rule),
        status=response.status_code,
        milliseconds=round((time.perf_counter() - g.started) * 1000, 1),
    )
    return response


_SECURITY = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


_encoder = msgspec.json.Encoder(enc_hook=str)


class Json(JSONProvider):
    """Answers with ids and times as texts, stored JSON as it is, and integers of any size."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return _encoder.encode(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return msgspec.json.decode(s)
