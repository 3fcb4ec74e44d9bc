"""HTTP tools: one call of the model is one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from app.domain.jsontext import dumps
from app.domain.outside import HttpTool
from app.domain.text import clean_json
from app.domain.tools import ToolOutcome
from app.tools.addresses import MAX_URL_CHARACTERS
from app.tools.bounds import Cancelled
from app.tools.client import Outgoing, OutsideClient
from app.tools.texts import outcome_of

MAX_ANSWER_BYTES = 2**20  # far more than a model is given
TOO_LONG = f"The input is too long: its URL has over {MAX_URL_CHARACTERS} characters."


def call(
    client: OutsideClient,
    tool: HttpTool,
    headers: Mapping[str, str],
    given: Mapping[str, Any],
    cancelled: Cancelled,
) -> ToolOutcome:
    """Send the model's input: as the query of a GET, otherwise as the JSON body.

    Raises:
        AddressRefused, OutsideFailed, OutsideTooSlow
    """
    is_query = tool.method == "GET"
    values = clean_json(given)
    url = _with_query(tool.url, values) if is_query else tool.url
    if len(url) > MAX_URL_CHARACTERS:
        return ToolOutcome(TOO_LONG, is_error=True)
    about = {} if is_query else {"content-type": "application/json"}
    answer = client.send(
        Outgoing(
            method=tool.method,
            url=url,
            headers={"accept": "application/json, text/*;q=0.9, */*;q=0.1", **about, **headers},
            content=None if is_query else dumps(values).encode(),
            seconds=tool.timeout_seconds,
            max_bytes=MAX_ANSWER_BYTES,
        ),
        cancelled,
    )
    return outcome_of(answer)


def _with_query(url: str, values: Mapping[str, Any]) -> str:
    """The URL with one parameter a property; lists repeat it, objects are written as JSON."""
    pairs = [
        (name, _as_text(item))
        for name, value in values.items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]
    base, _, fragment = url.partition("#")
    del fragment  # never sent
    if not pairs:
        return base
    return f"{base}{'&' if '?' in base else '?'}{urlencode(pairs)}"


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)
