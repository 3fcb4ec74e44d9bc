"""JSON in and out: strict about what comes from outside, compact and stable in what is kept."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

import msgspec

from app.domain.text import clean_json
from app.errors import MalformedBody

MAX_NESTING = 200  # levels of objects and lists; a Messages API body needs about ten

_encoder = msgspec.json.Encoder()


def loads_strict(data: bytes) -> Any:
    """Parse JSON of unknown origin. Strings may still hold NUL and surrogates: see `clean_json`.

    Integers keep all their digits, up to the 4,300 that Python reads.

    Raises:
        MalformedBody: not UTF-8, not JSON, a key twice in one object, NaN or an infinite number,
            an integer that is too long, more than `MAX_NESTING` levels. Nothing else.
    """
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        raise MalformedBody(f"Line {error.lineno}, column {error.colno}: {error.msg}.") from None
    except UnicodeDecodeError as error:
        raise MalformedBody(f"Byte {error.start} is not UTF-8.") from None
    except RecursionError:
        raise _too_deep() from None
    except _Refused as refused:
        raise MalformedBody(str(refused)) from None
    except ValueError:  # the only one left: int() of more than 4,300 digits
        raise MalformedBody("An integer has too many digits.") from None
    if _is_deeper_than(value, MAX_NESTING):
        raise _too_deep()
    return value


def loads(text: str | bytes) -> Any:
    """Parse JSON that hango wrote. Integers keep all their digits."""
    return msgspec.json.decode(text)


def dumps(value: Any) -> str:
    """Compact JSON in the order of the keys, without escapes that are not needed.

    Raises:
        UnicodeEncodeError: a string holds a lone surrogate: `clean_json` first.
    """
    return _encoder.encode(value).decode()


def clean_dumps(value: Any) -> str:
    """The same of a value with every string cleaned: see `clean_json`."""
    # Nearly all values are clean, and encoding one tells so sooner than a walk through it. A NUL
    # is an escape there, and would be one again when it is read.
    try:
        text = dumps(value)
    except (UnicodeEncodeError, TypeError):  # TypeError: a mapping that is no dict
        return dumps(clean_json(value))
    return dumps(clean_json(value)) if "\\u0000" in text else text


class _Refused(Exception):
    """Valid for Python's parser, not for ours."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Refused("An object has the same key twice.")
    return value


def _constant(_name: str) -> NoReturn:
    raise _Refused("NaN and Infinity are not JSON.")


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _Refused("A number is too large.")
    return value


def _is_deeper_than(value: Any, levels: int) -> bool:
    layer = [value] if isinstance(value, (dict, list)) else []
    for _ in range(levels):
        layer = [
            item
            for container in layer
            for item in (container.values() if isinstance(container, dict) else container)
            if isinstance(item, (dict, list))
        ]
        if not layer:
            return False
    return True


def _too_deep() -> MalformedBody:
    return MalformedBody(f"Nested deeper than {MAX_NESTING} levels.")
