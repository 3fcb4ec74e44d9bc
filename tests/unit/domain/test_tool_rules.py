from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.validity import check_tool, check_tools, is_tool_name

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
READ = {"name": "read_file", "description": "Reads a file.", "input_schema": SCHEMA}
CLOSED = {"type": "object", "properties": {}, "additionalProperties": False}


def faults(definition):
    return [(fault.at, fault.code) for fault in check_tool(definition, "tools[2]")]


def strict(schema):
    return faults({"name": "x", "strict": True, "input_schema": schema})


@pytest.mark.parametrize(
    "definition",
    [
        READ,
        {"name": "x", "input_schema": {"type": "object"}},
        {**READ, "type": "custom", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {**READ, "name": "a" * 128, "defer_loading": True, "input_examples": [{"path": "/a"}]},
        {"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20260318", "name": "web_search", "max_uses": 3},
        {"type": "computer_toolset_20260801", "display_width_px": 800},
        {"type": "mcp_toolset", "mcp_server_name": "files"},
    ],
)
def test_tools_that_the_provider_takes(definition):
    assert faults(definition) == []


@pytest.mark.parametrize(
    "name", ["assist.HassTurnOn", "read file", "größe", "", "a" * 129, "a\n", "٣", None, 5, ["a"]]
)
def test_a_name_that_the_provider_refuses_never_gets_in(name):
    assert not is_tool_name(name)
    assert faults({**READ, "name": name}) == [("tools[2].name", "tool_name_format")]


@pytest.mark.parametrize(
    ("definition", "at", "code"),
    [
        ("read_file", "", "field_invalid"),
        (None, "", "field_invalid"),
        ({"input_schema": SCHEMA}, ".name", "field_missing"),
        ({"name": "x"}, ".input_schema", "field_missing"),
        ({**READ, "input_schema": "{}"}, ".input_schema", "field_invalid"),
        ({**READ, "input_schema": {}}, ".input_schema.type", "tool_schema_type"),
        ({**READ, "input_schema": {"type": "array"}}, ".input_schema.type", "tool_schema_type"),
        ({**READ, "input_schema": {"type": ["object"]}}, ".input_schema.type", "tool_schema_type"),
        (
            {**READ, "input_schema": {**SCHEMA, "oneOf": []}},
            ".input_schema.oneOf",
            "tool_schema_top",
        ),
        (
            {**READ, "input_schema": {**SCHEMA, "anyOf": []}},
            ".input_schema.anyOf",
            "tool_schema_top",
        ),
        ({**READ, "parameters": {}}, ".parameters", "field_unknown"),
        ({**READ, "description": None}, ".description", "field_invalid"),
        ({"type": "function", "function": READ}, ".type", "tool_type"),
        ({**READ, "type": 5}, ".type", "tool_type"),
        ({"type": "bash_20250124"}, ".name", "field_missing"),
        ({"type": "browser_toolset_20260801", "name": "b"}, ".name", "field_unknown"),
    ],
)
def test_tools_that_the_provider_refuses(definition, at, code):
    assert faults(definition) == [(f"tools[2]{at}", code)]


@pytest.mark.parametrize(
    "schema",
    [
        CLOSED,
        {**CLOSED, "properties": {"additionalProperties": {"type": "string"}}},
        {**CLOSED, "properties": {"x": {"enum": [{"type": "object"}]}}},
        {**CLOSED, "properties": {"x": {"type": "string", "pattern": "^[a-z]+$"}}},
        {
            **CLOSED,
            "$defs": {"a": CLOSED, "b": {"$ref": "#/$defs/a"}},
            "properties": {"x": {"$ref": "#/$defs/b"}, "y": {"$ref": "#/$defs/b"}},
        },
    ],
)
def test_strict_schemas_that_can_be_compiled(schema):
    assert strict(schema) == []


@pytest.mark.parametrize(
    ("schema", "at"),
    [
        (SCHEMA, ""),
        ({**CLOSED, "properties": {"x": {"type": "object"}}}, ".properties.x"),
        (
            {**CLOSED, "properties": {"x": {"type": "array", "items": SCHEMA}}},
            ".properties.x.items",
        ),
        ({**CLOSED, "properties": {"x": {"anyOf": [CLOSED, SCHEMA]}}}, ".properties.x.anyOf[1]"),
        ({**CLOSED, "$defs": {"a": SCHEMA}}, ".$defs.a"),
        ({**CLOSED, "properties": {"x": {"pattern": "(?=a)"}}}, ".properties.x.pattern"),
        ({**CLOSED, "properties": {"x": {"pattern": r"(a)\1"}}}, ".properties.x.pattern"),
        ({**CLOSED, "properties": {"x": {"$ref": "#"}}}, ""),
        (
            {
                **CLOSED,
                "$defs": {
                    "a": {"anyOf": [{"$ref": "#/$defs/b"}]},
                    "b": {"items": {"$ref": "#/$defs/a"}},
                },
            },
            "",
        ),
    ],
)
def test_strict_schemas_that_cannot_be_compiled(schema, at):
    assert strict(schema) == [(f"tools[2].input_schema{at}", "tool_schema_strict")]


def test_a_long_chain_of_definitions_is_no_circle():
    definitions = {f"d{n}": {"$ref": f"#/$defs/d{n + 1}"} for n in range(5000)}

    assert strict({**CLOSED, "$defs": definitions}) == []


def test_names_are_unique_over_all_kinds_of_tools():
    found = check_tools([READ, {"type": "bash_20250124", "name": "read_file"}], "tools")

    assert [(fault.at, fault.code) for fault in found] == [("tools[1].name", "tool_name_twice")]


def test_not_every_tool_can_be_deferred():
    deferred = {**READ, "defer_loading": True}

    assert [fault.code for fault in check_tools([deferred], "tools")] == ["tools_all_deferred"]
    assert check_tools([deferred, {**READ, "name": "other"}], "tools") == []
    assert check_tools([], "tools") == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "name", "input_schema", "properties", "$ref", "$defs", "pattern", "items"]
            ),
            inner | st.sampled_from(["object", "#", "#/$defs/type", "bash_20250124"]),
        )
    ),
    max_leaves=15,
)


@given(JSON | st.builds(lambda schema: {**READ, "strict": True, "input_schema": schema}, JSON))
def test_no_definition_makes_the_check_fail(definition):
    for fault in check_tools([definition, definition], "tools"):
        fault.at.encode()
