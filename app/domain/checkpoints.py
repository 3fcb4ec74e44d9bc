"""Checkpoints to be stored. What later requests read of one is `Checkpoint` in ports.py."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.domain.messages import NewMessage

Trigger = Literal["auto", "overflow", "manual", "background", "model_switch", "import"]


class NewCheckpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction that has succeeded: from now on requests start at its summary."""

    covers_seq: int  # messages 1 … this one are behind the summary
    summary: NewMessage  # as it is sent: role, blocks, count, preview, hash
    label: str
    origin: str  # what made the summary
    trigger: Trigger
    model: str | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
