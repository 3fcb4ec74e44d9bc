"""What spans and metrics say, by the names that docs/reference/telemetry.md lists."""

from __future__ import annotations

import json

import pytest
from opentelemetry.trace import SpanKind, StatusCode

from app.provider.failures import Overloaded
from app.services import measures
from tests.factories import make_agent, make_session
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use
from tests.history import tool_result, user
from tests.history import tool_use as used
from tests.telemetry.conftest import House, Recorded

MODEL = "claude-sonnet-4-5"


def says(*blocks: object, **details: object) -> Reply:
    return Reply(blocks=list(blocks), **details)  # type: ignore[arg-type]


def test_an_inspect_request_tells_the_size_of_the_next_call(
    house: House, recorded: Recorded
) -> None:
    session = make_session(house.alice, None, user("hi"))

    shown = house.alice.get(f"/v1/sessions/{session}/context").json

    span = recorded.one("agent.context_inspect")
    groups = shown["groups"]
    assert span.attributes == {
        "hango.context.parts.system": len(groups["system"]["parts"]),
        "hango.context.parts.tools": len(groups["tools"]["parts"]),
        "hango.context.parts.messages": 1,
        "hango.context.tokens.before": shown["totals"]["before"],
        "hango.context.tokens.after": shown["totals"]["after"],
        "hango.context.would_compact": False,
        "hango.context.overrides": 0,
        "hango.context.excluded_tokens": 0,
    }
    assert recorded.parent_of(span) == "GET /v1/sessions/<uuid:session_id>/context"
    assert recorded.metrics()["hango.context.inspect.duration"] == [({}, 1)]


def test_a_call_says_what_it_was_and_what_it_used(house: House, recorded: Recorded) -> None:
    session = make_session(house.alice)
    usage = {"input_tokens": 100, "cache_read_input_tokens": 20, "output_tokens": 7}

    run = house.run(session, ScriptedProvider(says(text("Hello."), usage=usage)))

    span = recorded.one(f"chat {MODEL}")
    told = dict(span.attributes or {})
    assert span.kind is SpanKind.CLIENT
    assert span.status.status_code is StatusCode.UNSET
    assert told["gen_ai.operation.name"] == "chat"
    assert told["gen_ai.request.model"] == MODEL
    assert told["gen_ai.response.finish_reasons"] == ("end_turn",)
    assert told["gen_ai.usage.input_tokens"] == 120
    assert told["gen_ai.usage.cache_read.input_tokens"] == 20
    assert told["gen_ai.usage.output_tokens"] == 7
    assert told["gen_ai.conversation.id"] == session
    assert told["hango.run.id"] == run["id"]
    assert told["hango.context.overrides"] == 0
    assert "hango.context.try" not in told
    figures = {"input": 100, "input_cache_read": 20, "input_cache_write": 0, "output": 7}
    assert json.loads(str(told["langfuse.observation.usage_details"])) == figures
    assert recorded.parent_of(span) == "invoke_agent"
    metrics = recorded.metrics()
    labels = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": MODEL,
        "hango.purpose": "turn",
    }
    assert metrics["gen_ai.client.operation.duration"] == [(labels, 1)]
    assert {point["gen_ai.token.type"] for point, _ in metrics["gen_ai.client.token.usage"]} == {
        "input",
        "output",
    }
    assert metrics["hango.run"] == [({"outcome": "succeeded"}, 1)]


def test_a_run_holds_its_calls_and_its_tools(house: House, recorded: Recorded) -> None:
    session = make_session(house.alice)
    provider = ScriptedProvider(
        says(tool_use("read_file", path="/none.md"), tool_use("no_such_tool")), says(text("No."))
    )

    house.run(session, provider)

    run = recorded.one("invoke_agent")
    assert (run.attributes or {})["hango.run.turns"] == 2
    inner = [each for each in recorded.spans if each.name.startswith(("chat", "execute_tool"))]
    assert {recorded.parent_of(each) for each in inner} == {"invoke_agent"}
    read, invented = (recorded.one(n) for n in ("execute_tool read_file", "execute_tool"))
    assert (read.attributes or {})["error.type"] == "tool_error"
    assert "gen_ai.tool.name" not in (invented.attributes or {})


def test_a_try_is_a_request_of_its_own_with_its_call_under_it(
    house: House, recorded: Recorded
) -> None:
    session = make_session(house.alice, None, user("hi"))

    trial = house.try_(session, ScriptedProvider(says(text("Yes."))), exclude=["system:agent"])

    above, chat = recorded.one("context_try"), recorded.one(f"chat {MODEL}")
    assert above.kind is SpanKind.SERVER
    assert recorded.parent_of(chat) == "context_try"
    assert (chat.attributes or {})["hango.context.try"] is True
    assert (chat.attributes or {})["hango.try.id"] == trial["id"]
    assert (chat.attributes or {})["hango.context.overrides"] == 1
    assert int((chat.attributes or {})["hango.context.excluded_tokens"]) > 0
    assert recorded.metrics()["hango.context.try"] == [({"outcome": "succeeded"}, 1)]


