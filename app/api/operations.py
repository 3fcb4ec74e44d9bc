"""/healthz and /readyz: for those who run hango."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import structlog
from flask import Blueprint, Response, current_app

from app.api.current import runtime
from app.errors import Failure
from app.runtime import Runtime, redis_fails

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
    return [] if runtime().events.was_swept() else [_NO_SWEEP]


_NO_SWEEP = (
    "No sweep has run for a minute: what dead workers leave is not settled. "
    "Are beat and a worker of the queue upkeep running?"
)


def _database(runtime: Runtime) -> bool:
    return runtime.database.answers()


def _broker(runtime: Runtime) -> bool:
    return bool(runtime.redis.ping())


def _migrations(runtime: Runtime) -> bool:
    return runtime.database.is_current()


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
