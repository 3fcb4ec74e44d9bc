"""The Celery application: `celery -A workers.app worker`, and `beat` for what is periodic."""

from __future__ import annotations

import structlog
from celery import signals

from app.errors import Failure
from app.provider.choice import provider_for
from app.settings import BadSettings, Settings
from app.store.transaction import Database
from app.telemetry import logs
from app.telemetry import setup as telemetry
from workers import ablations, base, messages, runs, schedule, tries, upkeep

log = structlog.get_logger(__name__)

try:
    settings = Settings.from_environment()
except BadSettings as error:
    raise SystemExit(str(error)) from None

MODULES = (ablations, messages, runs, tries, upkeep)  # whose import registers the jobs

app = base.application(settings)
app.conf.beat_schedule = schedule.TABLE


@signals.worker_init.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _load_provider(**_: object) -> None:
    """So that the first call of a worker does not wait for it."""
    provider = provider_for(settings)
    provider.prepare()
    provider.close()


@signals.worker_ready.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _look_at_secrets(**_: object) -> None:
    """What cannot be opened is better known at the start than at the first call that needs it."""
    database = Database(settings, application_name="hango-worker")
    try:
        with database.system() as tx:
            unreadable = tx.secrets.counts().unreadable
        if unreadable:
            log.error("secrets_unreadable", number=unreadable)
    except Failure as failure:
        log.warning("secrets_unknown", code=failure.code)
    finally:
        database.dispose()


@signals.worker_process_shutdown.connect  # type: ignore[untyped-decorator]  # Celery has no types
@signals.worker_shutdown.connect  # type: ignore[untyped-decorator]
def _flush_telemetry(**_: object) -> None:
    """A pool's child ends without the steps that Python takes at an exit."""
    telemetry.stop()


@signals.setup_logging.connect  # type: ignore[untyped-decorator]  # Celery has no types
def _configure_logs(**_: object) -> None:
    logs.configure(settings.log_level)
