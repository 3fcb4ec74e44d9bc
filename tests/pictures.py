"""Images for tests: real ones, and headers of any size."""

from __future__ import annotations

import base64
import struct
from io import BytesIO

from PIL import Image


def picture(kind: str, width: int = 8, height: int = 6, **options: object) -> bytes:
    """A real image file, as Pillow writes it."""
    out = BytesIO()
    Image.new("RGB", (width, height), (200, 30, 30)).save(out, kind, **options)
    return out.getvalue()


def png_header(width: int, height: int) -> bytes:
    """The start of a PNG file of any size."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x02\0\0\0"


def image_block(data: bytes, media_type: str = "image/png") -> dict[str, object]:
    """An image block that holds these bytes."""
    return {
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": media_type,
            "data": base64.b64encode(data).decode(),
        },
    }
