"""A strict stand-in for the Messages API, on loopback.

Refuses what the real one refuses, signs and checks thinking, simulates the prompt cache, streams,
counts, fails on demand, and records every request as it came.

    with StrictProvider() as provider:
        provider.reply(thinking("Hm."), tool_use("read_file", path="/a"))
        provider.fail(Status(529, "overloaded_error"))
        ...
        assert not provider.refusals
"""

from tests.fakes.strict_provider.faults import (
    Cut,
    EndEarly,
    ErrorEvent,
    Extra,
    Linger,
    Malformed,
    PingStorm,
    Silence,
    Status,
    Trickle,
)
from tests.fakes.strict_provider.replies import Reply, redacted, text, thinking, tool_use
from tests.fakes.strict_provider.server import Recorded, StrictProvider

__all__ = [
    "Cut",
    "EndEarly",
    "ErrorEvent",
    "Extra",
    "Linger",
    "Malformed",
    "PingStorm",
    "Recorded",
    "Reply",
    "Silence",
    "Status",
    "StrictProvider",
    "Trickle",
    "redacted",
    "text",
    "thinking",
    "tool_use",
]
