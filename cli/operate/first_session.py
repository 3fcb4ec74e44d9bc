"""The sample: a recorded session of a coding agent, so that a new hango has something to show."""

from __future__ import annotations

import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

import yaml

from cli.http import Api, Problem

_SAMPLE = Path(__file__).with_name("sample")
_MEMORY = "/memories/AGENTS.md"


def ensure(api: Api, data: Path) -> str | None:
    """Import the sample, once for a data folder; the session's id.

    None: it was imported before, and somebody has deleted it since.
    """
    note = data / "sample.json"
    if note.exists():
        session_id = str(json.loads(note.read_text())["session_id"])
        return session_id if _still_there(api, session_id) else None
    made = api.create("v1", "imports", body=_import_body())
    if made["created"]:
        _furnish(api, made["agent_id"])
    note.write_text(json.dumps({"session_id": made["session_id"]}) + "\n")
    return str(made["session_id"])


def _import_body() -> dict[str, Any]:
    file = _SAMPLE / "session.json"
    return {"name": "sample.json", "content": file.read_text()}


def _furnish(api: Api, agent_id: str) -> None:
    """A memory file and a skill, so that every group of the context holds something."""
    api.put("v1", "agents", agent_id, "memory", _MEMORY, body={"content": _text("AGENTS.md")})
    _, front, body = _text("SKILL.md").split("---\n", 2)
    skill = yaml.safe_load(front)
    api.put(
        *("v1", "agents", agent_id, "skills", skill["name"]),
        body={
            "description": skill["description"],
            "body": body,
            "allowed_tools": skill["allowed-tools"].split(),
        },
    )


def _still_there(api: Api, session_id: str) -> bool:
    try:
        api.get("v1", "sessions", session_id)
    except Problem as problem:
        if problem.status != HTTPStatus.NOT_FOUND:
            raise
        return False
    return True


def _text(name: str) -> str:
    return (_SAMPLE / name).read_text()
