"""Putting an answer together from events, also from those that should not exist."""

from __future__ import annotations

from typing import Any

import pytest

from app.provider.failures import StreamBroken
from app.provider.stream import Assembly
from tests.fakes.strict_provider import text

START = {"type": "message_start", "message": {"id": "msg_1", "model": "m", "usage": {}}}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}


def block(value: dict[str, Any], *deltas: dict[str, Any], index: int = 0) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": value},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def delta_event(delta: dict[str, Any]) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": 0, "delta": delta}


def assembled(*events: dict[str, Any]) -> Assembly:
    assembly = Assembly()
    for event in events:
        assembly.feed(event)
    return assembly


def test_figures_are_running_totals_and_the_last_one_counts() -> None:
    first = {"input_tokens": 9, "output_tokens": 1, "cache_read_input_tokens": 50}
    start = {**START, "message": {"usage": first, "id": "m"}}
    more = [
        {**END, "usage": {"output_tokens": 20, "cache_read_input_tokens": None}},
        {**END, "usage": {"output_tokens": 30, "input_tokens": 9}},
    ]

    usage = assembled(start, *more).usage

    assert usage is not None
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (9, 50, 30)


def test_citations_are_collected_and_a_signature_replaces_what_was_there() -> None:
    cited = block(
        {"type": "text", "text": "", "citations": None},
        {"type": "citations_delta", "citation": {"n": 1}},
        {"type": "text_delta", "text": "a"},
        {"type": "citations_delta", "citation": {"n": 2}},
    )
    thought = block(
        {"type": "thinking", "thinking": "", "signature": "old"},
        {"type": "signature_delta", "signature": "new"},
        index=1,
    )

    blocks = assembled(START, *cited, *thought, END).blocks()

    assert blocks == [
        {"type": "text", "text": "a", "citations": [{"n": 1}, {"n": 2}]},
        {"type": "thinking", "thinking": "", "signature": "new"},
    ]


def test_blocks_that_arrive_interleaved_keep_their_places() -> None:
    first, second = block(text("a"), index=1), block(text("b"), index=0)
    events = [event for pair in zip(first, second, strict=True) for event in pair]

    assert assembled(START, *events, END).blocks() == [text("b"), text("a")]


@pytest.mark.parametrize("written", ['{"a": ', "[1]", '"text"', "[" * 100_000, "null"])
def test_an_input_that_is_no_object_becomes_an_empty_one_and_is_marked(written: str) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "x", "input": {}}
    delta = {"type": "input_json_delta", "partial_json": written}

    assembly = assembled(START, *block(call, delta), END)

    assert assembly.blocks() == [call]
    assert assembly.cut_calls == ["toolu_1"]


def test_an_input_without_arguments_is_whole() -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "x", "input": {}}

    assembly = assembled(START, *block(call, {"type": "input_json_delta", "partial_json": ""}), END)

    assert (assembly.blocks(), assembly.cut_calls) == ([call], [])


@pytest.mark.parametrize(
    "event",
    [
        {"type": "message_start"},
        {"type": "message_start", "message": 7},
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_start", "index": [], "content_block": {}},
        {"type": "content_block_delta", "index": 5, "delta": {"type": "text_delta", "text": "a"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta"}},
        {"type": "content_block_delta", "index": 0, "delta": None},
        {"type": "content_block_stop", "index": 5},
        {"type": "message_delta", "delta": 7},
        {"type": "message_delta", "delta": {}, "usage": 7},
    ],
)
def test_an_event_of_the_wrong_shape_breaks_the_stream(event: dict[str, Any]) -> None:
    assembly = assembled(START, block(text(""))[0])

    with pytest.raises(StreamBroken):
        assembly.feed(event)


@pytest.mark.parametrize(
    "events",
    [
        [],
        [START],
        [START, *block(text("a"))],
        [START, block(text("a"))[0], END],
        [START, {**END, "delta": {"stop_reason": None}}],
        [*block(text("a")), END],
    ],
)
def test_an_answer_that_is_not_whole_is_none(events: list[dict[str, Any]]) -> None:
    with pytest.raises(StreamBroken):
        assembled(*events).blocks()


def test_a_long_answer_in_small_pieces_is_joined_once() -> None:
    delta = {"type": "text_delta", "text": "word "}
    start, end = block(text(""))
    assembly = assembled(START, start, *([delta_event(delta)] * 200_000), end, END)

    assert assembly.blocks() == [text("word " * 200_000)]
