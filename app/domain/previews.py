"""Labels and previews: a part in one short line for people.

A preview shows the start of the text and says what else is there, never what bytes it has:

    I'll look. [tool_use read_file] path=/src/a.py
    [tool_result for read_file] import os …
    What is this? [image 800×600 png]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import regex

from app.domain.images import image_header
from app.domain.jsontext import dumps
from app.domain.parts import PartId
from app.domain.text import clean

MAX_CHARACTERS = 200
MAX_LABEL_CHARACTERS = 80

_MAX_ARGUMENTS = 8
_MAX_ARGUMENT_CHARACTERS = 80
_LONGEST_FLAG = 64  # characters that are kept or shown together
_NO_NAMES: Mapping[str, str] = {}

_LAST_ASCII_PAIR = regex.compile(r"[ -~][ -~]", regex.REVERSE)
_GRAPHEME = regex.compile(r"\X")
# What shows nothing, or turns the direction of what stands beside it. The joiners U+200C and
# U+200D stay: scripts and emoji need them. So do tag characters, in the flag that they spell.
_HIDDEN = regex.compile(
    r"(?P<flag>\U0001F3F4[\U000E0020-\U000E007E]+\U000E007F)"
    r"|[\x00-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    r"\ufeff\ufff9-\ufffb\U000E0000-\U000E007F]"
)


def preview_text(text: str, limit: int = MAX_CHARACTERS) -> str:
    """The start of `text` on one line, of at most `limit` characters.

    Whitespace is folded, what is invisible is shown as an escape, and a cut falls between
    graphemes and ends in "…". Reads no more of a long text than it shows.
    """
    return _cut(_folded(text, limit), limit)


def preview(_role: str, blocks: Iterable[Any], names: Mapping[str, str] = _NO_NAMES) -> str:
    """One line about a message, of at most 200 characters.

    `names` tells the tool that each tool_use id called, for the results of earlier calls.
    """
    pieces: list[str] = []
    length = 0
    for block in blocks:
        piece = _block(block, names)
        if not piece:
            continue
        pieces.append(piece)
        length += len(piece) + 1
        if length > MAX_CHARACTERS + 1:
            break
    return _cut(" ".join(pieces), MAX_CHARACTERS)


def message_label(seq: int, role: str) -> str:
    """What people call a persisted message: "#12 assistant"."""
    return f"#{seq} {role}"


def part_label(part: PartId) -> str:
    """What people call any other part: a tool's name, a file's path, the contributor."""
    kind, _, name = part.partition(":")
    _, _, path = name.partition(":")
    said = (path or name) if kind == "system" else (name or kind)
    return preview_text(said, MAX_LABEL_CHARACTERS)


def _folded(text: str, limit: int) -> str:
    """`text` on one line, as it is or cut anywhere beyond `limit` characters."""
    wanted = limit + _LONGEST_FLAG
    looked_at = 4 * wanted
    line = " ".join(text[:looked_at].split())
    while len(line) <= wanted and looked_at < len(text):  # mostly whitespace so far
        looked_at *= 8
        line = " ".join(text[:looked_at].split())
    line = line[: wanted + 1]
    return line if line.isascii() and line.isprintable() else _HIDDEN.sub(_shown, clean(line))


def _shown(match: regex.Match[str]) -> str:
    character = match.group()
    if match["flag"]:
        return character
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures: ␛ for escape
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _cut(line: str, limit: int) -> str:
    if len(line) <= limit:
        return line
    end = limit - 1  # one character for the ellipsis
    if not line[: limit + 1].isascii():
        end = _last_boundary(line[: limit + 1], end)
    return line[:end].rstrip() + "…"


def _last_boundary(line: str, most: int) -> int:
    """The last place at `most` or before it where no grapheme would be cut.

    Where the first one is longer than that, such as a letter with hundreds of accents, it is cut:
    some of it is better than nothing.
    """
    pair = _LAST_ASCII_PAIR.search(line, 0, most + 1)  # no grapheme goes on from one to the other
    start = pair.end() - 1 if pair else 0
    ends = (grapheme.end() for grapheme in _GRAPHEME.finditer(line, start))
    return max((end for end in ends if end <= most), default=start) or most


def _block(block: Any, names: Mapping[str, str]) -> str:
    if not isinstance(block, Mapping):
        return "[unknown]"
    kind = block.get("type")
    if not isinstance(kind, str):
        return "[unknown]"
    show = _SHOWS.get(kind)
    return show(block, names) if show else f"[{_name(kind)}]"


def _text(block: Mapping[str, Any], _names: Mapping[str, str]) -> str:
    return _start(block.get("text"))


def _image(block: Mapping[str, Any], _names: Mapping[str, str]) -> str:
    source = _mapping(block.get("source"))
    header = image_header(source.get("data"))
    if header is None:
        return (
            f"[image {_name(source.get('url') or source.get('media_type') or source.get('type'))}]"
        )
    size = f"{header.size[0]}×{header.size[1]} " if header.size else ""
    return f"[image {size}{header.format}]"


def _document(block: Mapping[str, Any], _names: Mapping[str, str]) -> str:
    source = _mapping(block.get("source"))
    kind = "pdf" if source.get("type") == "base64" else source.get("type")
    return f"[document {_name(block.get('title') or source.get('url') or kind)}]"


def _call(block: Mapping[str, Any], _names: Mapping[str, str]) -> str:
    arguments = _arguments(block.get("input"))
    mark = f"[{block['type']} {_name(block.get('name'))}]"
    return f"{mark} {arguments}" if arguments else mark


def _result(block: Mapping[str, Any], names: Mapping[str, str]) -> str:
    call = block.get("tool_use_id")
    name = names.get(call, call) if isinstance(call, str) else call
    mark = f"[tool_result for {_name(name)}]" + (" error:" if block.get("is_error") is True else "")
    content = block.get("content")
    shown = _start(content) if isinstance(content, str) else _nested(content, names)
    return f"{mark} {shown}" if shown else mark


def _nested(content: Any, names: Mapping[str, str]) -> str:
    blocks = islice(content, MAX_CHARACTERS) if isinstance(content, list) else ()
    return " ".join(filter(None, _until_full(_block(block, names) for block in blocks)))


def _until_full(pieces: Iterable[str]) -> Iterator[str]:
    length = 0
    for piece in pieces:
        yield piece
        length += len(piece)
        if length > MAX_CHARACTERS:
            return


def _arguments(arguments: Any) -> str:
    given = islice(_mapping(arguments).items(), _MAX_ARGUMENTS)
    return " ".join(f"{_name(name)}={_argument(value)}" for name, value in given)


def _argument(value: Any) -> str:
    if isinstance(value, str):
        return preview_text(value, _MAX_ARGUMENT_CHARACTERS)
    if isinstance(value, Mapping):
        return "{…}" if value else "{}"
    if isinstance(value, list):
        return "[…]" if value else "[]"
    return dumps(value)[:_MAX_ARGUMENT_CHARACTERS]


def _start(text: Any) -> str:
    return _folded(text, MAX_CHARACTERS) if isinstance(text, str) else ""


def _name(value: Any) -> str:
    return preview_text(value, _MAX_ARGUMENT_CHARACTERS) if isinstance(value, str) else "?"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


_SHOWS: Mapping[str, Callable[[Mapping[str, Any], Mapping[str, str]], str]] = {
    "text": _text,
    "image": _image,
    "document": _document,
    "tool_use": _call,
    "server_tool_use": _call,
    "mcp_tool_use": _call,
    "tool_result": _result,
}
