"""How many pages a PDF has and what its text is, as far as that can be told in bounded time."""

from __future__ import annotations

import binascii
import io
import re
from importlib import import_module
from itertools import islice
from time import monotonic
from typing import Any, NamedTuple

from app.tokens.recent import Recent

MOST_BYTES_READ = 32 * 2**20  # the provider takes no more in one request
MOST_PAGES_READ = 24
MOST_CHARACTERS_READ = 200_000
MOST_STREAM_BYTES_READ = 2**20  # drawing commands, which is what extraction takes its time for
SECONDS = 2.0  # for files made to be slow: the bounds above keep an honest one well below

MOST_PAGES = 600  # the provider's limit
TYPICAL_PAGE_CHARACTERS = 7_000  # PDF support: a page's text is 1,500 to 3,000 tokens

_PAGE_OBJECT = re.compile(rb"/Type\s*/Page(?![a-zA-Z])")


class Pdf(NamedTuple):
    """What was read of a PDF."""

    pages: int  # at least one
    text: str  # of the first pages
    unread_characters: int  # guessed: what the other pages hold


_recent: Recent[Pdf] = Recent(64)


def read_pdf(base64_text: Any) -> Pdf:
    """The pages and text of a PDF in base64. Whatever cannot be read is guessed; never raises."""
    if not isinstance(base64_text, str):
        return _guess(1)
    return _recent.get(base64_text, _read)


def _read(base64_text: str) -> Pdf:
    try:
        data = binascii.a2b_base64(base64_text)
    except ValueError:
        return _guess(1)
    if len(data) <= MOST_BYTES_READ:
        try:
            return _read_pages(data)
        except Exception:  # noqa: BLE001, S110 - a damaged or hostile PDF raises anything
            pass
    return _guess(len(_PAGE_OBJECT.findall(data)))


def _guess(pages: int) -> Pdf:
    pages = min(max(pages, 1), MOST_PAGES)
    return Pdf(pages, "", pages * TYPICAL_PAGE_CHARACTERS)


def _read_pages(data: bytes) -> Pdf:
    # Imported here: it takes 0.3 s, and few processes ever see a PDF.
    reader = import_module("pypdf").PdfReader(io.BytesIO(data))
    pages = min(len(reader.pages), MOST_PAGES)
    if not pages:
        return _guess(1)
    texts = _texts(islice(reader.pages, MOST_PAGES_READ))
    text = "\n".join(texts)[:MOST_CHARACTERS_READ]
    each = len(text) // len(texts) if texts else TYPICAL_PAGE_CHARACTERS
    return Pdf(pages, text, (pages - len(texts)) * each)


def _texts(pages: Any) -> list[str]:
    """The texts of the first pages, until a bound is met."""
    texts: list[str] = []
    until, stream_bytes = monotonic() + SECONDS, 0
    for page in pages:
        contents = page.get_contents()
        stream_bytes += len(contents.get_data()) if contents is not None else 0
        if stream_bytes > MOST_STREAM_BYTES_READ or monotonic() > until:
            break
        texts.append(page.extract_text())
        if sum(map(len, texts)) > MOST_CHARACTERS_READ:
            break
    return texts
