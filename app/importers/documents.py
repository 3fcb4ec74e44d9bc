"""Bytes to JSON: a whole document or JSON Lines, told apart by content.

Real files are cut off, hold bad bytes and numbers, and lines of many megabytes. Whatever can be
read is read; a line that cannot is counted. Linear in the size of the file.
"""

from __future__ import annotations

import codecs
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from app.domain.text import clean_json
from app.errors import Fault, ImportRefused
from app.importers.values import SourceFile

MAX_DEPTH = 120  # levels of nesting; hango's own bodies take 200, with the request around

_UNCLEAN = re.compile(r"\\u(?:0000|[dD][89a-fA-F])|[\ud800-\udfff]")  # NUL, surrogates

_BYTE_ORDERS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),  # what a PowerShell redirection writes
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """The JSON of one file."""

    name: str
    value: Any  # the whole document; None for JSON Lines
    records: list[dict[str, Any]]  # the lines that are objects; of a document, the objects on top
    bad_lines: int = 0  # objects that are broken, cut off or too deep
    other_lines: int = 0  # no objects at all


def parse(file: SourceFile) -> Document:
    """Read a file as JSON or as JSON Lines.

    Raises:
        ImportRefused: no line of it is a JSON object; the fault names the first bad line.
    """
    data = _utf8(file.data)
    value = _load(data)
    if isinstance(value, dict):
        return Document(file.name, value, [value])
    if isinstance(value, list):
        return Document(file.name, value, [item for item in value if isinstance(item, dict)])
    return _lines(file.name, data)


def parse_text(text: str) -> Any:
    """The JSON value in a text of the source, or None where it is none."""
    return _load(text.encode("utf-8", "surrogatepass"))


def _lines(name: str, data: bytes) -> Document:
    records: list[dict[str, Any]] = []
    bad = other = first_bad = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        start = line.lstrip()[:1]
        value = _load(line) if start == b"{" else None
        if value is not None:
            records.append(value)
        elif start:
            first_bad = first_bad or number
            bad += start == b"{"
            other += start != b"{"
    if not records:
        raise _not_json(first_bad or 1)
    return Document(name, None, records, bad, other)


def _load(data: bytes) -> Any:
    try:
        text = data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text, strict=False, parse_constant=_no_number, parse_float=_number)
    except (ValueError, RecursionError):  # broken, an integer of thousands of digits, too deep
        return None
    if _UNCLEAN.search(text):
        value = None if _is_deep(value) else clean_json(value)
    deep = text.count("[") + text.count("{") > MAX_DEPTH and _is_deep(value)
    return None if deep else value


def _no_number(_name: str) -> None:
    """NaN and Infinity, which some recorders write, have no place in JSON."""


def _number(digits: str) -> float | None:
    number = float(digits)
    return number if math.isfinite(number) else None


def _is_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterator[Any]:
    inside = value.values() if isinstance(value, dict) else value
    return (child for child in inside if isinstance(child, (dict, list)))


def _utf8(data: bytes) -> bytes:
    for mark, encoding in _BYTE_ORDERS:
        if data.startswith(mark):
            text = data[len(mark) :]
            return text if encoding == "utf-8" else text.decode(encoding, "replace").encode()
    return data


def _not_json(line: int) -> ImportRefused:
    return ImportRefused(
        f"Neither a JSON document nor JSON Lines: line {line} is no JSON object.",
        faults=[Fault(f"line[{line}]", "not_json", "Give the file as its program wrote it.")],
    )
