"""Registering tools from outside: what is taken, what is shown, what agents may name."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from app.runtime import Runtime, build_runtime
from app.settings import Secret, Settings
from app.web import create_app
from tests.factories import Caller
from tests.fakes.mcp_server import RunningMcp, mcp_server
from tests.fakes.outside import outside

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
TOOL: dict[str, Any] = {
    "description": "The weather.",
    "input_schema": SCHEMA,
    "url": "https://weather.example/now",
}


def a_key(letter: bytes) -> Secret:
    return Secret(base64.b64encode(letter * 32).decode())


@pytest.fixture
def runtime(settings: Settings, clean_database: None, clean_redis: None) -> Iterator[Runtime]:
    allowed = replace(
        settings, rate_limit_per_minute=0, outbound_allow="127.0.0.1", secret_key=a_key(b"k")
    )
    made = build_runtime(allowed)
    yield made
    made.database.dispose()
    made.redis.close()
    made.queue.close()


@pytest.fixture(scope="module")
def mcp() -> Iterator[RunningMcp]:
    with mcp_server() as running:
        yield running


def faults(reply: Any) -> list[tuple[str, str]]:
    assert reply.status_code == 422, reply.text
    return [(each["at"], each["code"]) for each in reply.json["errors"]]


class TestHttpTools:
    def test_a_tool_is_registered_shown_replaced_and_removed(
        self, admin: Caller, member: Caller
    ) -> None:
        headers = {"Authorization": "Bearer s3cret", "X-Version": "2"}
        put = admin.put("/v1/tools/weather", json=TOOL | {"headers": headers})
        again = admin.put(
            "/v1/tools/weather",
            json=TOOL | {"headers": {"authorization": None}, "method": "GET", "timeout_seconds": 5},
        )

        assert put.status_code == 200, put.text
        assert put.json["headers_set"] == ["Authorization", "X-Version"]
        assert (put.json["method"], put.json["timeout_seconds"]) == ("POST", 30)
        assert put.headers["ETag"] == '"1"'
        shown = admin.get("/v1/tools/weather").json
        assert shown == again.json
        assert (shown["headers_set"], shown["version"]) == (["authorization"], 2)
        assert member.get("/v1/tools").json["items"] == [
            {
                "name": "weather",
                "kind": "http",
                "server": None,
                "description": "The weather.",
                "input_schema": SCHEMA,
            }
        ]
        assert admin.delete("/v1/tools/weather").status_code == 204
        assert admin.get("/v1/tools/weather").status_code == 404
        actions = [each["action"] for each in admin.get("/v1/audit").json["items"]]
        assert actions == ["tool.delete", "tool.write", "tool.write"]

    @pytest.mark.parametrize(
        ("change", "at", "code"),
        [
            ({"headers": {"Host": "x"}}, "headers.Host", "invalid"),
            ({"headers": {"Proxy-Authorization": "x"}}, "headers.Proxy-Authorization", "invalid"),
            ({"headers": {"a b": "x"}}, "headers.a b", "invalid"),
            ({"headers": {"X": "a\r\nY: b"}}, "headers.X", "invalid"),
            ({"headers": {"X": "ü"}}, "headers.X", "invalid"),
            ({"headers": {"X": ""}}, "headers.X", "invalid"),
            ({"headers": {"X": 1}}, "headers.X", "invalid"),
            ({"headers": {"X": "a", "x": "b"}}, "headers", "invalid"),
            ({"headers": {"X": None}}, "headers.X", "nothing_stored"),
            ({"method": "TRACE"}, "method", "invalid"),
            ({"timeout_seconds": 0}, "timeout_seconds", "invalid"),
            ({"timeout_seconds": 301}, "timeout_seconds", "invalid"),
            ({"description": ""}, "description", "invalid"),
            ({"input_schema": []}, "input_schema", "field_invalid"),
            ({"input_schema": {"type": "array"}}, "input_schema.type", "tool_schema_type"),
            (
                {"input_schema": {"type": "object", "oneOf": []}},
                "input_schema.oneOf",
                "tool_schema_top",
            ),
            (
                {"input_schema": {"type": "object", "description": "x" * 40_000}},
                "input_schema",
                "too_large",
            ),
            ({"secret": "x"}, "secret", "unknown_field"),
        ],
    )
    def test_what_could_never_be_sent_is_refused(
        self, admin: Caller, change: dict[str, Any], at: str, code: str
    ) -> None:
        reply = admin.put("/v1/tools/weather", json=TOOL | change)

        assert faults(reply) == [(at, code)]
        assert admin.get("/v1/tools/weather").status_code == 404

    @pytest.mark.parametrize("name", ["mcp__x", "read_file", "a.b", "a" * 65, "ü"])
    def test_names_that_are_not_free(self, admin: Caller, name: str) -> None:
        assert faults(admin.put(f"/v1/tools/{name}", json=TOOL))[0][0] == "name"

    @pytest.mark.parametrize(
        "url",
        ["http://weather.example/", "https://10.0.0.1/", "https://u:p@weather.example/",
         "https://weather.example:8443/", "file:///etc/passwd", "https://2130706433/"],
    )  # fmt: skip
    def test_urls_that_may_not_be_called(self, runtime: Runtime, admin: Caller, url: str) -> None:
        inside = replace(runtime, outside=type(runtime.outside)(type(runtime.outside.reach)()))
        client = create_app(inside).test_client()

        reply = replace(admin, client=client).put("/v1/tools/weather", json=TOOL | {"url": url})

        assert (reply.status_code, reply.json["code"]) == (422, "address_refused")
        assert reply.json["detail"]

    def test_members_neither_see_nor_change_how_it_is_called(
        self, admin: Caller, member: Caller
    ) -> None:
        admin.put("/v1/tools/weather", json=TOOL)

        assert member.put("/v1/tools/weather", json=TOOL).status_code == 404
        assert member.get("/v1/tools/weather").status_code == 404
        assert member.delete("/v1/tools/weather").status_code == 404
        assert "url" not in member.get("/v1/tools").json["items"][0]

    def test_without_a_key_for_secrets_they_are_refused(
        self, settings: Settings, runtime: Runtime, admin: Caller
    ) -> None:
        bare = build_runtime(replace(settings, rate_limit_per_minute=0))
        asked = replace(admin, client=create_app(bare).test_client())

        refused = asked.put("/v1/tools/weather", json=TOOL | {"headers": {"X": "y"}})
        taken = asked.put("/v1/tools/weather", json=TOOL)

        bare.database.dispose()
        assert (refused.status_code, refused.json["code"]) == (503, "secrets_unavailable")
        assert "HANGO_SECRET_KEY" in refused.json["detail"]
        assert taken.status_code == 200


class TestMcpServers:
    def test_a_server_is_registered_with_its_tools(
        self, admin: Caller, member: Caller, mcp: RunningMcp
    ) -> None:
        body = {"url": mcp.url, "headers": {"X-Token": "s3cret"}, "allowed_tools": ["add", "hang"]}
        put = admin.put("/v1/mcp-servers/demo", json=body)

        assert put.status_code == 200, put.text
        assert set(put.json["changes"]["added"]) >= {"add", "say.it out loud"}
        server = put.json["server"]
        assert server == admin.get("/v1/mcp-servers/demo").json
        assert admin.get("/v1/mcp-servers").json["items"] == [server]
        assert server["headers_set"] == ["X-Token"]
        sent = {each["name"]: each["sent_as"] for each in server["tools"]}
        assert sent["say.it out loud"] == "mcp__demo__say_it_out_loud"
        offered = member.get("/v1/tools").json["items"]
        assert [each["name"] for each in offered] == ["mcp__demo__add", "mcp__demo__hang"]
        assert {each["server"] for each in offered} == {"demo"}
        again = admin.post("/v1/mcp-servers/demo/refresh")
        assert again.json["changes"] == {"added": [], "changed": [], "removed": []}
        assert admin.delete("/v1/mcp-servers/demo").status_code == 204
        assert admin.post("/v1/mcp-servers/demo/refresh").status_code == 404

    def test_a_server_that_does_not_answer_is_not_registered(self, admin: Caller) -> None:
        with outside() as hostile:
            reply = admin.put("/v1/mcp-servers/demo", json={"url": hostile.url("/garbage")})

        assert (reply.status_code, reply.json["code"]) == (502, "outside_failed")
        assert admin.get("/v1/mcp-servers/demo").status_code == 404

    def test_a_server_that_no_longer_answers_keeps_its_tools(self, admin: Caller) -> None:
        with mcp_server() as running:
            admin.put("/v1/mcp-servers/demo", json={"url": running.url})
        before = admin.get("/v1/mcp-servers/demo").json

        reply = admin.post("/v1/mcp-servers/demo/refresh")

        assert reply.status_code in (502, 504)
        assert admin.get("/v1/mcp-servers/demo").json == before

    def test_tools_that_are_allowed_have_to_be_there(self, admin: Caller, mcp: RunningMcp) -> None:
        body = {"url": mcp.url, "allowed_tools": ["add", "nope"]}

        reply = admin.put("/v1/mcp-servers/demo", json=body)

        assert faults(reply) == [("allowed_tools[1]", "unknown_tool")]

    @pytest.mark.parametrize("name", ["Demo", "a_b", "a--b", "-a", "a" * 33, "ü"])
    def test_names_that_no_server_has(self, admin: Caller, name: str) -> None:
        reply = admin.put(f"/v1/mcp-servers/{name}", json={"url": "https://mcp.example/"})

        assert faults(reply) == [("name", "invalid")]


class TestAgents:
    def test_an_agent_names_what_is_registered(
        self, admin: Caller, member: Caller, mcp: RunningMcp
    ) -> None:
        admin.put("/v1/tools/weather", json=TOOL)
        admin.put("/v1/mcp-servers/demo", json={"url": mcp.url})
        names = ["weather", "mcp__demo", "read_file"]

        taken = member.post("/v1/agents", json={"name": "a", "tools": names})
        one = member.post("/v1/agents", json={"name": "b", "tools": ["mcp__demo__add"]})

        assert taken.status_code == one.status_code == 201
        assert taken.json["tools"] == names

    @pytest.mark.parametrize(
        "name", ["wether", "mcp__dmo", "mcp__demo__ad", "mcp__", "mcp__demo__"]
    )
    def test_what_is_not_registered_is_refused(
        self, admin: Caller, member: Caller, mcp: RunningMcp, name: str
    ) -> None:
        admin.put("/v1/tools/weather", json=TOOL)
        admin.put("/v1/mcp-servers/demo", json={"url": mcp.url})

        reply = member.post("/v1/agents", json={"name": "a", "tools": ["weather", name]})

        assert faults(reply) == [("tools[1]", "unknown_tool")]
        assert "GET /v1/tools" in reply.json["errors"][0]["detail"]

    def test_another_tenants_tool_is_unknown(self, admin: Caller, stranger: Caller) -> None:
        admin.put("/v1/tools/weather", json=TOOL)

        reply = stranger.post("/v1/agents", json={"name": "a", "tools": ["weather"]})

        assert faults(reply) == [("tools[0]", "unknown_tool")]

    def test_naming_one_leaves_the_built_in_tools(self, admin: Caller, member: Caller) -> None:
        admin.put("/v1/tools/weather", json=TOOL)
        agent = member.post("/v1/agents", json={"name": "a", "tools": ["weather"]}).json["id"]
        session = member.post("/v1/sessions", json={"agent_id": agent}).json["id"]

        parts = member.get(f"/v1/sessions/{session}/context").json["groups"]["tools"]["parts"]

        assert {"tool:weather", "tool:read_file"} <= {each["id"] for each in parts}
