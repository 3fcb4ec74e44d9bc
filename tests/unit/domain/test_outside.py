"""Names of tools from outside, and what of an MCP server's words can be sent."""

from __future__ import annotations

from typing import Any

import pytest

from app.chain.prompts import definitions_of
from app.domain.agents import BUILT_IN_TOOLS, WITH_TOOLS, Subagent
from app.domain.mcp_listing import (
    MAX_TOOLS,
    TOO_LARGE,
    TOO_MANY,
    TWICE,
    ToldTool,
    changes,
    listing,
    sendable_schema,
)
from app.domain.outside import McpServer, missing, named, names_to_send
from app.domain.validity import check_tools
from tests.history import an_agent

OBJECT = {"type": "object", "properties": {"a": {"type": "string"}}}


def server(name: str, *tools: str, allowed: tuple[str, ...] | None = None) -> McpServer:
    listed, _ = listing(name, [ToldTool(each, "", OBJECT) for each in tools])
    return McpServer(
        name=name,
        url="https://mcp.example/",
        header_names=(),
        timeout_seconds=30,
        allowed_tools=allowed,
        tools=listed,
    )


def test_the_built_in_tools_are_those_that_middlewares_contribute() -> None:
    names = {each["name"] for name in WITH_TOOLS for each in definitions_of(name)}

    assert names == BUILT_IN_TOOLS


@pytest.mark.parametrize(
    ("names", "sent"),
    [
        (["find"], ["mcp__hub__find"]),
        (["find it", "repo/list"], ["mcp__hub__find_it", "mcp__hub__repo_list"]),
        (["ünïcode"], ["mcp__hub___n_code"]),
    ],
)
def test_names_are_made_such_that_providers_take_them(names: list[str], sent: list[str]) -> None:
    assert names_to_send("hub", names) == sent


@pytest.mark.parametrize(
    "names", [["a b", "a.b", "a_b"], ["x" * 200, "x" * 201], ["", " "], ["日本", "中国"]]
)
def test_names_that_would_be_the_same_stay_apart_whatever_their_order(names: list[str]) -> None:
    sent = dict(zip(names, names_to_send("hub", names), strict=True))

    assert len(set(sent.values())) == len(names)
    assert all(len(each) <= 64 for each in sent.values())
    backwards = names[::-1]
    assert dict(zip(backwards, names_to_send("hub", backwards), strict=True)) == sent


@pytest.mark.parametrize(
    ("told", "sent", "wrapped"),
    [
        (OBJECT, OBJECT, False),
        ({}, {"type": "object"}, False),
        ({"properties": {}}, {"properties": {}, "type": "object"}, False),
        (None, {"type": "object"}, False),
    ],
)
def test_schemas_that_need_little(told: Any, sent: Any, wrapped: bool) -> None:
    assert sendable_schema(told) == (sent, wrapped)


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
def test_what_may_not_be_at_the_top_becomes_a_property(keyword: str) -> None:
    choice = {"$ref": "#/$defs/a"}
    told = {"type": "object", keyword: [choice], "$defs": {"a": OBJECT}, "$schema": "x"}

    sent, wrapped = sendable_schema(told)

    assert wrapped
    assert sent["properties"] == {"input": {"type": "object", keyword: [choice]}}
    assert sent["required"] == ["input"]
    assert sent["$defs"] == {"a": OBJECT}  # where the reference still leads


def test_a_listing_can_be_sent_whatever_the_server_says() -> None:
    told = [
        ToldTool("good", "Good.", OBJECT),
        ToldTool("good", "Twice.", OBJECT),
        ToldTool("a\0b", "\ud800", {"type": "object", "description": "\0"}),
        ToldTool("list", "", {"type": "array"}),
        ToldTool("huge", "x" * 100_000, OBJECT),
        *(ToldTool(f"t{n}", "", OBJECT) for n in range(MAX_TOOLS)),
    ]

    tools, left_out = listing("hub", told)

    definitions = [
        {"name": t.sent_as, "description": t.description, "input_schema": t.input_schema}
        for t in tools
    ]
    assert check_tools(definitions, "tools") == []
    reasons = [(each.name, each.reason) for each in left_out]
    assert ("good", TWICE) in reasons
    assert ("huge", TOO_LARGE) in reasons
    assert reasons.count(("t255", TOO_MANY)) == 1
    assert len(tools) == MAX_TOOLS - 1


def test_another_order_is_the_same_listing() -> None:
    told = [ToldTool(name, "", OBJECT) for name in ("b", "a", "c")]

    assert listing("hub", told) == listing("hub", told[::-1])


def test_a_helper_that_names_outside_tools_alone_has_no_built_in_ones() -> None:
    helper = Subagent(name="h", description="d", system_prompt="p", tools=("weather",))

    agent = an_agent(tools=("weather", "mcp__hub")).as_helper(helper)

    assert agent.outside_names == ("weather",)
    assert not any(agent.uses(each) for each in WITH_TOOLS)


def test_changes_are_told_by_what_the_server_said() -> None:
    before = server("hub", "same", "other", "gone")
    after, _ = listing(
        "hub",
        [
            ToldTool("same", "", OBJECT),
            ToldTool("other", "Now does more.", OBJECT),
            ToldTool("new", "", OBJECT),
        ],
    )

    found = changes(before, after)

    assert (found.added, found.changed, found.removed) == (("new",), ("other",), ("gone",))


def test_names_of_an_agent_and_what_they_mean() -> None:
    hub = server("hub", "a", "b", "c", allowed=("a", "b"))

    found = named(["mcp__hub", "mcp__hub__a", "mcp__hub__c", "mcp__no"], [], [hub])

    assert [each.name for each in found] == ["mcp__hub__a", "mcp__hub__b"]
    assert missing(["mcp__hub", "mcp__hub__a", "mcp__hub__c", "mcp__no"], found) == [
        "mcp__hub__c",
        "mcp__no",
    ]
