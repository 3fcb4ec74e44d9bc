"""Lists in pages: an opaque cursor, bound to the tenant, the route and the filter it came from.

A cursor holds a position and a checksum over where it belongs. It is no secret and gives no access:
the store scopes each page anew. The checksum turns a cursor that was cut, made up, or carried to
another list into a clear refusal instead of a page that skips rows.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import orjson
from flask import request

from app.api.current import principal
from app.domain.pages import Page
from app.errors import BadParameter, Fault

P = TypeVar("P")
T = TypeVar("T")

_CHECKSUM_BYTES = 8


def position(query: Mapping[str, Any], kind: Callable[[Any], P]) -> P | None:
    """Where the page that the query asks for starts; None at the beginning.

    `kind` makes the position from its JSON: UUID, int or str.

    Raises:
        BadParameter: the cursor is not one that this list, with this filter, has given.
    """
    cursor = query["after"]
    if cursor is None:
        return None
    try:
        raw = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    checksum, place = raw[:_CHECKSUM_BYTES], raw[_CHECKSUM_BYTES:]
    if not place or checksum != _checksum(place, query):
        raise BadParameter(
            faults=[Fault("after", "bad_cursor", "Pass `next` of the same list and filter.")]
        )
    return kind(orjson.loads(place))


def body(page: Page[Any], query: Mapping[str, Any]) -> dict[str, Any]:
    """A page as clients read it."""
    return {"items": page.items, "next": _cursor(page.next, query)}


def sliced(items: Iterable[T], query: Mapping[str, Any], key: Callable[[T], str]) -> dict[str, Any]:
    """A page of a list that is short enough to be read whole, ordered by `key`."""
    after = position(query, str)
    rest = sorted((each for each in items if after is None or key(each) > after), key=key)
    page = rest[: query["limit"]]
    last = key(page[-1]) if len(rest) > len(page) else None
    return {"items": page, "next": _cursor(last, query)}


def filters(query: Mapping[str, Any]) -> dict[str, Any]:
    """The query without what says which page."""
    return {name: value for name, value in query.items() if name not in ("after", "limit")}


def _cursor(place: Any, query: Mapping[str, Any]) -> str | None:
    if place is None:
        return None
    raw = orjson.dumps(place, default=str)
    return base64.urlsafe_b64encode(_checksum(raw, query) + raw).rstrip(b"=").decode()


def _checksum(place: bytes, query: Mapping[str, Any]) -> bytes:
    home = [str(principal().tenant_id), request.path, filters(query)]
    text = orjson.dumps(home, default=str, option=orjson.OPT_SORT_KEYS)
    return hashlib.blake2b(text + b"\n" + place, digest_size=_CHECKSUM_BYTES).digest()
