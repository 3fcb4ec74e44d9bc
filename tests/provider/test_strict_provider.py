"""The strict stand-in itself, driven by the real SDK as any client would."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any
from urllib.request import Request, urlopen

import anthropic
import pytest

from tests.fakes.strict_provider import (
    Cut,
    EndEarly,
    ErrorEvent,
    Malformed,
    Status,
    StrictProvider,
    text,
    thinking,
    tool_use,
)
from tests.provider.conftest import a_body, then

Body = dict[str, Any]

DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
DROP_HEADER = {"anthropic-beta": "thinking-binding-controls-2026-08-01"}
TOOL = {"name": "ls", "description": "Lists.", "input_schema": {"type": "object"}}
OTHER_TOOL = {**TOOL, "name": "cat"}
MARK = {"cache_control": {"type": "ephemeral"}}
LONG = "A long rule. " * 400


@pytest.fixture
def sdk(strict: StrictProvider) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(api_key="sk-ant-x", base_url=strict.url, max_retries=0) as client:
        yield client


def ask(sdk: anthropic.Anthropic, body: Body, **headers: str) -> Body:
    """The answer as JSON. The body goes out as it is: the SDK's types do not know all of it."""
    answer = sdk.post("/v1/messages", cast_to=object, body=body, options={"headers": headers})
    assert isinstance(answer, dict)
    return answer


def refusal_of(call: Callable[[], object]) -> anthropic.APIStatusError:
    with pytest.raises(anthropic.APIStatusError) as caught:
        call()
    return caught.value


