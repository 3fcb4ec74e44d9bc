"""What an image is and how large, read from its first bytes. Never raises on garbage."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

Format = Literal["jpeg", "png", "gif", "webp"]
Size = tuple[int, int]  # width, height, in pixels

_HEADER_CHARACTERS = 64 * 1024  # of base64; a multiple of four

# JPEG: frames of all coding processes; C4, C8 and CC in this range are something else.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_BARE = frozenset({0x01, *range(0xD0, 0xD9)})  # markers without a length
_JPEG_NOT_FILL = re.compile(rb"[^\xff]")  # any number of FF may stand before a marker
_JPEG_MOST_SEGMENTS = 4096  # real files have some dozens before the frame


class ImageHeader(NamedTuple):
    """What the bytes of an image say about it."""

    format: Format
    size: Size | None  # None where the bytes end before they tell


def image_format(data: bytes) -> Format | None:
    """The format that the magic number at the start of `data` stands for."""
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    return None


def image_size(data: bytes) -> Size | None:
    """Width and height in pixels of a JPEG, PNG, GIF or WebP image, or None.

    Turning by EXIF is not applied: limits and token counts don't depend on it.
    """
    kind = image_format(data)
    size = _SIZES[kind](data) if kind else None
    return size if size and min(size) > 0 else None


def image_header(base64_text: Any) -> ImageHeader | None:
    """Format and size of a base64 image, without decoding more of it than they need.

    None for whatever is not base64 of one of the four formats.
    """
    if not isinstance(base64_text, str):
        return None
    start = _decoded(base64_text[:_HEADER_CHARACTERS])
    kind = image_format(start)
    if kind is None:
        return None
    size = image_size(start)
    if size is None and len(base64_text) > _HEADER_CHARACTERS:
        size = image_size(_decoded(base64_text))  # a JPEG with a long preamble: EXIF, profiles
    return ImageHeader(kind, size)


def _decoded(base64_text: str) -> bytes:
    try:
        return binascii.a2b_base64(base64_text + "==")  # padding that is too long is no error
    except ValueError:  # a single character left over, or characters beyond ASCII
        return b""


def _png_size(data: bytes) -> Size | None:
    return (_big(data, 16, 4), _big(data, 20, 4)) if len(data) >= 24 else None


def _gif_size(data: bytes) -> Size | None:
    return (_little(data, 6, 2), _little(data, 8, 2)) if len(data) >= 10 else None


def _webp_size(data: bytes) -> Size | None:
    chunk = data[12:16] if len(data) >= 30 else b""
    if chunk == b"VP8X":  # extended: canvas size less one
        return _little(data, 24, 3) + 1, _little(data, 27, 3) + 1
    if chunk == b"VP8L":  # lossless: 14 bits each, less one
        bits = _little(data, 21, 4)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":  # lossy: 14 bits each, two bits of scaling above
        return _little(data, 26, 2) & 0x3FFF, _little(data, 28, 2) & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> Size | None:
    """Walk the marker segments up to the frame header."""
    at = 2
    for _ in range(_JPEG_MOST_SEGMENTS):
        if data[at : at + 1] != b"\xff":
            return None
        after_fill = _JPEG_NOT_FILL.search(data, at + 1)
        at = after_fill.start() if after_fill else len(data)
        if at + 8 > len(data):
            return None
        marker = data[at]
        if marker in _JPEG_FRAMES:
            return _big(data, at + 6, 2), _big(data, at + 4, 2)
        at += 1 if marker in _JPEG_BARE else 1 + _big(data, at + 1, 2)
    return None


def _big(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "big")


def _little(data: bytes, at: int, length: int) -> int:
    return int.from_bytes(data[at : at + length], "little")


_SIZES: dict[Format, Callable[[bytes], Size | None]] = {
    "png": _png_size,
    "gif": _gif_size,
    "webp": _webp_size,
    "jpeg": _jpeg_size,
}
