"""What a server outside has answered, as text for a model."""

from __future__ import annotations

import re

from app.domain.text import clean
from app.domain.tools import ToolOutcome
from app.tools.messages import Incoming

CUT = "\n\n[hango has read the first {} bytes of the answer; the rest is left out.]"
EMPTY = "The server answered {} without any content."
NO_TEXT = "The server answered {} with {} bytes of {}, which is no text."
REDIRECT = "The server answered {}: it has moved. hango follows no redirect."

# What the web still has. Python knows more, among them codecs that are slow on purpose-made input.
_CHARSET = re.compile(
    r"utf-?8|utf-16(be|le)?|us-ascii|iso-8859-\d{1,2}|windows-125\d|koi8-[ru]|shift_jis|euc-(jp|kr)"
    r"|gb(k|2312|18030)|big5",
    re.ASCII,
)
_TEXTUAL = (
    "application/json",
    "application/javascript",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "application/xml",
    "application/yaml",
)


def outcome_of(answer: Incoming) -> ToolOutcome:
    """What an HTTP tool's call came to: only an answer 2xx that is text is none of failure."""
    if 300 <= answer.status < 400:
        return ToolOutcome(REDIRECT.format(answer.status), is_error=True)
    failed = not 200 <= answer.status < 300
    if not answer.body:
        return ToolOutcome(EMPTY.format(answer.status), is_error=failed)
    text = _text(answer)
    if text is None:
        kind = clean(answer.content_type.partition(";")[0].strip())[:100] or "an unknown type"
        size = f"more than {len(answer.body)}" if answer.is_cut else str(len(answer.body))
        return ToolOutcome(NO_TEXT.format(answer.status, size, kind), is_error=True)
    if answer.is_cut:
        text += CUT.format(len(answer.body))
    if failed:
        text = f"The server answered {answer.status}.\n\n{text}"
    return ToolOutcome(text, is_error=failed)


def _text(answer: Incoming) -> str | None:
    """The body as text; None where it is none. What says nothing of itself is text if it can be."""
    kind, _, parameters = answer.content_type.partition(";")
    kind = kind.strip()
    if not kind:
        text = _decoded(answer.body, "utf-8", strict=not answer.is_cut)
        return None if text is None else clean(text)
    if not (kind.startswith("text/") or kind in _TEXTUAL or kind.endswith(("+json", "+xml"))):
        return None
    text = _decoded(answer.body, _charset(parameters), strict=False)
    return None if text is None else clean(text)


def _charset(parameters: str) -> str:
    for each in parameters.split(";"):
        name, _, value = each.strip().partition("=")
        if name == "charset":
            charset = value.strip().strip('"')
            return charset if _CHARSET.fullmatch(charset) else "utf-8"
    return "utf-8"


def _decoded(body: bytes, charset: str, *, strict: bool) -> str | None:
    try:
        return body.decode(charset, "strict" if strict else "replace")
    except (UnicodeError, LookupError):  # iso-8859-99 looks like a charset and is none
        return None if strict else body.decode("utf-8", "replace")
