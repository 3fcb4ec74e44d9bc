"""The text that stands in for a part: given, read from a file, or written in an editor."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli.exits import Exit, Stop
from cli.files import text_of
from cli.http import Api


def given(text: str | None, path: Path | None, edit: bool) -> str | None:
    """What --text or --file says; None with --edit.

    Raises:
        click.UsageError: not exactly one of the three was given.
    """
    if (text is not None) + (path is not None) + edit != 1:
        raise click.UsageError("Give one of --text, --file and --edit.")
    return text_of(path) if path else text


def edited(api: Api, session_id: str, part: str) -> str | None:
    """What somebody makes of the part's present text; None where that is nothing, or the same.

    Raises:
        Stop: the part has no one text, or what was written is not UTF-8.
        click.ClickException: the editor cannot be started, or failed.
    """
    if part.startswith("tool:"):
        raise Stop("A tool can be left out, not replaced.", exit_code=Exit.USAGE)
    found = api.get("v1", "sessions", session_id, "context", query={"full": part})
    before = _present_text(found["content"], part).encode("utf-8", "replace")
    after = click.edit(before, extension=".md", require_save=False) or b""
    if not before.endswith(b"\n"):
        after = after.removesuffix(b"\n")  # editors end every file with one
    if after == before or not after.strip():
        return None
    with kept_on_failure(after):
        return _decoded(after)


@contextmanager
def kept_on_failure(text: str | bytes) -> Iterator[None]:
    """Keep what somebody wrote in a file when it cannot be saved, and say where."""
    try:
        yield
    except Stop as stop:
        if text:
            stop.hint += f" What you wrote is kept in {_kept(text)}."
        raise


def _kept(text: str | bytes) -> str:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    handle, name = tempfile.mkstemp(prefix="hango-", suffix=".md")
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    return name


def _decoded(text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError:
        raise Stop("What was written is not UTF-8 text.", exit_code=Exit.USAGE) from None


def _present_text(content: Any, part: str) -> str:
    """What a replacement would stand for: a block's text, a result's content, a turn's texts."""
    if "role" not in content:
        return str(content["text"])
    blocks = content["content"]
    results = [block for block in blocks if block["type"] == "tool_result"]
    if content["role"] != "user" or not results:
        return _texts(blocks)
    if len(results) > 1:
        raise Stop(f"{part} holds several tool results.", "Leave it out by `exclude`.", Exit.USAGE)
    answer = results[0].get("content") or ""
    return answer if isinstance(answer, str) else _texts(answer)


def _texts(blocks: Iterable[Any]) -> str:
    return "\n\n".join(block["text"] for block in blocks if block["type"] == "text")
