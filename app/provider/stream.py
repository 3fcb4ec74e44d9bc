"""Puts a streamed answer together from its events, without changing what it says."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from app.domain.ids import identifier
from app.domain.messages import Block
from app.domain.responses import Usage
from app.provider.base import Event
from app.provider.failures import UNKNOWN_OUTCOME, StreamBroken

# Messages API, Streaming. The field, of a delta and of its block, that a type of delta adds to.
_GROWING = {"text_delta": "text", "thinking_delta": "thinking"}
_WHOLE = {"signature_delta": "signature", "compaction_delta": "content"}


class Assembly:
    """One answer while it arrives.

    A block keeps the keys it started with, in their order; a type that hango does not know is
    kept as it started. Pieces are joined once, at the end of their block, so that a long answer
    in small pieces takes linear time.
    """

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, Block] = {}
        self._open: dict[int, dict[str, list[str]]] = {}
        self._usage: dict[str, Any] = {}
        self._ending: dict[str, Any] = {}
        self._handlers: dict[str, Callable[[Any], None]] = {
            "message_start": self._start,
            "content_block_start": self._start_block,
            "content_block_delta": self._extend_block,
            "content_block_stop": self._stop_block,
            "message_delta": self._end,
        }
        self.complete = False  # the last event has come
        self.transformations: list[Mapping[str, Any]] = []
        self.cut_calls: list[str] = []
        self.ignored: dict[str, None] = {}

    @property
    def started(self) -> bool:
        """Whether a part of the answer has come."""
        return bool(self._message)

    @property
    def id(self) -> str | None:
        """The provider's id of the message."""
        return _text(self._message.get("id"))

    @property
    def model(self) -> str:
        """The model's name as the provider gave it; empty when it gave none."""
        return _text(self._message.get("model")) or ""

    @property
    def usage(self) -> Usage | None:
        """The figures so far. They are running totals: the last event that has one counts."""
        return Usage.read(self._usage) if self._usage else None

    @property
    def stop_reason(self) -> str | None:
        """Why it stopped; None while it has not."""
        return _text(self._ending.get("stop_reason"))

    @property
    def stop_details(self) -> Mapping[str, Any] | None:
        """What the provider adds to a stop reason, such as the category of a refusal."""
        details = self._ending.get("stop_details")
        return details if isinstance(details, Mapping) else None

    def feed(self, event: Event) -> None:
        """Take in the next event.

        Raises:
            StreamBroken: it is not of the shape that the Messages API gives it.
        """
        kind = event.get("type")
        try:
            if kind == "message_stop":
                self.complete = True
            elif kind != "ping":
                handle: Callable[[Any], None] = self._handlers.get(str(kind), self._ignore)
                handle(event)
        except (KeyError, TypeError, AttributeError):
            broken = True
        else:
            broken = False
        if broken:  # raised out here, without the error that may quote the event
            _refuse("An event does not have the shape that its type tells.")

    def blocks(self) -> list[Block]:
        """The whole answer's blocks.

        Raises:
            StreamBroken: the stream ended before the answer did.
        """
        if not self.started:
            _refuse("The answer holds no message.")
        if self._open or self.stop_reason is None:
            _refuse("The answer ended without a reason to stop.")
        return [self._blocks[index] for index in sorted(self._blocks)]

    def _start(self, event: dict[str, Any]) -> None:
        self._message = dict(event["message"])
        self._usage.update(self._message.get("usage") or {})
        self.transformations += self._message.get("input_transformations") or []

    def _start_block(self, event: dict[str, Any]) -> None:
        self._blocks[event["index"]] = dict(event["content_block"])
        self._open[event["index"]] = defaultdict(list)

    def _extend_block(self, event: dict[str, Any]) -> None:
        index, delta = event["index"], event["delta"]
        block, pieces, kind = self._blocks[index], self._open[index], delta["type"]
        if kind in _GROWING:
            pieces[_GROWING[kind]].append(delta[_GROWING[kind]])
        elif kind in _WHOLE:
            block[_WHOLE[kind]] = delta[_WHOLE[kind]]
        elif kind == "input_json_delta":
            pieces["input"].append(delta["partial_json"])
        elif kind == "citations_delta":
            block["citations"] = [*(block.get("citations") or []), delta["citation"]]
        else:
            self._ignore(delta)

    def _stop_block(self, event: dict[str, Any]) -> None:
        block, pieces = self._blocks[event["index"]], self._open.pop(event["index"])
        for field in _GROWING.values():
            if field in pieces:
                block[field] = (block.get(field) or "") + "".join(pieces[field])
        written = "".join(pieces.get("input", ()))
        if written:
            self._take_input(block, written)

    def _take_input(self, block: Block, written: str) -> None:
        value = _object(written)
        if value is None:
            self.cut_calls.append(str(block.get("id")))
        block["input"] = value or {}

    def _end(self, event: dict[str, Any]) -> None:
        self._ending.update(event["delta"])
        self._usage.update(
            {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
        )
        self.transformations += event.get("input_transformations") or []

    def _ignore(self, event: dict[str, Any]) -> None:
        self.ignored[identifier(event.get("type")) or "unnamed"] = None


def parse(data: str) -> dict[str, Any]:
    """One event's data.

    Raises:
        ValueError: it is not a JSON object. The error's text quotes it: do not let it out.
    """
    event = json.loads(data)
    if not isinstance(event, dict):
        raise ValueError("not an object")
    return event


def _object(written: str) -> dict[str, Any] | None:
    try:
        value = json.loads(written)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _refuse(detail: str) -> NoReturn:
    raise StreamBroken(detail, seen=UNKNOWN_OUTCOME)
