"""What comes in, read strictly: JSON bodies, queries, and the faults they are refused with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from flask import Request
from marshmallow import RAISE, Schema, ValidationError
from webargs.flaskparser import FlaskParser, is_json_request

from app.domain.jsontext import loads_strict
from app.domain.text import clean
from app.errors import BadBody, BadParameter, Fault, TooLarge, UnsupportedMediaType

MAX_NAME_CHARACTERS = 64

_READ_AS_UTF8 = ("utf-8", "utf8", "us-ascii", "ascii")

_CODES = {
    "Unknown field.": "unknown_field",
    "Missing data for required field.": "missing",
    "Field may not be null.": "null",
}


class StrictParser(FlaskParser):
    """Reads arguments for flask-smorest: nothing unknown, nothing twice, JSON only as JSON."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {  # noqa: RUF012 (as the base class)
        **FlaskParser.DEFAULT_UNKNOWN_BY_LOCATION,
        "json": RAISE,
        "query": RAISE,
    }

    def load_json(self, req: Request, schema: Schema) -> Any:  # noqa: ARG002 - webargs' signature
        """The body as a JSON value."""
        return json_body(req)

    def handle_error(
        self,
        error: ValidationError,
        req: Request,  # noqa: ARG002
        schema: Schema,  # noqa: ARG002
        **_: Any,
    ) -> NoReturn:
        """Turn marshmallow's messages into faults."""
        ((location, messages),) = messages_of(error).items()
        refused = BadBody if location == "json" else BadParameter
        raise refused(faults=faults_of(messages)) from None


def json_body(request: Request) -> Any:
    """The JSON value in the body.

    Raises:
        UnsupportedMediaType: it is not declared as JSON, in another encoding, or compressed.
        MalformedBody: it is not JSON.
        TooLarge: it is above the limit of its route.
    """
    if not is_json_request(request):
        raise UnsupportedMediaType("Send the body as application/json.")
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    if charset not in _READ_AS_UTF8:
        raise UnsupportedMediaType("Send the body in UTF-8; JSON has no other encoding.")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body uncompressed.")
    data = request.get_data(cache=False)
    # A body that did not say its length is cut there, without a word.
    if request.content_length is None and len(data) >= (
        request.max_content_length or len(data) + 1
    ):
        raise TooLarge
    return loads_strict(data)


def messages_of(error: ValidationError) -> dict[str, Any]:
    """marshmallow's messages, by field."""
    return dict(error.normalized_messages())  # type: ignore[no-untyped-call]


def faults_of(messages: Any, at: str = "") -> list[Fault]:
    """One fault for each of marshmallow's messages, with its path into the body."""
    return [
        Fault(path or "body", _CODES.get(text, "invalid"), text)
        for path, text in _walk(messages, at)
    ]


def _walk(messages: Any, at: str) -> Iterator[tuple[str, str]]:
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            yield from _walk(inner, _step(at, name))
    elif isinstance(messages, list):
        for inner in messages:
            yield from _walk(inner, at)
    else:
        yield at, str(messages)


def _step(at: str, name: str | int) -> str:
    if name == "_schema":
        return at
    if isinstance(name, int):
        return f"{at}[{name}]"
    # What a client calls its fields is its own affair: shown, but as text and not at any length.
    name = clean(name)[:MAX_NAME_CHARACTERS]
    return f"{at}.{name}" if at else name
