"""create_app(runtime): Flask, its blueprints, request ids and headers. No logic."""

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

from app.api import (
    access,
    agents,
    attachments,
    audit,
    auth,
    context,
    current,
    files,
    imports,
    keys,
    me,
    memory,
    messages,
    operations,
    overrides,
    pages,
    problems,
    sessions,
    skills,
    users,
)
from app.api.paths import RestOfPath
from app.api.ratelimit import RateLimiter
from app.domain.ids import new_id
from app.runtime import Runtime, build_runtime
from app.settings import BadSettings, Settings
from app.telemetry import logs

log = structlog.get_logger(__name__)

RESOURCES = (
    me, agents, sessions, messages, context, overrides, memory, skills, files, attachments,
    imports, keys, users, audit,
)  # fmt: skip

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}", re.ASCII)
_FRAMING_BYTES = 2**20  # what a multipart body or JSON may hold around the bytes that are limited


def from_environment() -> Flask:
    """The application as a WSGI server starts it: `gunicorn "app.web:from_environment()"`.

    Raises:
        SystemExit: the configuration is wrong; one line names every bad variable.
    """
    try:
        settings = Settings.from_environment()
    except BadSettings as error:
        raise SystemExit(str(error)) from None
    logs.configure(settings.log_level)
    return create_app(build_runtime(settings))


def create_app(runtime: Runtime) -> Flask:
    """The HTTP side of hango on these parts.

    Raises:
        EndpointWithoutAccess: an endpoint has no row in app/api/access.py.
    """
    app = Flask("hango", static_folder=None, root_path=str(pages.ROOT))
    app.json = _Json(app)
    app.extensions[current.EXTENSION] = runtime
    app.config.update(
        MAX_CONTENT_LENGTH=runtime.settings.max_body_bytes,
        MAX_FORM_PARTS=200,
        API_TITLE="hango",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
    )
    app.url_map.merge_slashes = False  # a path names a file exactly: nothing is cleaned up
    app.url_map.converters["rest"] = RestOfPath
    _add_habits(app, runtime)
    _add_routes(app)
    access.check_table(app)
    return app


def _add_routes(app: Flask) -> None:
    app.register_blueprint(operations.blueprint)
    app.register_blueprint(pages.blueprint)
    api = pages.Document(app)
    for module in RESOURCES:
        api.register_blueprint(module.blueprint)
    problems.register(app)  # after flask-smorest, whose own handler it replaces


def _add_habits(app: Flask, runtime: Runtime) -> None:
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

    app.before_request(
        auth.Gate(RateLimiter(runtime.redis, runtime.settings.rate_limit_per_minute))
    )
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
    if request.is_secure:
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


class _Json(JSONProvider):
    """Answers with ids and times as texts, stored JSON as it is, and integers of any size."""

    def dumps(self, obj: Any, **_: Any) -> str:
        return _encoder.encode(obj).decode()

    def loads(self, s: str | bytes, **_: Any) -> Any:
        return msgspec.json.decode(s)
