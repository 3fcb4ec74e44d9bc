"""Text of unknown origin on a terminal: what must be made visible, and how wide the rest is.

Content is written by models, tools and strangers. A terminal obeys some of it (escape sequences),
reorders some of it (bidi controls) and hides some of it (zero-width and tag characters), so all of
these are shown as escapes. Nothing is ever read as markup: `[bold]` and `:memo:` are what they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from importlib import import_module
from typing import Any

# Outside C0: DEL and C1 (0x9b starts a control sequence like ESC [), bidi controls and isolates,
# line separators, characters without width that are not needed to write any language (the
# joiners U+200C and U+200D are), lone surrogates, tag characters.
_HIDDEN = (
    "\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
_UNSAFE = re.compile(f"[\x00-\x1f{_HIDDEN}]")
_UNSAFE_IN_LINES = f"[\x00-\x08\x0b-\x1f{_HIDDEN}]"
_UNSAFE_IN_JSON = f"[{_HIDDEN}]"

# Characters whose width every terminal agrees on: Latin letters and common punctuation take one
# column each; kana, Chinese characters, Hangul syllables and full-width forms take two. Texts of
# these alone are measured without the tables of wcwidth, which take longer to load than click.
_NARROW = "\xa0-\xac\xae-\u02ff\u2010-\u2015\u2018-\u2027\u2190-\u2193"
_WIDE = "\u3000-\u3029\u3041-\u3096\u309b-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60"
_PLAIN = re.compile(f"[ -~{_NARROW}{_WIDE}]*")

_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    """One line in which everything that a terminal would obey or hide is shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_escape, text)


def visible_lines(text: str) -> str:
    """As `visible`, but newlines and tabs stay."""
    return re.sub(_UNSAFE_IN_LINES, _escape, text)


def visible_json(document: str) -> str:
    """A JSON text with what a terminal would obey or hide as JSON escapes: the same document."""
    return re.sub(_UNSAFE_IN_JSON, lambda found: json.dumps(found[0])[1:-1], document)


def columns(text: str) -> int:
    """How many columns of a terminal `text` takes; it has passed `visible` before."""
    if text.isascii():
        return len(text)
    if _PLAIN.fullmatch(text):
        return len(text) + len(re.findall(f"[{_WIDE}]", text))
    width: int = _wcwidth().wcswidth(text)
    return max(0, width)


def cut(text: str, width: int) -> str:
    """`text` in at most `width` columns, with an ellipsis where something was left out."""
    if columns(text) <= width:
        return text
    if width < 1:
        return ""
    if text.isascii():
        return text[: width - 1] + "…"
    plain = _PLAIN.fullmatch(text)
    return _fitting(text if plain else _wcwidth().iter_graphemes(text), width - 1) + "…"


def _fitting(graphemes: Iterable[str], width: int) -> str:
    kept = []
    for grapheme in graphemes:
        width -= columns(grapheme)
        if width < 0:
            break
        kept.append(grapheme)
    return "".join(kept)


def _wcwidth() -> Any:
    return import_module("wcwidth")


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in _NAMED:
        return _NAMED[char]
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
