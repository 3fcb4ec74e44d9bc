"""What is sent, and what comes back, over real connections."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from app.provider.anthropic import AnthropicProvider
from app.provider.base import TokenCounter
from app.provider.clients import CALLS_PER_CLIENT
from app.provider.failures import RequestRefused, StreamBroken, ThinkingRefused
from tests.fakes.strict_provider import (
    EndEarly,
    Extra,
    Linger,
    Reply,
    StrictProvider,
    redacted,
    text,
    thinking,
    tool_use,
)
from tests.provider.conftest import a_body, failure_of, then, within


def test_the_body_arrives_byte_for_byte_with_streaming_asked_for(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    body = a_body("größe 😀 </script>", system=[{"text": "z before a", "type": "text"}])

    adapter.complete(body, deadline=within(30))

    sent = strict.calls[0].body.decode()
    assert sent == json.dumps({**body, "stream": True}, ensure_ascii=False, separators=(",", ":"))


def test_only_the_headers_that_are_needed_leave(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    adapter.complete(a_body(), deadline=within(30))

    headers = strict.calls[0].headers
    assert headers.pop("user-agent").startswith("Anthropic/Python")
    assert headers == {
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "anthropic-version": "2026-10-21",
        "authorization": "Bearer sk-ant-test",
        "content-length": str(len(strict.calls[0].body)),
        "content-type": "application/json",
        "host": strict.url.removeprefix("http://"),
    }


def test_every_block_comes_back_as_it_was_made(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    novel = {"type": "hologram", "zeta": 1, "alpha": {"b": None, "a": []}}
    search = {
        "type": "server_tool_use",
        "id": "srvtoolu_1",
        "name": "web_search",
        "input": {"q": "x"},
    }
    call = tool_use("read_file", "toolu_9", path="/größe", lines=[1, 2], huge=2**70)
    strict.reply(thinking("Hm, " * 100), redacted(), text("Done. " * 50), search, novel, call)

    response = adapter.complete(a_body(), deadline=within(30))

    made = strict.calls[0].answer["content"]
    assert json.dumps(list(response.blocks)) == json.dumps(made)


def test_an_answer_carries_all_that_is_kept_of_it(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.reply(
        text("No."),
        stop_reason="refusal",
        stop_details={"category": "cyber"},
        usage={
            "input_tokens": 7,
            "cache_read_input_tokens": 9000,
            "cache_creation_input_tokens": 1000,
            "output_tokens": 5,
        },
    )

    response = adapter.complete(a_body(), deadline=within(30))

    assert response.id == strict.calls[0].answer["id"]
    assert (response.request_id or "").startswith("req_")
    assert response.model == "claude-sonnet-5-5"
    assert (response.stop_reason, response.stop_details) == ("refusal", {"category": "cyber"})
    assert response.usage.whole_input == 10_007
    assert response.usage.output_tokens == 5
    assert response.usage.raw["service_tier"] == "standard"
    assert 0 < response.seconds_to_first_event <= response.seconds


def test_a_stop_reason_that_nobody_knows_is_passed_on(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.reply(text("?"), stop_reason="tea_break")

    response = adapter.complete(a_body(), deadline=within(30))

    assert response.stop_reason == "tea_break"


def test_events_and_deltas_that_nobody_knows_are_named_and_do_no_harm(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    odd_delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "odd", "x": 1}}
    strict.reply(text("fine"))
    strict.fail(Extra(events=[{"type": "message_mood", "mood": "good"}, odd_delta]))

    response = adapter.complete(a_body(), deadline=within(30))

    assert list(response.blocks) == [text("fine")]
    assert response.ignored == ("message_mood", "odd")


def test_followers_see_each_event_as_it_comes(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.reply(text("four words in pieces, and some more"))
    seen: list[Any] = []

    adapter.complete(a_body(), deadline=within(30), on_event=seen.append)

    pieces = [event["delta"]["text"] for event in seen if "text" in event.get("delta", {})]
    assert "".join(pieces) == "four words in pieces, and some more"
    assert "ping" not in {event["type"] for event in seen}


def test_what_a_follower_raises_ends_the_call_and_gives_the_connection_up(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    def refuse(_event: object) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        adapter.complete(a_body(), deadline=within(30), on_event=refuse)

    assert adapter.complete(a_body(), deadline=within(30)).stop_reason == "end_turn"


def test_an_input_that_was_cut_off_is_never_taken_for_a_whole_one(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    half = {"type": "input_json_delta", "partial_json": '{"path": "/etc", "content": "half'}
    events = [
        {"type": "content_block_start", "index": 0, "content_block": tool_use("write", "toolu_1")},
        {"type": "content_block_delta", "index": 0, "delta": half},
        {"type": "content_block_stop", "index": 0},
    ]
    strict.reply(stop_reason="max_tokens")
    strict.fail(Extra(events=events, after=1))

    response = adapter.complete(a_body(), deadline=within(30))

    assert list(response.blocks) == [tool_use("write", "toolu_1")]
    assert list(response.cut_calls) == ["toolu_1"]


def test_a_hundred_calls_in_a_row_share_one_connection(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    for _ in range(100):
        adapter.complete(a_body(), deadline=within(30))
    adapter.count_tokens(a_body(), deadline=within(30))

    assert (len(strict.calls), strict.connections) == (100, 1)


def test_calls_at_the_same_time_share_few_clients(strict: StrictProvider) -> None:
    adapter = AnthropicProvider("sk-ant-test", strict.url)
    everyone = 2 * CALLS_PER_CLIENT
    together = Barrier(everyone, timeout=20)

    def meet(_body: object) -> Reply:
        together.wait()  # no call is answered before all are under way
        return Reply(blocks=[text("together")])

    strict.answer_by(meet)
    with ThreadPoolExecutor(everyone) as pool:
        for answer in pool.map(
            lambda _: adapter.complete(a_body(), deadline=within(30)), range(everyone)
        ):
            assert list(answer.blocks) == [text("together")]

    assert len(adapter._clients) == 2
    adapter.close()


def test_a_server_that_lingers_after_the_answer_costs_a_second_at_most(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(Linger())

    response = adapter.complete(a_body(), deadline=within(60))

    assert response.stop_reason == "end_turn"
    assert response.seconds < 10


def test_a_stream_that_ends_without_a_reason_is_a_failure(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    strict.fail(EndEarly(after=4))

    failure = failure_of(lambda: adapter.complete(a_body(), deadline=within(30)))

    assert isinstance(failure, StreamBroken)
    assert failure.seen.usage is not None
    assert failure.seen.usage.input_tokens > 0
    assert not failure.retryable
    assert len(strict.calls) == 1


def test_thinking_that_is_sent_back_untouched_is_taken(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    first = a_body()
    strict.reply(thinking("one"), text("a"), thinking("two"), text("b"))
    second = then(first, adapter.complete(first, deadline=within(30)).blocks)
    third = then(second, adapter.complete(second, deadline=within(30)).blocks)

    adapter.complete(third, deadline=within(30))

    assert strict.refusals == []


def test_thinking_before_which_something_changed_is_refused_as_such(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    body = a_body()
    after = then(body, adapter.complete(body, deadline=within(30)).blocks)

    failure = failure_of(lambda: adapter.complete({**after, "system": "new"}, deadline=within(30)))

    assert isinstance(failure, ThinkingRefused)
    assert isinstance(failure, RequestRefused)


def test_dropping_of_thinking_is_asked_for_with_its_header_and_reported(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    binding = {"prefix_mismatch_behavior": "drop_block"}
    body = a_body(thinking={"type": "adaptive", "block_binding": binding})
    after = then(body, adapter.complete(body, deadline=within(30)).blocks)

    response = adapter.complete({**after, "system": "new"}, deadline=within(30))

    assert strict.calls[1].headers["anthropic-beta"] == "thinking-binding-controls-2026-08-01"
    assert list(response.input_transformations) == [
        {
            "type": "thinking_dropped",
            "path": "messages.1.content.0",
            "reason": "prefix_binding_mismatch",
        }
    ]


def test_counting_sends_what_the_counter_takes_and_asks_once(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    body = a_body(system="S", stop_sequences=["x"], metadata={"user_id": "u"})

    counted = adapter.count_tokens(body, deadline=within(30))

    assert counted > 0
    assert list(strict.requests[0].json) == ["model", "messages", "system"]
    assert isinstance(adapter, TokenCounter)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # Python 3.12, with threads
def test_a_child_process_calls_by_a_connection_of_its_own(
    strict: StrictProvider, adapter: AnthropicProvider
) -> None:
    adapter.complete(a_body(), deadline=within(30))

    child = os.fork()
    if child == 0:
        answered = adapter.complete(a_body(), deadline=within(30)).stop_reason == "end_turn"
        os._exit(0 if answered else 1)
    _, status = os.waitpid(child, 0)
    adapter.complete(a_body(), deadline=within(30))

    assert status == 0
    assert [call.connection for call in strict.calls] == [1, 2, 1]
