"""Agents: what they may hold, and how they change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from celery.contrib.testing.worker import start_worker

from app.runtime import Runtime, build_runtime
from app.services import messages
from app.settings import Secret
from app.tokens.estimator import estimator_for
from app.web import create_app
from tests.api.problems import assert_problem, codes
from tests.factories import Caller, made, make_agent, make_session, until
from tests.history import assistant, user
from workers import base
from workers import messages as _jobs  # noqa: F401 (registers them)

TOOL = {"name": "look_up", "description": "Look it up.", "input_schema": {"type": "object"}}
PROSE = "Große Übung: naïve café, 日本語, def f(x): return {x: x**2}, 3.14159. " * 20
OLD, NEW = "claude-sonnet-4-5", "claude-opus-4-8"


def create(caller: Caller, **fields: Any) -> Any:
    return caller.post("/v1/agents", json={"name": "a", "model": OLD} | fields)


def test_an_agent_comes_back_as_it_was_given(member: Caller) -> None:
    given = {
        "name": "researcher",
        "model": OLD,
        "system_prompt": "Dig deep.",
        "max_tokens": 1000,
        "tools": [TOOL, "read_file"],
        "middleware": {"todo": False},
        "subagents": [{"name": "s", "description": "d", "system_prompt": "p", "tools": None}],
        "strategy": {"name": "checkpoint", "trigger": 0.8, "target": 0.5},
        "shared": True,
    }

    agent = made(member.post("/v1/agents", json=given))

    on = {"filesystem": True, "subagents": True, "memory": True, "skills": True}
    assert agent == agent | given | {"middleware": {"todo": False} | on}
    assert UUID(agent["id"]).version == 7
    assert agent["owner_id"] == str(member.principal.user_id)
    assert agent["model_known"] is True
    assert agent["version"] == 1
    assert member.get(f"/v1/agents/{agent['id']}").json == agent


def test_only_a_name_is_needed(member: Caller, runtime: Runtime) -> None:
    agent = made(member.post("/v1/agents", json={"name": "a"}))

    assert agent["model"] == runtime.settings.default_model
    assert agent["system_prompt"] == ""
    assert agent["max_tokens"] == 8192


def test_a_prompt_may_have_several_blocks(member: Caller) -> None:
    agent = made(create(member, system_prompt=["one", "two"]))

    assert agent["system_prompt"] == ["one", "two"]


def test_an_unknown_model_is_taken_and_said_to_be_unknown(member: Caller) -> None:
    agent = made(create(member, model="house-model-7"))

    assert agent["model_known"] is False


@pytest.mark.parametrize("value", [0, 0.5, 1, 2, -1, "hot", None, True])
def test_no_temperature_is_taken_by_a_model_that_takes_none(member: Caller, value: Any) -> None:
    reply = create(member, temperature=value)

    assert reply.status_code == 422
    assert ("temperature", "unsupported_by_model") in codes(reply) or value is None


REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "a name of blanks": ({"name": " \u200b"}, "name", "invalid"),
    "a name of two lines": ({"name": "a\nb"}, "name", "invalid"),
    "a long name": ({"name": "x" * 201}, "name", "invalid"),
    "a number for a name": ({"name": 5}, "name", "invalid"),
    "no model": ({"model": ""}, "model", "invalid"),
    "tokens as a text": ({"max_tokens": "100"}, "max_tokens", "invalid"),
    "tokens as a fraction": ({"max_tokens": 1.5}, "max_tokens", "invalid"),
    "tokens as a boolean": ({"max_tokens": True}, "max_tokens", "invalid"),
    "no tokens": ({"max_tokens": 0}, "max_tokens", "invalid"),
    "too many tokens": ({"max_tokens": 10**9}, "max_tokens", "above_model_limit"),
    "far too many tokens": ({"max_tokens": 10**30}, "max_tokens", "above_model_limit"),
    "yes for a boolean": ({"shared": "yes"}, "shared", "invalid"),
    "one for a boolean": ({"shared": 1}, "shared", "invalid"),
    "an unknown middleware": ({"middleware": {"magic": True}}, "middleware.magic", "unknown_field"),
    "a text for a middleware": ({"middleware": {"todo": "on"}}, "middleware.todo", "invalid"),
    "an unknown strategy": ({"strategy": {"name": "hope"}}, "strategy.name", "invalid"),
    "a target above its trigger": (
        {"strategy": {"trigger": 0.5, "target": 0.6}}, "strategy.target", "invalid"),
    "a prompt of numbers": ({"system_prompt": [1]}, "system_prompt", "invalid"),
    "a prompt that is null": ({"system_prompt": None}, "system_prompt", "null"),
    "a version": ({"version": 7}, "version", "unknown_field"),
    "null for tools": ({"tools": None}, "tools", "null"),
    "a number for a tool": ({"tools": [5]}, "tools[0]", "invalid"),
    "an unknown built-in": ({"tools": ["teleport"]}, "tools[0]", "unknown_tool"),
    "a tool twice": ({"tools": [TOOL, TOOL]}, "tools[1]", "name_twice"),
    "a built-in twice": ({"tools": ["ls", "ls"]}, "tools[1]", "name_twice"),
    "the name of a built-in": (
        {"tools": [TOOL | {"name": "read_file"}]}, "tools[0]", "name_reserved"),
}  # fmt: skip


@pytest.mark.parametrize(("fields", "at", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_what_an_agent_cannot_be_is_refused(
    member: Caller, fields: dict[str, Any], at: str, code: str
) -> None:
    created = create(member, **fields)
    agent = make_agent(member)
    changed = member.patch(f"/v1/agents/{agent}", json=fields)

    for reply in (created, changed):
        assert reply.status_code == 422, reply.text
        assert (at, code) in codes(reply)
    assert member.get(f"/v1/agents/{agent}").json["version"] == 1


@pytest.mark.parametrize("name", ["assist.HassTurnOn", "read file", "größe", "a" * 129, ""])
def test_a_tool_that_could_never_be_sent_is_refused(member: Caller, name: str) -> None:
    reply = create(member, tools=[TOOL | {"name": name}])

    problem = assert_problem(reply, 422, "tool_refused")
    assert problem["errors"][0]["at"].startswith("tools[0]")


def test_a_built_in_name_is_free_when_its_middleware_is_off(member: Caller) -> None:
    own = [TOOL | {"name": "read_file"}]

    agent = made(create(member, tools=own, middleware={"filesystem": False}))
    turned_on = member.patch(f"/v1/agents/{agent['id']}", json={"middleware": {}})

    assert agent["tools"] == own
    assert ("tools[0]", "name_reserved") in codes(turned_on)


def test_a_change_leaves_the_rest_and_counts(member: Caller) -> None:
    agent = make_agent(member, system_prompt="Stay.")

    changed = member.patch(f"/v1/agents/{agent}", json={"name": "other"})

    assert changed.status_code == 200
    assert changed.headers["ETag"] == '"2"'
    shown = changed.json
    assert (shown["name"], shown["system_prompt"], shown["version"]) == ("other", "Stay.", 2)


def test_a_change_of_nothing_changes_nothing(member: Caller) -> None:
    agent = make_agent(member)

    assert member.patch(f"/v1/agents/{agent}", json={}).json["version"] == 1


@pytest.mark.parametrize(
    ("tag", "status"),
    [('"1"', 200), ("*", 200), ('"0", "1"', 200), ('"2"', 412), ('W/"1"', 412), ("1", 200),
     ("", 412)],
)  # fmt: skip
def test_a_change_may_be_bound_to_a_version(member: Caller, tag: str, status: int) -> None:
    agent = f"/v1/agents/{make_agent(member)}"
    assert member.get(agent).headers["ETag"] == '"1"'

    reply = member.patch(agent, json={"name": "b"}, headers={"If-Match": tag})

    assert reply.status_code == status
    assert member.get(agent).json["name"] == ("b" if status == 200 else "helper")
    assert member.delete(agent, headers={"If-Match": '"9"'}).status_code == 412


def test_an_agent_with_sessions_stays(member: Caller) -> None:
    agent = make_agent(member)
    session = make_session(member, agent)

    assert_problem(member.delete(f"/v1/agents/{agent}"), 409, "in_use")
    assert member.delete(f"/v1/sessions/{session}").status_code == 204
    assert member.delete(f"/v1/agents/{agent}").status_code == 204
    assert member.get(f"/v1/agents/{agent}").status_code == 404


def test_agents_are_found_by_a_part_of_their_name(member: Caller) -> None:
    make_agent(member, name="100% wool")
    make_agent(member, name="1000 sheep")

    found = member.get("/v1/agents?query=100%25").json["items"]

    assert [each["name"] for each in found] == ["100% wool"]


def test_a_model_that_counts_otherwise_has_its_messages_counted_again(
    member: Caller, runtime: Runtime
) -> None:
    agent = make_agent(member, model=OLD)
    session = make_session(member, agent, user(PROSE), assistant(PROSE))
    path = f"/v1/sessions/{session}/messages"
    before = [each["tokens"] for each in member.get(path).json["items"]]
    assert estimator_for(OLD).id != estimator_for(NEW).id

    assert member.patch(f"/v1/agents/{agent}", json={"model": NEW}).status_code == 200
    assert queued(runtime) == ["hango.messages.recount"]
    messages.recount(runtime, UUID(agent))

    after = member.get(path).json["items"]
    counted = [estimator_for(NEW).message(m["role"], m["content"]).tokens for m in after]
    assert [each["tokens"] for each in after] == counted
    assert counted != before


def test_a_worker_counts_again_what_a_request_has_queued(
    member: Caller, runtime: Runtime, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = make_agent(member, model=OLD)
    session = make_session(member, agent, user(PROSE))
    path = f"/v1/sessions/{session}/messages"
    (before,) = member.get(path).json["items"]

    header = {"X-Request-Id": "tie-1"}
    assert (
        member.patch(f"/v1/agents/{agent}", json={"model": NEW}, headers=header).status_code == 200
    )
    with working(runtime):
        until(lambda: member.get(path).json["items"][0]["tokens"] != before["tokens"])
        until(lambda: '"job_done"' in (said := said_so_far(capsys)) and "tie-1" in said)


def test_a_lost_recount_is_found_by_the_sweep(member: Caller, runtime: Runtime) -> None:
    agent = make_agent(member, model=OLD)
    make_session(member, agent, user(PROSE))
    member.patch(f"/v1/agents/{agent}", json={"model": NEW})
    runtime.redis.flushdb()

    messages.sweep_counts(runtime)

    assert queued(runtime) == ["hango.messages.recount"]


def test_a_change_succeeds_while_the_broker_is_away(member: Caller, runtime: Runtime) -> None:
    away = build_runtime(replace(runtime.settings, redis_url=Secret("redis://127.0.0.1:9/0")))
    agent = make_agent(member, model=OLD)
    caller = replace(member, client=create_app(away).test_client())

    changed = caller.patch(f"/v1/agents/{agent}", json={"model": NEW})
    away.database.dispose()

    assert changed.status_code == 200
    assert changed.json["model"] == NEW


def test_a_model_that_counts_alike_has_nothing_counted_again(
    member: Caller, runtime: Runtime
) -> None:
    agent = make_agent(member, model=OLD)

    assert (
        member.patch(f"/v1/agents/{agent}", json={"model": "claude-haiku-4-5"}).status_code == 200
    )

    assert queued(runtime) == []


@contextmanager
def working(runtime: Runtime) -> Iterator[None]:
    """A real worker on the real broker, in a thread of this process."""
    celery = base.application(runtime.settings)
    with start_worker(celery, pool="solo", perform_ping_check=False, shutdown_timeout=20):
        yield


_heard: list[str] = []


def said_so_far(capsys: pytest.CaptureFixture[str]) -> str:
    _heard.append(capsys.readouterr().out)
    return "".join(_heard)


def queued(runtime: Runtime) -> list[str]:
    """The names of the jobs that wait in Redis."""

    waiting: Any = runtime.redis.lrange("hango:upkeep", 0, -1)
    return [json.loads(each)["headers"]["task"] for each in waiting]
