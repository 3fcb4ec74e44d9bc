from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.catalogue import facts_for
from app.domain.validity import check_request
from tests.history import assistant, call, result, text, thinking, tool_result, tool_use, user
from tests.pictures import image_block, picture, png_header

NEW = "claude-opus-5-5"
OLD = "claude-sonnet-4-5"
MIDDLE = "claude-opus-4-6"
SHORT, LONG = {"type": "ephemeral"}, {"type": "ephemeral", "ttl": "1h"}
READ = {"name": "read_file", "input_schema": {"type": "object"}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
NOTE = ("system", [text("be brief")])
MEMBER = {**call("t1"), "toolset_name": "computer"}


def body(*turns, **fields):
    messages = [{"role": role, "content": blocks} for role, blocks in turns or [user("hi")]]
    return {"model": NEW, "max_tokens": 1000, "messages": messages, **fields}


def faults(request, betas=()):
    found = check_request(request, facts_for(str(request.get("model"))), betas)
    return [(fault.at, fault.code) for fault in found]


def marked(block, control=SHORT):
    return {**block, "cache_control": control}


WHOLE = body(
    user("hi"),
    ("assistant", [thinking(), text("I'll look."), call("t1"), call("t2")]),
    tool_result("t1"),
    ("user", [result("t2"), text("and"), image_block(picture("png"))]),
    ("assistant", [SEARCH, FOUND, text("found")]),
    ("user", [marked(text("go on"))]),
    ("system", [text("be brief")]),
    system=[text("You help."), marked(text("You know hango."), LONG)],
    tools=[READ, {"type": "web_search_20260318", "name": "web_search"}],
    tool_choice={"type": "auto", "disable_parallel_tool_use": True},
    thinking={"type": "adaptive", "display": "omitted"},
    output_config={"effort": "high"},
    stop_sequences=["END"],
    metadata={"user_id": "u1"},
    stream=True,
)


def test_a_request_with_everything_in_it_is_valid():
    assert faults(WHOLE) == []


@pytest.mark.parametrize(
    "request_body",
    [
        body(),
        {"model": OLD, "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]},
        body(user("hi"), assistant("The answer is"), model=OLD),
        body(user("hi"), ("assistant", []), model=OLD),
        body(user("hi"), ("assistant", [SEARCH])),  # resumes a paused turn
        body(max_tokens=0, system=[marked(text("warm me"))]),
        body(system="You help."),
        body(user("hi"), tool_use("t1"), tool_result("t1")),  # its tools are gone: accepted
        body(cache_control=SHORT, system=[marked(text(str(n))) for n in range(3)]),
        body(("user", [marked(text("hi"), LONG)]), cache_control=LONG),
        body(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=2000, model=OLD),
        body(*[("user", [image_block(png_header(2500, 9))])] * 20),
        body(("user", [{"type": "hologram"}])),
        body(("assistant", [{"type": "compaction", "content": "s"}]), user("go on")),
    ],
)
def test_requests_that_the_provider_takes(request_body):
    assert faults(request_body) == []


@pytest.mark.parametrize(
    ("request_body", "at", "code"),
    [
        # Fields
        (body(temperature=0.2), "temperature", "sampling_params"),
        (body(top_k=1), "top_k", "sampling_params"),
        (body(part="message:1"), "part", "field_unknown"),
        (body(type="request"), "type", "field_unknown"),
        (body(context_management={}), "context_management", "field_unknown"),
        (body(model=""), "model", "field_invalid"),
        (body(stream="yes"), "stream", "field_invalid"),
        (body(metadata={"user_id": "x" * 257}), "metadata", "field_invalid"),
        (body(output_config={"effort": "most"}), "output_config", "field_invalid"),
        (body(stop_sequences=["\n "]), "stop_sequences.0", "stop_sequence_blank"),
        (body(max_tokens=-1), "max_tokens", "field_invalid"),
        (body(max_tokens=True), "max_tokens", "field_invalid"),
        (body(max_tokens=128_001), "max_tokens", "max_tokens_too_large"),
        (body(max_tokens=0, stream=True), "max_tokens", "max_tokens_zero"),
        (body(system="bad \ud83d"), "", "surrogate"),
        (body(system="x" * 33_554_432), "", "body_too_large"),
        (body(metadata="u1"), "metadata", "field_invalid"),
        (body(thinking={"type": "hard"}), "thinking.type", "field_invalid"),
        # System
        (body(system=" \n"), "system", "text_empty"),
        (body(system=[text("")]), "system.0.text", "text_empty"),
        (body(system=[image_block(picture("png"))]), "system.0", "system_block_type"),
        (body(system=[{**text("a"), "part": "system:agent"}]), "system.0.part", "field_unknown"),
        # Tools
        (body(tools=[READ, READ]), "tools.1.name", "tool_name_twice"),
        (body(tools=[{**READ, "origin": "x"}]), "tools.0.origin", "field_unknown"),
        (body(tool_choice={"type": "auto"}), "tool_choice", "tool_choice_no_tools"),
        (body(tools=[READ], tool_choice={"type": "any"}), "tool_choice", "tool_choice_forced"),
        (
            body(tools=[READ], tool_choice={"type": "tool", "name": "x"}, model=OLD),
            "tool_choice.name",
            "tool_choice_missing_tool",
        ),
        (
            body(tools=[READ], tool_choice={"type": "tool"}, model=OLD),
            "tool_choice.name",
            "field_missing",
        ),
        (body(tools=[READ], tool_choice={"type": "some"}), "tool_choice.type", "field_invalid"),
        (
            body(
                user("hi"),
                tool_use("t1"),
                (
                    "user",
                    [
                        {
                            **result("t1"),
                            "content": [{"type": "tool_reference", "tool_name": "gone"}],
                        }
                    ],
                ),
            ),
            "messages.2.content.0.content.0",
            "tool_reference_missing",
        ),
        # Thinking
        (body(thinking={"type": "disabled"}), "thinking.type", "thinking_mode"),
        (body(thinking={"type": "adaptive"}, model=OLD), "thinking.type", "thinking_mode"),
        (body(thinking={"type": "adaptive"}, model="unheard-of"), "thinking.type", "thinking_mode"),
        (
            body(thinking={"type": "enabled", "budget_tokens": 1000}, max_tokens=2000, model=OLD),
            "thinking.budget_tokens",
            "thinking_budget",
        ),
        (
            body(thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=1024, model=OLD),
            "thinking.budget_tokens",
            "thinking_budget",
        ),
        (
            body(
                thinking={"type": "enabled", "budget_tokens": 1024},
                max_tokens=2000,
                tools=[READ],
                tool_choice={"type": "any"},
                model=OLD,
            ),
            "tool_choice",
            "thinking_forced_tool",
        ),
        (
            body(
                user("hi"),
                tool_use("t1"),
                tool_result("t1"),
                max_tokens=2000,
                model=OLD,
                thinking={"type": "enabled", "budget_tokens": 1024},
            ),
            "messages.1.content.0",
            "thinking_first",
        ),
        (
            body(thinking={"type": "adaptive", "block_binding": {}}),
            "thinking.block_binding",
            "binding_without_beta",
        ),
        (
            body(user("hi"), ("assistant", [text("x"), thinking()]), user("y")),
            "messages.1.content.1",
            "thinking_last",
        ),
        # Order
        (body(messages=[]), "messages", "messages_empty"),
        (body(assistant("x"), user("y")), "messages.0", "first_not_user"),
        (body(user("hi"), assistant("x")), "messages.1", "prefill_unsupported"),
        (
            body(user("hi"), assistant("x "), model=OLD),
            "messages.1.content.0",
            "prefill_trailing_space",
        ),
        (body(user("hi"), ("assistant", []), user("x")), "messages.1.content", "content_empty"),
        (body(user("hi"), NOTE, user("x")), "messages.1", "system_msg_place"),
        (body(user("hi"), NOTE, model=OLD), "messages.1", "system_msg_model"),
        (
            body(("user", [text("hi"), {**text("x"), "citations": [{}]}])),
            "messages.0.content.1.citations",
            "user_citations",
        ),
        (
            body(messages=[{"role": "user", "content": "hi", "seq": 1}]),
            "messages.0",
            "field_unknown",
        ),
        (body(messages=["hi"]), "messages.0", "field_invalid"),
        (
            body(user("hi"), ("assistant", [{"type": "compaction", "content": "s"}]), user("x")),
            "messages.1",
            "compaction_place",
        ),
        # Pairs
        (
            body(user("hi"), tool_use("t1"), user("x")),
            "messages.1.content.0",
            "tool_use_unanswered",
        ),
        (
            body(user("hi"), tool_use("t1"), ("user", [text("x"), result("t1")])),
            "messages.2.content.1",
            "tool_result_not_first",
        ),
        (
            body(user("hi"), tool_use("t1"), user("x"), tool_result("t1")),
            "messages.3.content.0",
            "tool_result_not_first",
        ),
        (body(tool_result("t1")), "messages.0.content.0", "tool_result_orphan"),
        (
            body(user("hi"), tool_use("t1"), tool_result("t1"), tool_result("t1")),
            "messages.3.content.0",
            "tool_result_twice",
        ),
        (
            body(user("hi"), tool_use("t1", "t1"), tool_result("t1")),
            "messages.1.content.1",
            "tool_use_id_twice",
        ),
        (
            body(user("hi"), ("assistant", [MEMBER]), tool_result("t1")),
            "messages.2.content.0",
            "toolset_name_missing",
        ),
        (
            body(user("hi"), ("assistant", [SEARCH]), user("x")),
            "messages.2.content.0",
            "text_after_result_server",
        ),
        (
            body(user("hi"), ("assistant", [FOUND, text("x")]), user("x")),
            "messages.1.content.0",
            "server_result_orphan",
        ),
        (
            body(
                user("hi"),
                tool_use("t1"),
                (
                    "user",
                    [{**result("t1"), "is_error": True, "content": [image_block(picture("png"))]}],
                ),
            ),
            "messages.2.content.0.content.0",
            "tool_error_not_text",
        ),
        # Cache marks
        (body(("user", [marked(text(str(n))) for n in range(5)])), "", "cache_marks_too_many"),
        (
            body(("user", [marked(text(str(n))) for n in range(4)]), cache_control=SHORT),
            "cache_control",
            "cache_auto_conflict",
        ),
        (
            body(("user", [marked(text("hi"), LONG)]), cache_control=SHORT),
            "cache_control",
            "cache_auto_conflict",
        ),
        (
            body(("user", [marked(text("hi"), LONG)]), tools=[marked(READ)]),
            "messages.0.content.0",
            "cache_ttl_order",
        ),
        (
            body(user("hi"), ("assistant", [marked(thinking()), text("x")]), user("y")),
            "messages.1.content.0.cache_control",
            "cache_mark_thinking",
        ),
        # Images
        (
            body(
                ("user", [image_block(png_header(2001, 9))] + [image_block(png_header(9, 9))] * 20)
            ),
            "messages.0.content.0",
            "image_many",
        ),
        (
            body(*[("user", [image_block(png_header(9, 9))])] * 101, model=OLD),
            "messages",
            "image_count",
        ),
        (body(*[("user", [image_block(png_header(9, 9))])] * 601), "messages", "image_count"),
    ],
)
def test_requests_that_the_provider_refuses(request_body, at, code):
    assert faults(request_body) == [(at, code)]


def test_there_is_a_largest_number_of_messages():
    hi = {"role": "user", "content": "hi"}

    assert faults(body(messages=[hi] * 100_001)) == [("messages", "messages_too_many")]


def test_a_server_tool_that_was_interrupted_is_found_once():
    request = body(user("hi"), ("assistant", [SEARCH]), user("hurry"), assistant("x"), user("y"))

    assert faults(request) == [("messages.2.content.0", "text_after_result_server")]


def test_marks_inside_results_count_too():
    inner = {**result("t1"), "content": [marked(text("a")), marked(text("b"))]}
    request = body(
        user("hi"),
        tool_use("t1"),
        ("user", [marked(inner)]),
        tools=[marked(READ)],
        system=[marked(text("x"))],
    )

    assert faults(request) == [("", "cache_marks_too_many")]


def test_an_empty_text_takes_no_cache_mark():
    assert faults(body(("user", [text("a"), marked(text(""))]))) == [
        ("messages.0.content.1.text", "text_empty"),
        ("messages.0.content.1", "cache_mark_empty_text"),
    ]


def test_fields_of_a_beta_pass_with_its_header():
    request = body(thinking={"type": "adaptive", "block_binding": {}}, context_management={})
    betas = ["thinking-binding-controls-2026-08-01", "context-management-2025-06-27"]

    assert faults(request, betas) == []


def test_every_missing_field_is_named():
    assert faults({}) == [
        ("model", "field_missing"),
        ("max_tokens", "field_missing"),
        ("messages", "field_missing"),
    ]


def test_the_messages_are_joined_before_they_are_checked():
    request = body(
        user("hi"),
        assistant("Let me see."),
        tool_use("p1"),
        tool_use("p2"),
        tool_result("p2"),
        tool_result("p1"),
        user("and now?"),
    )

    assert faults(request) == []


def test_a_manual_thinker_goes_on_after_a_tool_round_that_starts_with_thinking():
    request = body(
        user("hi"),
        ("assistant", [thinking(), call("t1")]),
        tool_result("t1"),
        model=MIDDLE,
        max_tokens=2000,
        thinking={"type": "enabled", "budget_tokens": 1024},
    )

    assert faults(request) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None, categories=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def _places(value, path=()):
    yield path
    if isinstance(value, (dict, list)):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from _places(value[key], (*path, key))


PLACES = [place for place in _places(WHOLE) if place]


@pytest.mark.parametrize("model", [NEW, OLD, "unheard-of"])
@settings(max_examples=60)  # of each model
@given(st.lists(st.tuples(st.sampled_from(PLACES), JSON), min_size=1, max_size=4))
def test_no_request_makes_the_check_fail(model, changes):
    request = copy.deepcopy(WHOLE)
    for place, value in changes:
        _put(request, place, value)

    check_request(request, facts_for(model))


def _put(request, place, value):
    inner = request
    try:
        for key in place[:-1]:
            inner = inner[key]
        inner[place[-1]] = value
    except (KeyError, IndexError, TypeError):
        return  # an earlier change took this place away
