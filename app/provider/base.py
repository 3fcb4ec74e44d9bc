"""What a model provider does for hango."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from app.domain.responses import Response

Event = Mapping[str, Any]  # one event of the Messages API's stream, as parsed
OnEvent = Callable[[Event], None]
Cancelled = Callable[[], bool]


def never() -> bool:
    """For calls that nobody cancels."""
    return False


def unheard(_event: Event) -> None:
    """For calls whose events nobody follows."""


class Provider(Protocol):
    """Answers model requests."""

    name: str  # "anthropic" or "offline"

    def prepare(self) -> None:
        """Load what the first call would otherwise wait for: seconds, on a busy machine.

        For workers, at their start. Opens no connection.
        """

    def complete(
        self,
        body: Mapping[str, Any],
        *,
        deadline: float,
        on_event: OnEvent = unheard,
        cancelled: Cancelled = never,
    ) -> Response:
        """Send a request body (see `wire.body`) and wait for the whole answer.

        Ends by `deadline`, a moment of `time.monotonic()`, whatever the provider does: retries
        happen within it. `on_event` sees each event of the answer as it arrives, pings left out;
        what it raises ends the call. `cancelled` is asked about twice a second, in any pool.

        Raises:
            ProviderFailure: see `app.provider.failures`. Nothing of the content is in it.
        """

    def close(self) -> None:
        """Close the connections. Calls that still run lose theirs."""


@runtime_checkable
class TokenCounter(Protocol):
    """A provider that can count a request exactly, without answering it."""

    def count_tokens(
        self, body: Mapping[str, Any], *, deadline: float, cancelled: Cancelled = never
    ) -> int:
        """The input tokens of a request. One attempt: who asks has an estimate to fall back on.

        Raises:
            ProviderFailure: there is no exact count now. Never a reason to fail the caller's work.
        """
