"""/healthz, /readyz and /metrics: for those who run hango."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

import structlog
from flask import Blueprint, Response, current_app, request

from app.api.current import runtime
from app.errors import Failure, NotFound, Unauthorized
from app.runtime import Runtime, redis_fails
from app.services import measures

blueprint = Blueprint("operations", __name__)

log = structlog.get_logger(__name__)


@blueprint.get("/healthz")
def alive() -> Response:
    """Say that this process answers."""
    return _answer({"status": "ok"}, 200)


@blueprint.get("/readyz")
def ready() -> Response:
    """Say whether everything that a request needs is there; 503 names what is not.

    `warnings` tell what makes no request fail, and yet should be looked after.
    """
    checks = {name: _passes(check) for name, check in _CHECKS.items()}
    fine = all(checks.values())
    shown = {name: "ok" if passed else "failing" for name, passed in checks.items()}
    told = {"status": "ok" if fine else "failing", "checks": shown, "warnings": _warnings()}
    return _answer(told, 200 if fine else 503)


def _warnings() -> list[str]:
    told = [] if runtime().events.was_swept() else [_NO_SWEEP]
    return told if _passes(_secrets) else [*told, _UNREADABLE]


_NO_SWEEP = (
    "No sweep has run for a minute: what dead workers leave is not settled. "
    "Are beat and a worker of the queue upkeep running?"
)


_UNREADABLE = (
    "Stored secrets cannot be opened: they were sealed with another key than HANGO_SECRET_KEY and "
    "HANGO_OLD_SECRET_KEY. `hango secrets check` counts them."
)


@blueprint.get("/metrics")
def metrics() -> Response:
    """Tell Prometheus what all processes together have to do, and have done.

    The figures are of every tenant, so no tenant's key opens this: only the token of those who
    run hango does. Without one it is not there.
    """
    wanted = runtime().settings.metrics_token
    if not wanted:
        raise NotFound
    shown = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not secrets.compare_digest(shown.encode(), wanted.encode()):
        raise Unauthorized(headers={"WWW-Authenticate": "Bearer"})
    found = measures.read(runtime())
    from app.telemetry import prometheus  # noqa: PLC0415 (slow to import, and rarely needed)

    return Response(
        prometheus.text(found),
        content_type=prometheus.CONTENT_TYPE,
        headers={"Cache-Control": "no-store"},
    )


def _database(runtime: Runtime) -> bool:
    return runtime.database.answers()


def _broker(runtime: Runtime) -> bool:
    return bool(runtime.redis.ping())


def _migrations(runtime: Runtime) -> bool:
    return runtime.database.is_current()


def _secrets(runtime: Runtime) -> bool:
    with runtime.database.system() as system:
        return not system.secrets.counts().unreadable


_CHECKS: Mapping[str, Callable[[Runtime], bool]] = {
    "database": _database,
    "broker": _broker,
    "migrations": _migrations,
}


def _passes(check: Callable[[Runtime], bool]) -> bool:
    try:
        return check(runtime())
    except (Failure, redis_fails(), OSError) as error:
        log.warning("not_ready", check=check.__name__, kind=type(error).__name__)
        return False


def _answer(body: Mapping[str, object], status: int) -> Response:
    return Response(
        current_app.json.dumps(body),
        status=status,
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )
