"""Transcripts of the tests, and the judge of what an import makes of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.domain.blocks import index_blocks
from app.domain.catalogue import facts_for
from app.domain.validity import HistoryCheck, check_blocks, check_request, check_tools
from app.errors import Fault
from app.importers.reader import read
from app.importers.values import Imported, ImportedMessage, SourceFile

ROOT = Path(__file__).parents[2] / "data" / "transcripts"
FILES = sorted(str(path.relative_to(ROOT)) for path in ROOT.rglob("*.json*"))
LINES = [name for name in FILES if name.endswith(".jsonl")]


def source(name: str) -> SourceFile:
    return SourceFile(name, (ROOT / name).read_bytes())


def read_data(data: bytes | str) -> list[Imported]:
    return read([SourceFile("file", data.encode() if isinstance(data, str) else data)])


def read_json(value: Any) -> Imported:
    """The one conversation in a JSON document."""
    [imported] = read_data(json.dumps(value))
    return imported


def read_lines(*records: dict[str, Any]) -> list[Imported]:
    return read_data("\n".join(json.dumps(record) for record in records))


def faults(imported: Imported) -> list[Fault]:
    """Everything that keeps the history, and the next request, from being sent."""
    check = HistoryCheck(strict=True)
    found = check_tools(imported.tools, "tools")
    for at, message in enumerate(imported.messages):
        index = index_blocks(message.role, message.blocks)
        found += check_blocks(message.role, message.blocks, f"messages[{at}]")
        found += check.feed(
            message.role, index.tool_use_ids, index.tool_result_ids, index.marks, str(at)
        )
    return found + check.finish() + _request_faults(imported)


def _request_faults(imported: Imported) -> list[Fault]:
    model = imported.model or "claude-sonnet-4-5"
    messages = _next(imported).messages
    if messages[-1].role == "assistant":
        messages = [*messages, ImportedMessage("user", [{"type": "text", "text": "Go on."}])]
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": min(imported.max_tokens or 4096, facts_for(model).max_output),
        "messages": [{"role": m.role, "content": m.blocks} for m in messages],
    }
    if imported.system_blocks:
        body["system"] = [{"type": "text", "text": text} for text in imported.system_blocks]
    if imported.tools:
        body |= {"tools": imported.tools, "tool_choice": imported.tool_choice or {"type": "auto"}}
    body |= imported.parameters
    return check_request(body, facts_for(model))


def _next(imported: Imported) -> Imported:
    """What the next request starts from: the summary, and what it does not cover."""
    if imported.summary is None:
        return imported
    first = ImportedMessage("user", [{"type": "text", "text": imported.summary.text}])
    return replace(imported, messages=[first, *imported.messages[imported.summary.covers :]])


def blocks(imported: Imported, kind: str) -> list[dict[str, Any]]:
    return [b for m in imported.messages for b in m.blocks if b["type"] == kind]


def texts(imported: Imported) -> list[str]:
    return [block["text"] for block in blocks(imported, "text")]


def shape(imported: Imported) -> list[tuple[str, list[str]]]:
    """Role and block types of each message: "text" as the text itself."""
    return [
        (
            message.role,
            [b.get("text") or b.get("tool_use_id") or b.get("id") for b in message.blocks],
        )
        for message in imported.messages
    ]


# Records of Claude Code, with as little in them as a real one may have.


def record(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": kind, "content": content, **more.pop("message", {})}
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s"}
    return {**base, "message": message, **more}


def typed(uuid: str, parent: str | None, words: str, **more: Any) -> dict[str, Any]:
    return record("user", uuid, parent, words, **more)


def said(uuid: str, parent: str | None, *content: Any, of: str, **more: Any) -> dict[str, Any]:
    message = {"id": of, "model": "claude-opus-4-5", **more.pop("message", {})}
    return record("assistant", uuid, parent, list(content), message=message, **more)


def answered(uuid: str, parent: str | None, *call_ids: str, **more: Any) -> dict[str, Any]:
    return record("user", uuid, parent, [result(each) for each in call_ids], **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, name: str = "Read", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": given}


def result(call_id: str, content: Any = "done", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **more}
