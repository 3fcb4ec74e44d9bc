"""The provider's own count of a request, beside hango's estimate: only where one asks for it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog

from app.domain.snapshots import Snapshot
from app.provider.base import TokenCounter
from app.provider.failures import ProviderFailure
from app.runtime import Runtime

log = structlog.get_logger(__name__)

PATIENCE = 2.0  # seconds: whoever looks at a context has the estimate already
NOT_OFFERED = "not_offered"
NOTHING_TO_SEND = "nothing_to_send"


def with_provider_count(runtime: Runtime, shown: Snapshot, body: Mapping[str, Any]) -> Snapshot:
    """The snapshot with the provider's count of `body`, or with why there is none.

    The parts and their sums stay estimates: no provider counts parts. Ends within `PATIENCE`.
    """
    totals = shown.totals
    if not shown.sendable:
        totals = msgspec.structs.replace(totals, not_counted=NOTHING_TO_SEND)
    elif not isinstance(runtime.provider, TokenCounter):
        totals = msgspec.structs.replace(totals, not_counted=NOT_OFFERED)
    else:
        runtime.provider.prepare()  # a web process has not called it yet
        try:
            tokens = runtime.provider.count_tokens(body, deadline=time.monotonic() + PATIENCE)
        except ProviderFailure as failure:
            log.warning("provider_did_not_count", code=failure.code, model=shown.model)
            totals = msgspec.structs.replace(totals, not_counted=failure.code)
        else:
            totals = msgspec.structs.replace(totals, counted="provider", provider_tokens=tokens)
    return msgspec.structs.replace(shown, totals=totals)
