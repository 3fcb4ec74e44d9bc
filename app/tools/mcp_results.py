"""Results of MCP tools as content of a tool result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from app.domain.images import image_header
from app.domain.jsontext import clean_dumps
from app.domain.messages import Block
from app.domain.text import clean
from app.domain.tools import ToolOutcome
from app.domain.validity.media import image_findings

MAX_IMAGES = 4  # of one result
MAX_IMAGE_SIDE = 2000  # pixels: what a request with many images may hold
NOTHING = "The tool gave no content."
LEFT_OUT = "[hango has left out {}.]"


def outcome_of(result: Mapping[str, Any]) -> ToolOutcome:
    """What a result in the protocol's JSON comes to: text, and images that a provider takes.

    A failed one has text alone, as the Messages API demands.
    """
    is_error = bool(result.get("isError"))
    blocks = list(_blocks(result.get("content") or (), takes_images=not is_error))
    if not blocks and "structuredContent" in result:
        blocks = [_text(clean_dumps(result["structuredContent"]))]
    blocks = [each for each in blocks if each["type"] != "text" or each["text"].strip()]
    if not blocks:
        return ToolOutcome(NOTHING, is_error)
    if all(each["type"] == "text" for each in blocks):
        return ToolOutcome("\n\n".join(each["text"] for each in blocks), is_error)
    return ToolOutcome(blocks, is_error)


def _blocks(content: Sequence[Mapping[str, Any]], *, takes_images: bool) -> Iterator[Block]:
    images = 0
    for each in content:
        kind = each.get("type")
        if kind == "text":
            yield _text(each["text"])
        elif kind == "image":
            image = _image(each)
            images += 1
            if image is not None and takes_images and images <= MAX_IMAGES:
                yield image
            else:
                yield _text(LEFT_OUT.format("an image"))
        elif kind == "resource":
            yield _resource(each["resource"])
        elif kind == "resource_link":
            yield _text(f"{each.get('name', '')} {each.get('uri', '')}".strip())
        else:
            yield _text(LEFT_OUT.format(f"content of the type {str(kind)[:40]}"))


def _resource(resource: Mapping[str, Any]) -> Block:
    if "text" in resource:
        return _text(resource["text"])
    return _text(LEFT_OUT.format("a resource that is no text"))


def _image(content: Mapping[str, Any]) -> Block | None:
    """The image, if a provider takes it in whatever company."""
    source = {
        "type": "base64",
        "media_type": content.get("mimeType"),
        "data": content.get("data"),
    }
    if any(image_findings(source, ())):
        return None
    header = image_header(source["data"])
    if header is None or header.size is None or max(header.size) > MAX_IMAGE_SIDE:
        return None
    return {"type": "image", "source": source}


def _text(text: str) -> Block:
    return {"type": "text", "text": clean(text)}
