"""Entries of a queue in Redis, as they lie there without Celery's help."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from app.domain.jobs import Job

CANARY = "canary-8215"  # stands in entries whose content must not be logged

_STRANGE_BYTES = [b"", b"canary-8215", b"\xff\xfe", b"null", b"12", b"[]", b"{}", b'"canary-8215"']
_STRANGE_VALUES: list[tuple[str, Any]] = [
    ("body", None),
    ("body", CANARY),
    ("body", base64.b64encode(b"canary-8215").decode()),
    ("body", base64.b64encode(b"[[], {}]").decode()),
    ("body", base64.b64encode(b"[" * 200_000).decode()),
    ("content-encoding", "canary-8215"),
    ("content-type", None),
    ("headers", None),
    ("headers", []),
    ("headers", {"task": Job.EXECUTE_RUN}),
    ("headers", {"task": [CANARY], "id": "1"}),
    ("headers", {"task": CANARY, "id": "1"}),
    ("headers", {"task": Job.EXECUTE_RUN, "id": "1", "timelimit": 5}),
    ("properties", None),
    ("properties", {"delivery_tag": "1", "body_encoding": "base64"}),
    ("properties", {"delivery_info": {"exchange": "", "routing_key": "runs"}}),
]


def job_message(
    queue: str, task: str = Job.EXECUTE_RUN, body: Any = ((), {}, {})
) -> dict[str, Any]:
    """A job as Celery would send it."""
    return {
        "body": base64.b64encode(json.dumps(body).encode()).decode(),
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": task, "id": str(uuid4()), "lang": "py"},
        "properties": {
            "body_encoding": "base64",
            "delivery_tag": str(uuid4()),
            "delivery_info": {"exchange": "", "routing_key": queue},
        },
    }


def strange_entries(queue: str) -> Iterator[bytes]:
    """What a worker cannot take apart: bytes that are no message, and messages of a wrong shape."""
    yield from _STRANGE_BYTES
    yield b"[" * 200_000
    for key, value in _STRANGE_VALUES:
        yield json.dumps(job_message(queue) | {key: value}).encode()