class TestRequests:
    def test_they_are_recorded_as_they_came(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        sdk.messages.create(**a_body("größe"))

        (request,) = strict.calls
        assert "größe".encode() in request.body
        assert request.headers["x-stainless-lang"] == "python"
        assert (request.connection, request.status, request.refusal) == (1, 200, None)

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ({"temperature": 1.0}, "sampling_params"),
            ({"hango": 1}, "field_unknown"),
            ({"messages": []}, "messages_empty"),
            ({"max_tokens": 10**6}, "max_tokens_too_large"),
            ({"tool_choice": {"type": "any"}, "tools": [TOOL]}, "tool_choice_forced"),
            ({"tools": [TOOL, TOOL]}, "tool_name_twice"),
            ({"system": " "}, "text_empty"),
            ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, "thinking_mode"),
            ({"thinking": DROP}, "binding_without_beta"),
        ],
    )
    def test_a_broken_rule_is_refused_in_the_shape_of_the_api(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, change: Body, code: str
    ) -> None:
        error = refusal_of(lambda: ask(sdk, a_body(**change)))

        assert isinstance(error, anthropic.BadRequestError)
        assert error.type == "invalid_request_error"
        assert (error.request_id or "").startswith("req_")
        assert strict.refusals == [code]

    def test_a_broken_rule_of_the_conversation_names_its_place(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        body = then(a_body(tools=[TOOL]), [tool_use("ls", "toolu_1")])

        error = refusal_of(lambda: ask(sdk, body))

        assert strict.refusals == ["tool_use_unanswered"]
        assert (error.api_message or "").startswith("messages.")

    def test_neighbours_of_one_role_are_joined_before_they_are_judged(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        calls = [tool_use("ls", "toolu_1"), tool_use("ls", "toolu_2")]
        results = [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call["id"]}]}
            for call in calls
        ]
        body = then(a_body(tools=[TOOL]), calls)
        body["messages"][2:] = results

        ask(sdk, body)

        assert strict.refusals == []

    def test_a_body_above_32_mb_is_refused_at_the_edge(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        error = refusal_of(lambda: ask(sdk, a_body("x" * 33_600_000)))

        assert (error.status_code, error.type) == (413, "request_too_large")

    def test_an_input_above_the_window_is_refused(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        body = a_body("word " * 200_000) | {"model": "claude-haiku-4-5"}

        error = refusal_of(lambda: ask(sdk, body))

        assert "prompt is too long" in (error.api_message or "")

    @pytest.mark.parametrize(
        ("headers", "code"),
        [
            ({"traceparent": "00-1-2-01"}, "denied_header"),
            ({"cookie": "a=b"}, "denied_header"),
            ({"x-hango-run": "1"}, "denied_header"),
            ({"x-api-key": "hk_public_secret"}, "denied_key"),
            ({"authorization": "Bearer hk_public_secret"}, "denied_key"),
            ({"anthropic-version": "2020-01-01"}, "version"),
        ],
    )
    def test_what_must_not_leave_hango_is_refused(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, headers: Body, code: str
    ) -> None:
        refusal_of(lambda: ask(sdk, a_body(), **headers))

        assert strict.refusals == [code]

    def test_another_key_is_refused(self) -> None:
        with (
            StrictProvider(api_key="right") as strict,
            anthropic.Anthropic(api_key="wrong", base_url=strict.url, max_retries=0) as sdk,
        ):
            error = refusal_of(lambda: ask(sdk, a_body()))

        assert isinstance(error, anthropic.AuthenticationError)


class TestAnswers:
    def test_a_stream_says_what_a_plain_answer_says(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        for _ in range(2):
            strict.reply(thinking("a"), text("words " * 30), tool_use("ls", "toolu_1", p=[1]))

        plain = sdk.messages.create(**a_body(tools=[TOOL]))
        with sdk.messages.stream(**a_body(tools=[TOOL])) as stream:
            streamed = stream.get_final_message()

        assert streamed.stop_reason == plain.stop_reason == "tool_use"
        assert [
            block.model_dump(exclude={"citations", "parsed_output"}) for block in streamed.content
        ] == [block.model_dump(exclude={"citations"}) for block in plain.content]
        assert streamed.usage.output_tokens == plain.usage.output_tokens

    def test_without_a_script_it_repeats_what_was_said_and_thinks_where_the_model_would(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        thinker = ask(sdk, a_body("hello"))
        other = ask(sdk, a_body("hello") | {"model": "claude-sonnet-4-6"})

        assert [block["type"] for block in thinker["content"]] == ["thinking", "text"]
        assert other["content"] == [text("You said: hello")]

    def test_counting_checks_what_answering_checks_and_finds_the_same_input(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        body = a_body("a question", system="S", tools=[TOOL])
        counted = {name: value for name, value in body.items() if name != "max_tokens"}

        count = sdk.messages.count_tokens(**counted).input_tokens
        usage = ask(sdk, body)["usage"]
        refusal_of(lambda: sdk.messages.count_tokens(**counted | {"system": ""}))

        assert count == usage["input_tokens"]
        assert strict.refusals == ["text_empty"]

    def test_models_are_those_of_the_catalogue(self, sdk: anthropic.Anthropic) -> None:
        known = {model.id: model for model in sdk.models.list(limit=1000)}

        assert known["claude-haiku-4-5"].max_input_tokens == 200_000
        assert sdk.models.retrieve("claude-haiku-4-5").max_tokens == 64_000
        assert refusal_of(lambda: sdk.models.retrieve("claude-0")).type == "not_found_error"
        assert refusal_of(lambda: ask(sdk, a_body() | {"model": "gpt"})).status_code == 404


class TestThinking:
    """Three answers with thinking each, and what may be done to the request after them."""

    @pytest.fixture
    def body(self, strict: StrictProvider, sdk: anthropic.Anthropic) -> Body:
        body = a_body("one", system="S", tools=[TOOL, OTHER_TOOL])
        for words in ("two", "three", "four"):
            strict.reply(thinking(f"about {words}"), text(f"answer {words}"))
            body = then(body, ask(sdk, body)["content"], words)
        strict.requests.clear()
        return body

    def test_kept_whole_it_is_taken(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body
    ) -> None:
        ask(sdk, body)

        assert strict.refusals == []

    @pytest.mark.parametrize(
        ("gone", "taken"),
        [
            ((1,), True),
            ((1, 3), True),
            ((1, 3, 5), True),
            ((5,), True),
            ((3, 5), True),
            ((3,), False),
            ((1, 5), True),
        ],
    )
    def test_it_may_go_at_the_start_and_at_the_end_but_not_in_the_middle(
        self,
        strict: StrictProvider,
        sdk: anthropic.Anthropic,
        body: Body,
        gone: tuple[int, ...],
        taken: bool,
    ) -> None:
        for turn in gone:
            del body["messages"][turn]["content"][0]

        if taken:
            ask(sdk, body)
        else:
            refusal_of(lambda: ask(sdk, body))

        assert strict.refusals == ([] if taken else ["thinking_prefix"])

    def test_what_was_left_out_may_not_come_back(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body
    ) -> None:
        without = json.loads(json.dumps(body))
        del without["messages"][5]["content"][0]
        strict.reply(thinking("made without it"), text("x"))
        made = ask(sdk, without)["content"]

        ask(sdk, then(without, made))
        refusal_of(lambda: ask(sdk, then(body, made)))

        assert strict.refusals == ["thinking_prefix"]

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param({"tools": [OTHER_TOOL, TOOL]}, id="order of tools"),
            pytest.param({"max_tokens": 77}, id="max_tokens"),
            pytest.param({"tool_choice": {"type": "none"}}, id="tool_choice"),
            pytest.param({"metadata": {"user_id": "u"}}, id="metadata"),
            pytest.param({"system": [{"text": "S", "type": "text"}]}, id="order of keys"),
            pytest.param(
                {"system": [text("S") | {"cache_control": {"type": "ephemeral"}}]}, id="a mark"
            ),
        ],
    )
    def test_what_is_no_change_of_the_prefix_is_taken(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body, change: Body
    ) -> None:
        ask(sdk, body | change)

        assert strict.refusals == []

    @pytest.mark.parametrize(
        "change",
        [
            pytest.param({"system": "T"}, id="system"),
            pytest.param({"tools": [TOOL]}, id="a tool less"),
            pytest.param({"tools": [TOOL, OTHER_TOOL | {"description": "Shows."}]}, id="a tool"),
        ],
    )
    def test_a_change_of_the_prefix_is_refused(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body, change: Body
    ) -> None:
        refusal_of(lambda: ask(sdk, body | change))

        assert strict.refusals == ["thinking_prefix"]

    def test_a_changed_message_breaks_only_what_follows_it(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body
    ) -> None:
        body["messages"][4]["content"] = [text("changed")]

        answer = ask(sdk, body | {"thinking": DROP}, **DROP_HEADER)

        assert [each["path"] for each in answer["input_transformations"]] == [
            "messages.5.content.0"
        ]

    def test_dropping_takes_the_first_that_fails_and_all_after_it(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body
    ) -> None:
        whole = ask(sdk, body)["usage"]["input_tokens"]
        body["messages"][2]["content"] = [text("two!")]

        answer = ask(sdk, body | {"thinking": DROP}, **DROP_HEADER)

        assert answer["input_transformations"] == [
            {
                "type": "thinking_dropped",
                "path": f"messages.{turn}.content.0",
                "reason": "prefix_binding_mismatch",
            }
            for turn in (3, 5)
        ]
        assert answer["usage"]["input_tokens"] < whole

    @pytest.mark.parametrize("field", ["signature", "thinking"])
    @pytest.mark.parametrize("more", [{}, {"thinking": DROP}])
    def test_a_forged_block_is_refused_in_every_mode(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body, field: str, more: Body
    ) -> None:
        block = body["messages"][1]["content"][0]
        block[field] = block[field][:-8] + "AAAAAAA="

        refusal_of(lambda: ask(sdk, body | more, **(DROP_HEADER if more else {})))

        assert strict.refusals == ["thinking_signature"]

    def test_counting_checks_it_too(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body
    ) -> None:
        del body["max_tokens"]

        refusal_of(lambda: sdk.messages.count_tokens(**body | {"system": "T"}))

        assert strict.refusals == ["thinking_prefix"]

    def test_another_model_reads_none_of_it_and_says_nothing(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, body: Body
    ) -> None:
        answer = ask(sdk, body | {"model": "claude-opus-5-5"})

        assert strict.refusals == []
        assert "input_transformations" not in answer

    def test_an_older_account_drops_in_silence(self) -> None:
        with (
            StrictProvider(mode="silent") as strict,
            anthropic.Anthropic(api_key="k", base_url=strict.url, max_retries=0) as sdk,
        ):
            body = then(a_body(system="S"), ask(sdk, a_body(system="S"))["content"])
            kept = ask(sdk, body)["usage"]["input_tokens"]

            answer = ask(sdk, body | {"system": "T"})

        assert answer["usage"]["input_tokens"] < kept
        assert "input_transformations" not in answer

    def test_an_omitted_text_still_has_its_signature(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        body = a_body(thinking={"type": "adaptive", "display": "omitted"})

        block = ask(sdk, body)["content"][0]
        ask(sdk, then(body, [block, text("x")]))

        assert block["thinking"] == ""
        assert strict.refusals == []


class TestCache:
    def usage(self, sdk: anthropic.Anthropic, body: Body) -> tuple[int, int, int]:
        usage = ask(sdk, body)["usage"]
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        fresh, read, written = (usage[name] for name in names)
        return fresh, read, written

    def test_a_marked_prefix_is_written_once_and_then_read(self, sdk: anthropic.Anthropic) -> None:
        body = a_body(system=[text(LONG) | MARK])

        fresh, read, written = self.usage(sdk, body)
        again = self.usage(sdk, body)

        assert (read, written > 1000) == (0, True)
        assert again == (fresh, written, 0)

    def test_without_a_mark_or_below_the_smallest_size_nothing_is_cached(
        self, sdk: anthropic.Anthropic
    ) -> None:
        for system in ([text(LONG)], [text("short") | MARK]):
            for _ in range(2):
                assert self.usage(sdk, a_body(system=system))[1:] == (0, 0)

    def test_a_conversation_that_grows_reads_all_but_its_end(
        self, sdk: anthropic.Anthropic
    ) -> None:
        body = a_body(LONG, cache_control={"type": "ephemeral"})
        _, _, written = self.usage(sdk, body)

        _, read, more = self.usage(sdk, then(body, [text("answer")]))

        assert read == written
        assert 0 < more < 100

    def test_an_entry_is_not_found_behind_twenty_positions(self, sdk: anthropic.Anthropic) -> None:
        body = a_body(LONG, cache_control={"type": "ephemeral"})
        self.usage(sdk, body)

        near, far = (
            self.usage(sdk, then(body, [text(f"block {n}") for n in range(number)]))[1]
            for number in (18, 19)
        )

        assert (near > 0, far) == (True, 0)

    def test_changed_tools_lose_everything(self, sdk: anthropic.Anthropic) -> None:
        body = a_body(system=[text(LONG) | MARK], tools=[TOOL])
        self.usage(sdk, body)

        assert self.usage(sdk, body | {"tools": [OTHER_TOOL]})[1] == 0

    def test_writes_for_an_hour_are_told_apart(self, sdk: anthropic.Anthropic) -> None:
        hour = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
        body = a_body(system=[text(LONG) | hour, text(LONG) | MARK])

        usage = ask(sdk, body)["usage"]

        by_life = usage["cache_creation"]
        assert all(by_life.values())
        assert sum(by_life.values()) == usage["cache_creation_input_tokens"]


class TestFaults:
    def test_an_error_is_one_of_the_api(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        limited = Status(429, "rate_limit_error", headers={"retry-after": "7"}, error_code="spend")
        strict.fail(limited)

        error = refusal_of(lambda: sdk.messages.create(**a_body()))

        assert isinstance(error, anthropic.RateLimitError)
        assert error.response.headers["retry-after"] == "7"
        assert error.error_code == "spend"

    @pytest.mark.parametrize(
        ("fault", "kind"),
        [
            (ErrorEvent(), anthropic.APIStatusError),
            (Cut(after=None), anthropic.APIConnectionError),
            (Malformed(), json.JSONDecodeError),
        ],
    )
    def test_a_stream_breaks_as_the_sdk_knows_it(
        self, strict: StrictProvider, sdk: anthropic.Anthropic, fault: Any, kind: type[Exception]
    ) -> None:
        strict.fail(fault)

        with pytest.raises(kind):
            list(sdk.messages.create(**a_body(), stream=True))

    def test_an_early_end_goes_unnoticed_by_the_sdk(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        strict.fail(EndEarly())

        with sdk.messages.stream(**a_body()) as stream:
            assert stream.get_final_message().stop_reason is None

    def test_they_come_in_order_and_end(
        self, strict: StrictProvider, sdk: anthropic.Anthropic
    ) -> None:
        strict.fail(Status(500), times=2)
        strict.fail(Status(529, "overloaded_error"))

        met = [refusal_of(lambda: ask(sdk, a_body())).status_code for _ in range(3)]

        assert met == [500, 500, 529]
        assert ask(sdk, a_body())["stop_reason"] == "end_turn"


def test_it_runs_as_a_process_of_its_own() -> None:
    command = [sys.executable, "-m", "tests.fakes.strict_provider", "--port", "0"]
    orders = {
        "replies": [{"blocks": [text("told")]}],
        "faults": [{"kind": "status", "status": 500}],
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            with anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as sdk:
                control(url, orders)
                error = refusal_of(lambda: ask(sdk, a_body()))
                answer = ask(sdk, a_body())
            recorded = control(url)
        finally:
            process.terminate()

    assert error.status_code == 500
    assert answer["content"] == [text("told")]
    assert [each["status"] for each in recorded] == [500, 200]
    assert process.returncode == 0


def control(url: str, orders: Body | None = None) -> Any:
    data = None if orders is None else json.dumps(orders).encode()
    with urlopen(Request(f"{url}/_control", data), timeout=10) as answer:
        return json.load(answer)
