"""Content as the many recorders write it, to Anthropic's blocks.

One reader for all of them, since they copy each other: OpenAI's chat and Responses parts,
LangChain's, Inspect's and Vercel's, and Anthropic's own, which pass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from app.domain.messages import Block
from app.importers.media import document_from_data, image_from_url, placeholder
from app.importers.report import Tally, kind

_TEXTS = ("text", "input_text", "output_text")
_IMAGES = ("image_url", "input_image", "image")
_REASONING = ("reasoning", "thoughts", "reasoning_content", "summary_text")
_FILES = ("file", "input_file", "document")
_MEDIA = ("input_audio", "audio", "video", "video_url")


def blocks_of(content: Any, tally: Tally) -> list[Block]:
    """The blocks of a message's content: a string, a list of parts, one part, or nothing."""
    if content is None:
        return []
    if isinstance(content, list):
        return [block for part in content for block in _part(part, tally)]
    return _part(content, tally)


def _part(part: Any, tally: Tally) -> list[Block]:
    if isinstance(part, str):
        return [{"type": "text", "text": part}] if part.strip() else []
    if not isinstance(part, dict):
        tally.drop("part_not_an_object")
        return []
    name = part.get("type")
    for names, read in _READERS:
        if name in names:
            return read(part, tally)
    return _untyped(part, tally)


def _text(part: dict[str, Any], tally: Tally) -> list[Block]:
    text = part.get("text")
    if "cache_control" in part:
        tally.repair("cache_marks_removed")
    if not isinstance(text, str) or not text.strip():
        return []
    return [{"type": "text", "text": text}]


def _image(part: dict[str, Any], _tally: Tally) -> list[Block]:
    if isinstance(part.get("source"), dict):
        return [part]
    url = part.get("image_url", part.get("image"))
    url = url.get("url") if isinstance(url, dict) else url
    return [image_from_url(url)]


def _file(part: dict[str, Any], tally: Tally) -> list[Block]:
    if isinstance(part.get("source"), dict):
        return [part]
    file = part["file"] if isinstance(part.get("file"), dict) else part
    data = file.get("file_data") or file.get("data")
    if isinstance(data, str):
        return [document_from_data(data, file.get("filename"))]
    tally.drop("file_without_content")
    return [placeholder("file")]


def _refusal(part: dict[str, Any], tally: Tally) -> list[Block]:
    tally.repair("refusal_made_text")
    text = part.get("refusal")
    return [{"type": "text", "text": f"[refusal] {text}"}] if isinstance(text, str) else []


def _reasoning(_part: dict[str, Any], tally: Tally) -> list[Block]:
    tally.drop("reasoning_of_another_provider")
    return []


def _media(_part: dict[str, Any], tally: Tally) -> list[Block]:
    tally.drop("audio_or_video")
    return [placeholder("audio or video")]


def _call(part: dict[str, Any], _tally: Tally) -> list[Block]:
    given = part.get("args", part.get("input"))
    call_id, name = part.get("toolCallId"), part.get("toolName")
    return [{"type": "tool_use", "id": call_id, "name": name, "input": given}]


def _result(part: dict[str, Any], tally: Tally) -> list[Block]:
    output = part.get("result", part.get("output"))
    if isinstance(output, dict) and "value" in output:
        output = output["value"]
    return [result(part.get("toolCallId"), output, tally)]


def result(call_id: Any, content: Any, tally: Tally, *, failed: bool = False) -> Block:
    """A tool result of any content; what is neither text nor parts is kept as JSON text."""
    block: Block = {"type": "tool_result", "tool_use_id": call_id}
    if isinstance(content, list) and all(_is_part(part) for part in content):
        block["content"] = blocks_of(content, tally)
    else:
        block["content"] = content
    return {**block, "is_error": True} if failed else block


def _is_part(part: Any) -> bool:
    return isinstance(part, dict) and any(part.get("type") in names for names, _ in _READERS)


def _untyped(part: dict[str, Any], tally: Tally) -> list[Block]:
    """Anthropic's own blocks pass; parts that only have a text are text."""
    if isinstance(part.get("type"), str):
        return [part]
    if isinstance(part.get("text"), str):
        return _text(part, tally)
    tally.drop(f"part:{kind(part.get('part_kind'))}")
    return []


_Read = Callable[[dict[str, Any], Tally], list[Block]]
_READERS: tuple[tuple[tuple[str, ...], _Read], ...] = (
    (_TEXTS, _text),
    (_IMAGES, _image),
    (_FILES, _file),
    (("refusal",), _refusal),
    (_REASONING, _reasoning),
    (_MEDIA, _media),
    (("tool-call",), _call),
    (("tool-result",), _result),
)
