"""Structured logs: one JSON line an event, an event name and fields, never content."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import structlog

from app.telemetry import spans

_SECRETS = re.compile(r"(hk_[A-Za-z0-9]{2,}_|sk-ant-|Bearer\s+)[^\s\"',]+", re.IGNORECASE)


def configure(level: str) -> None:
    """Write events at `level` and above to standard output, as JSON lines."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            add_trace,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            mask_secrets,
            structlog.processors.JSONRenderer(default=str),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
        logger_factory=structlog.PrintLoggerFactory(),
        cache_logger_on_first_use=False,
    )


def adopt(library: str) -> None:
    """Let what a library logs by Python's own means come as our lines do.

    Only the pattern of its text is taken: what it fills in may be anybody's words.
    """
    logger = logging.getLogger(library)
    logger.handlers = [_Adopting(logging.WARNING)]
    logger.propagate = False


class _Adopting(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        told = structlog.get_logger(record.name)
        told.warning("library_warns", library=record.name, pattern=str(record.msg))


def add_trace(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Name the trace and the span that this happened in, where there are any."""
    if ids := spans.ids():
        event["trace_id"], event["span_id"] = ids
    return event


def mask_secrets(
    _logger: object, _method: str, event: MutableMapping[str, Any]
) -> MutableMapping[str, Any]:
    """Replace what looks like a key in any text field: a second wall, since none belongs there."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = _SECRETS.sub(r"\1***", value)
    return event


def where(error: BaseException) -> list[str]:
    """The frames of a traceback, innermost last, and the types of the errors.

    The errors' texts are left out: a driver's or a parser's message quotes what it was given.
    """
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames]
    cause = error.__cause__ or error.__context__
    inner = where(cause) if cause is not None else []
    return [*inner, *lines, type(error).__name__]