def test_what_became_of_overrides_is_told_by_events(house: House, recorded: Recorded) -> None:
    session = make_session(
        house.alice, None, user("hi"), used("toolu_1"), tool_result("toolu_1"), user("go on")
    )
    body = {"overrides": [{"part": "message:2", "action": "exclude"}]}
    saved = house.alice.put(f"/v1/sessions/{session}/context-overrides", json=body)
    assert saved.status_code == 200, saved.text

    house.alice.get(f"/v1/sessions/{session}/context")

    events = recorded.named("agent.context_inspect")[-1].events
    assert [(each.name, dict(each.attributes or {})) for each in events] == [
        ("agent.context_override_paired", {"hango.context.part": "message:3"})
    ]


def test_a_stale_override_is_told_without_the_name_of_its_part(
    house: House, recorded: Recorded
) -> None:
    agent = make_agent(house.alice)
    path = f"/v1/agents/{agent}/memory/memories/secret-plan.md"
    house.alice.put(path, json={"content": "x"})
    part = "system:memory:/memories/secret-plan.md"
    body = {"overrides": [{"part": part, "action": "exclude"}]}
    assert house.alice.put(f"/v1/agents/{agent}/context-overrides", json=body).status_code == 200
    house.alice.delete(path)
    session = make_session(house.alice, agent, user("hi"))

    house.run(session, ScriptedProvider(says(text("Yes."))))

    (event,) = recorded.one(f"chat {MODEL}").events
    assert event.name == "agent.context_override_stale"
    assert dict(event.attributes or {}) == {"hango.context.part": "system:memory"}


def test_a_failed_call_is_marked_by_its_code(house: House, recorded: Recorded) -> None:
    session = make_session(house.alice)

    house.run(session, ScriptedProvider(Overloaded("busy")))

    for name in (f"chat {MODEL}", "invoke_agent"):
        span = recorded.one(name)
        assert span.status.status_code is StatusCode.ERROR
        assert (span.attributes or {})["error.type"] == "provider_overloaded"
        assert (span.events, span.status.description) == ((), None) or list(span.events) == []
    assert recorded.metrics()["hango.run"] == [({"outcome": "failed"}, 1)]


def test_a_model_that_does_not_exist_makes_no_label(house: House, recorded: Recorded) -> None:
    session = make_session(house.alice, make_agent(house.alice, model="made-up-by-somebody"))

    house.run(session, ScriptedProvider(says(text("Yes."))))

    ((labels, _),) = recorded.metrics()["gen_ai.client.operation.duration"]
    assert labels["gen_ai.request.model"] == "other"


def test_log_lines_and_audit_rows_name_their_trace(house: House, recorded: Recorded) -> None:
    agent = make_agent(house.alice)

    (row,) = [e for e in house.alice.get("/v1/audit").json["items"] if e["target_id"] == agent]

    span = recorded.one("POST /v1/agents")
    trace = format(span.context.trace_id, "032x")
    assert row["trace_id"] == trace
    (line,) = [e for e in recorded.logged if e.get("route") == "/v1/agents"]
    assert (line["trace_id"], line["span_id"]) == (trace, format(span.context.span_id, "016x"))


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_who_asks_whether_hango_lives_is_not_traced(
    house: House, recorded: Recorded, path: str
) -> None:
    before = len(recorded.spans)

    house.alice.get(path)

    assert len(recorded.spans) == before


def test_an_unknown_path_is_not_named(house: House, recorded: Recorded) -> None:
    house.alice.get("/v1/what-alice-thinks?of=bob")

    span = recorded.spans[-1]
    assert span.name == "HTTP"
    assert "alice" not in str(span.to_json())


def test_statements_are_seen_without_values_and_only_within_a_request(
    house: House, recorded: Recorded
) -> None:
    make_agent(house.alice, name="quite-particular")

    statements = [e for e in recorded.spans if (e.attributes or {}).get("db.statement")]
    assert any("INSERT INTO agents" in str(e.attributes) for e in statements)
    assert all(each.parent for each in statements)
    assert not any("quite-particular" in str(each.to_json()) for each in recorded.spans)


def test_overrides_in_force_are_told_by_tenant_once_they_are_counted(
    house: House, recorded: Recorded
) -> None:
    session = make_session(house.alice, None, user("hi"), user("go on"))
    body = {"overrides": [{"part": "message:1", "action": "exclude"}]}
    assert (
        house.alice.put(f"/v1/sessions/{session}/context-overrides", json=body).status_code == 200
    )

    measures.report(house.runtime)

    tenant = str(house.alice.principal.tenant_id)
    gauge = "hango.context.overrides.active"
    assert recorded.metrics()[gauge] == [({"hango.tenant.id": tenant}, 1)]
    assert gauge not in recorded.metrics(), "another process may know it better next time"
