"""Trajectories of SWE-agent, and of mini-swe-agent, whose commands are plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.importers import openai_chat
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.report import Tally


def is_trajectory(document: Document) -> bool:
    """Whether it is a trajectory file: the history, beside steps or the run's info."""
    value = document.value
    if not isinstance(value, dict):
        return False
    listed = value.get("history") or value.get("messages")
    marked = "trajectory" in value or "trajectory_format" in value or "replay_config" in value
    return isinstance(listed, list) and marked


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One conversation for each trajectory; demonstrations are no part of the run."""
    return [_draft(document.value) for document in documents]


def _draft(value: dict[str, Any]) -> Draft:
    tally = Tally()
    listed = [item for item in value.get("history") or value["messages"] if _is_message(item)]
    run = [item for item in listed if not item.get("is_demo")]
    tally.drop("demonstration", len(listed) - len(run))
    model = _model(value)
    return openai_chat.draft_of({"messages": run, "model": model}, "swe-agent", tally)


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("role"), str)


def _model(value: Any) -> str | None:
    for key in ("replay_config", "agent", "model", "name"):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None
