"""create_app(runtime): Flask, its routes and habits. No logic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask

from app.settings import BadSettings, Settings
from app.telemetry import logs
from app.telemetry import setup as telemetry

if TYPE_CHECKING:
    from app.runtime import Runtime


def from_environment() -> Flask:
    """The application as a WSGI server starts it: `gunicorn "app.web:from_environment()"`.

    Raises:
        SystemExit: the configuration is wrong; one line names every bad variable.
    """
    from app.runtime import build_runtime  # noqa: PLC0415 (see below)

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
    # Here, so that a server's parent process, which only looks for the factory, loads nothing else,
    # and bad settings are told before anything slow.
    from app.api import current, habits, routes  # noqa: PLC0415

    app = Flask("hango", static_folder=None, root_path=str(Path(__file__).parent / "api"))
    app.json = habits.Json(app)
    app.extensions[current.EXTENSION] = runtime
    app.config.update(
        MAX_CONTENT_LENGTH=runtime.settings.max_body_bytes,
        MAX_FORM_PARTS=200,
        API_TITLE="hango",
        API_VERSION="v1",
        OPENAPI_VERSION="3.1.0",
    )
    telemetry.watch_app(app)  # before the habits, so that what they do belongs to the trace
    habits.add(app, runtime)
    routes.add(app)
    return app
