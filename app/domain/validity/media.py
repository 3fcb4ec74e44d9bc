"""Images and documents: sources, media types that are true, sizes within the provider's limits."""

from __future__ import annotations

import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from app.domain.images import image_header
from app.domain.validity.findings import Finding, Path
from app.domain.validity.shapes import TEXT, TEXT_OR_LIST, Shape, check_object, one_of

MAX_IMAGE_BYTES = 10 * 1024 * 1024  # as base64
MAX_IMAGE_SIDE = 8000  # pixels

_URL = Shape(required={"url": TEXT})
_FILE = Shape(required={"file_id": TEXT})
_IMAGE_SOURCES: Mapping[str, Shape] = {
    "base64": Shape(
        required={
            "data": TEXT,
            "media_type": one_of("image/jpeg", "image/png", "image/gif", "image/webp"),
        }
    ),
    "url": _URL,
    "file": _FILE,
}
_DOCUMENT_SOURCES: Mapping[str, Shape] = {
    "base64": Shape(required={"data": TEXT, "media_type": one_of("application/pdf")}),
    "text": Shape(required={"data": TEXT, "media_type": one_of("text/plain")}),
    "content": Shape(required={"content": TEXT_OR_LIST}),
    "url": _URL,
    "file": _FILE,
}
_PDF_HEADER_CHARACTERS = 1368  # base64 of the 1,024 bytes within which readers accept "%PDF-"


def image_findings(source: Any, path: Path) -> Iterator[Finding]:
    """What is wrong with the source of an image block."""
    if not isinstance(source, dict):
        return  # the block's own table says so
    faults = list(_source_findings(source, _IMAGE_SOURCES, path))
    yield from faults
    if not faults and source["type"] == "base64":
        yield from _encoded_image_findings(source, path)


def document_findings(source: Any, path: Path) -> Iterator[Finding]:
    """What is wrong with the source of a document block, its nested blocks left out."""
    if not isinstance(source, dict):
        return  # the block's own table says so
    faults = list(_source_findings(source, _DOCUMENT_SOURCES, path))
    yield from faults
    if faults:
        return
    if source["type"] == "text" and not source["data"].strip():
        yield Finding((*path, "data"), "text_empty", "The document has no text.")
    if source["type"] == "base64":
        yield from _encoded_pdf_findings(source["data"], (*path, "data"))


def _source_findings(
    source: Mapping[str, Any], shapes: Mapping[str, Shape], path: Path
) -> Iterator[Finding]:
    kind = source.get("type")
    if not isinstance(kind, str) or kind not in shapes:
        yield Finding((*path, "type"), "field_invalid", f"It is one of {', '.join(shapes)}.")
        return
    yield from check_object(source, shapes[kind], path)


def _encoded_image_findings(source: Mapping[str, Any], path: Path) -> Iterator[Finding]:
    data = source["data"]
    if len(data) > MAX_IMAGE_BYTES:
        yield Finding(
            (*path, "data"), "image_too_large", f"At most {MAX_IMAGE_BYTES} bytes of base64."
        )
        return
    header = image_header(data)
    if not _is_base64(data):
        yield Finding((*path, "data"), "base64_invalid", "This is not base64.")
    elif header is None:
        yield Finding((*path, "data"), "image_media_type", "No JPEG, PNG, GIF or WebP image.")
    elif source["media_type"] != f"image/{header.format}":
        yield Finding(
            (*path, "media_type"), "image_media_type", f"The bytes are of image/{header.format}."
        )
    elif header.size and max(header.size) > MAX_IMAGE_SIDE:
        yield Finding((*path, "data"), "image_too_large", f"At most {MAX_IMAGE_SIDE} px a side.")


def _encoded_pdf_findings(data: str, path: Path) -> Iterator[Finding]:
    if not _is_base64(data):
        yield Finding(path, "base64_invalid", "This is not base64.")
    elif b"%PDF-" not in binascii.a2b_base64(data[:_PDF_HEADER_CHARACTERS]):
        yield Finding(path, "document_media_type", "The bytes are not those of a PDF file.")


def _is_base64(data: str) -> bool:
    try:
        return bool(binascii.a2b_base64(data, strict_mode=True))
    except ValueError:
        return False
