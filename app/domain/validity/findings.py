"""Findings of the rules, before they become faults of a particular door.

The codes are those of the provider's rules and, where it has none of its own, `block_role`,
`compaction_place` and the `field_*` family for shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from app.errors import Fault

Path = tuple[str | int, ...]

# What the chain puts right in the outgoing request. A door lets it in; the validator of whole
# requests does not.
REPAIRED = frozenset(
    {
        "cache_mark_empty_text",
        "cache_mark_thinking",
        "system_msg_place",
        "thinking_last",
        "tool_error_not_text",
        "tool_result_not_first",
        "toolset_name_missing",
    }
)

MAX_FAULTS = 100  # of one check; nobody reads more, and a body of garbage has millions

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_$-]{1,64}", re.ASCII)


class Finding(NamedTuple):
    """One thing wrong, at a path within what was checked."""

    path: Path
    code: str
    detail: str


def at_door(findings: Iterable[Finding], at: str) -> list[Fault]:
    """What a door refuses, as faults below `at`: "messages[3].content[0].text"."""
    refused = (finding for finding in findings if finding.code not in REPAIRED)
    return [
        Fault(at + "".join(_bracketed(step) for step in path), code, detail)
        for path, code, detail in islice(refused, MAX_FAULTS)
    ]


def on_wire(findings: Iterable[Finding]) -> list[Fault]:
    """All of it, with the provider's way to write a path: "messages.3.content.0.text"."""
    return [
        Fault(".".join(str(step) for step in path), code, detail)
        for path, code, detail in islice(findings, MAX_FAULTS)
    ]


def key_path(path: Path, key: object) -> Path:
    """The path of a key that the sender chose; of the object around it when it is no plain name."""
    return (*path, key) if isinstance(key, str) and _PLAIN_KEY.fullmatch(key) else path


def _bracketed(step: str | int) -> str:
    return f"[{step}]" if isinstance(step, int) else f".{step}"
