"""Versions of a resource as strong ETags, and the optional If-Match (RFC 9110, 13.1.1)."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

from flask import after_this_request, request
from werkzeug.wrappers import Response

from app.errors import PreconditionFailed

IF_MATCH: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The ETag that the change is meant for; another version answers 412.",
}


class Versioned(Protocol):
    """Anything that counts its changes."""

    @property
    def version(self) -> int:
        """Grows with each change."""


V = TypeVar("V", bound=Versioned)


def shown(value: V) -> V:
    """The value, whose version this request's answer carries as its ETag."""

    def add(response: Response) -> Response:
        response.set_etag(str(value.version))
        return response

    after_this_request(add)
    return value


def check(version: int) -> None:
    """Go on only when If-Match is absent, `*`, or names this version.

    The caller holds the row's lock, so that the version cannot change before the write.

    Raises:
        PreconditionFailed: it names another version, or only weak tags.
    """
    if "If-Match" in request.headers and not request.if_match.contains(str(version)):
        raise PreconditionFailed("Read it again, and repeat the change on what you then see.")
