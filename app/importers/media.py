"""Images and documents of a source as a provider takes them."""

from __future__ import annotations

import binascii
import re
from typing import Any

from app.domain.images import image_format
from app.domain.messages import Block
from app.importers.report import Tally

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?[^,]{0,200}?(;base64)?,", re.ASCII)
_SOURCES = {"base64": "data", "url": "url", "file": "file_id", "text": "data", "content": "content"}


def image_from_url(url: object) -> Block:
    """An image block from a `data:` URL or a web address."""
    return {"type": "image", "source": _source(url)}


def document_from_data(data: object, title: object = None) -> Block:
    """A document block from a `data:` URL (a PDF)."""
    block: Block = {"type": "document", "source": _source(data)}
    return {**block, "title": title} if isinstance(title, str) and title.strip() else block


def placeholder(what: str) -> Block:
    """A text that stands where something could not be taken over."""
    return {"type": "text", "text": f"[{what}: not in the import]"}


def tidy_image(block: Block, tally: Tally) -> Block:
    """The image with the media type that its bytes have; a text in place of what is no image."""
    return _tidy(block, "image", ("base64", "url", "file"), tally)


def tidy_document(block: Block, tally: Tally) -> Block:
    """The document, or a text in place of one whose content is missing."""
    return _tidy(block, "document", ("base64", "url", "file", "text", "content"), tally)


def _tidy(block: Block, what: str, kinds: tuple[str, ...], tally: Tally) -> Block:
    source = block.get("source")
    if not isinstance(source, dict) or source.get("type") not in kinds or not _content(source):
        tally.drop(f"{what}_without_content")
        return placeholder(what)
    if source["type"] != "base64":
        return block
    data = "".join(source["data"].split()) if isinstance(source["data"], str) else ""
    media_type = _media_type(data)
    if media_type is None or media_type.startswith("image/") != (what == "image"):
        tally.drop(f"{what}_not_readable")
        return placeholder(what)
    if media_type != source.get("media_type"):
        tally.repair("media_type_corrected")
    return {**block, "source": {"type": "base64", "media_type": media_type, "data": data}}


def _content(source: dict[str, Any]) -> bool:
    content = source.get(_SOURCES[source["type"]])
    return bool(content.strip() if isinstance(content, str) else content)


def _source(url: object) -> dict[str, Any]:
    if not isinstance(url, str):
        return {}
    found = _DATA_URL.match(url)
    if found:
        return {"type": "base64", "media_type": found[1], "data": url[found.end() :]}
    if url.startswith(("https://", "http://")):
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": None, "data": url}


def _media_type(data: str) -> str | None:
    """What the bytes are, or None where they are no base64 of a kind that providers take."""
    try:
        head = binascii.a2b_base64(data, strict_mode=True)[:16]
    except ValueError:
        return None
    image = image_format(head)
    if image:
        return f"image/{image}"
    return "application/pdf" if head.startswith(b"%PDF") else None
