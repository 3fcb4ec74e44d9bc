"""Who gets what: every route of the URL map, asked by everybody."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from app.api.access import ACCESS, EndpointWithoutAccess, Who, check_table
from app.domain.outside import HttpTool, McpServer
from app.domain.principals import Role
from app.runtime import Runtime, build_runtime
from app.services import execution
from app.settings import Secret, Settings
from app.web import create_app
from tests.factories import Caller, made, make_agent, make_session
from tests.history import user

BODIES: dict[str, Any] = {
    "agents.create_agent": {"name": "new"},
    "agents.change_agent": {"name": "renamed"},
    "sessions.create_session": {"agent_id": "<agent_id>"},
    "sessions.change_session": {"title": "renamed"},
    "messages.append_messages": {"role": "user", "content": "more"},
    "runs.create_run": {"message": "go on"},
    "tries.create_try": {"message": "go on"},
    "ablations.preview_ablation": {"parts": ["system:agent"]},
    "ablations.create_ablation": {"parts": ["system:agent"], "max_cost": None},
    "memory.put_memory": {"content": "new"},
    "skills.put_skill": {"description": "new", "body": "new"},
    "files.put_file": {"content": "new"},
    "attachments.create_attachment": {"name": "a.txt", "data": "aGk="},
    "imports.create_import": {"content": '{"model":"","messages":[{"role":"user","content":"x"}]}'},
    "keys.create_key": {"name": "new"},
    "overrides.preview_agent_overrides": {"overrides": []},
    "overrides.preview_session_overrides": {"overrides": []},
    "overrides.put_agent_overrides": {"overrides": []},
    "overrides.put_session_overrides": {"overrides": []},
    "overrides.restore_agent_overrides": {"version": 1},
    "overrides.restore_session_overrides": {"version": 1},
    "tools.put_tool": {
        "description": "new",
        "input_schema": {"type": "object"},
        "url": "https://new.example/",
    },
    # Where hango may not call: what counts here is who gets that far.
    "mcp_servers.put_mcp_server": {"url": "https://127.0.0.1/"},
    "quota.put_quota": {"tokens": None, "micro_dollars": None},
    "tenant.change_tenant": {},
    "users.create_user": {"name": "new"},
    "users.change_user": {"role": "member"},
}  # fmt: skip


# What is about the web session itself is asked by its cookie: tests/api/test_web_session.py
TAKE_NO_KEY = {Who.ANYONE, Who.SIGNED_IN}

# What every admin makes in the own tenant, whatever other tenants have under that name.
MADE_BY_NAME = {"tools.put_tool", "mcp_servers.put_mcp_server"}


def _rules() -> list[Rule]:
    """Every route that takes a key, from the application itself. Nothing is connected to."""
    settings = Settings(database_url=Secret("postgresql:///x"), redis_url=Secret("unix:///x"))
    app = create_app(build_runtime(settings))
    return [r for r in app.url_map.iter_rules() if ACCESS[r.endpoint] not in TAKE_NO_KEY]


RULES = sorted(_rules(), key=lambda rule: rule.endpoint)
IDS = [rule.endpoint for rule in RULES]


@pytest.fixture
def owned(member: Caller, runtime: Runtime, request: pytest.FixtureRequest) -> dict[str, str]:
    """One of everything, all of it the member's; by the names that routes use."""
    agent = make_agent(member)
    session = make_session(member, agent, user("hi"))
    file = "/notes/a.md"
    path = "/memories/a.md"
    assert member.put(f"/v1/agents/{agent}/memory{path}", json={"content": "x"}).status_code == 200
    assert (
        member.put(f"/v1/sessions/{session}/files{file}", json={"content": "x"}).status_code == 200
    )
    skill = {"description": "x", "body": "x"}
    assert member.put(f"/v1/agents/{agent}/skills/sk", json=skill).status_code == 200
    body = {"name": "a.txt", "data": "aGk="}
    attachment = made(member.post(f"/v1/sessions/{session}/attachments", json=body))["id"]
    key = made(member.post("/v1/keys", json={"name": "spare"}))["id"]
    for target, part in ((f"agents/{agent}", "system:agent"), (f"sessions/{session}", "message:1")):
        override = {"part": part, "action": "replace", "replacement": "x"}
        put = member.put(f"/v1/{target}/context-overrides", json={"overrides": [override]})
        assert put.status_code == 200, put.text
    _outside_tools(member, runtime)
    return {
        "agent_id": agent,
        "session_id": session,
        "attachment_id": attachment,
        "key_id": key,
        "user_id": str(member.principal.user_id),
        "name": "sk",
        "memory": path[1:],
        "files": file[1:],
        **(_run(member, runtime) if _asks_for(request, "run_id") else {}),
        **_try(member, session),
        **(_ablation(member) if _asks_for(request, "ablation_id") else {}),
    }


def _outside_tools(member: Caller, runtime: Runtime) -> None:
    """A tool and a server of the tenant's, by the name that routes use."""
    admin = replace(member.principal, role=Role.ADMIN)
    about: Any = {"name": "sk", "url": "https://127.0.0.1/", "header_names": ()}
    tool = HttpTool(
        **about, description="x", input_schema={"type": "object"}, method="GET", timeout_seconds=1
    )
    server = McpServer(**about, timeout_seconds=1, allowed_tools=None, tools=())
    with runtime.database.transaction(admin) as tx:
        tx.http_tools.put(tool, {})
        tx.mcp_servers.put(server, {})


def _asks_for(request: pytest.FixtureRequest, argument: str) -> bool:
    """Whether the test is about one route, and that one takes such an id."""
    rule = getattr(request.node, "callspec", None) and request.node.callspec.params.get("rule")
    return rule is not None and argument in rule.arguments


def _run(member: Caller, runtime: Runtime) -> dict[str, str]:
    """A run that has ended, in a session of its own."""
    begun = member.post(f"/v1/sessions/{make_session(member)}/runs", json={"message": "hi"})
    execution.execute(runtime, UUID(begun.json["id"]))
    return {"run_id": begun.json["id"], "number": "1", "other": "1"}


def _try(member: Caller, session: str) -> dict[str, str]:
    begun = member.post(f"/v1/sessions/{session}/context/try", json={})
    assert begun.status_code == 202, begun.text
    return {"try_id": begun.json["id"]}


def _ablation(member: Caller) -> dict[str, str]:
    """An ablation of a session of its own."""
    session = make_session(member, make_agent(member), user("hi"))
    body = BODIES["ablations.create_ablation"]
    begun = member.post(f"/v1/sessions/{session}/context/ablations", json=body)
    assert begun.status_code == 202, begun.text
    return {"ablation_id": begun.json["id"]}


def ask(caller: Caller | FlaskClient, rule: Rule, values: dict[str, str]) -> Any:
    """Call a route with a body that it takes."""
    target = values["agent_id" if rule.rule.startswith("/v1/agents") else "session_id"]
    names = {**values, "path": values.get(rule.endpoint.split(".")[0], ""), "target_id": target}
    url = re.sub(r"<(?:\w+:)?(\w+)>", lambda found: names[found[1]], rule.rule)
    (method,) = rule.methods - {"HEAD", "OPTIONS"}  # type: ignore[operator]
    body = BODIES.get(rule.endpoint)
    if body and "agent_id" in body:
        body = {"agent_id": values["agent_id"]}
    return caller.open(url, method=method, json=body)


def is_object(rule: Rule) -> bool:
    """Whether the route speaks of something that has an owner."""
    if rule.endpoint in MADE_BY_NAME:
        return False
    return bool(rule.arguments) or rule.endpoint == "sessions.create_session"


@pytest.fixture
def everything(member: Caller, runtime: Runtime, owned: dict[str, str]) -> dict[str, str]:
    """The same with what takes longer to make: enough for every route."""
    return {**owned, **_run(member, runtime), **_ablation(member)}


READING = [rule for rule in RULES if "GET" in (rule.methods or ())]
CHANGING = [rule for rule in RULES if "GET" not in (rule.methods or ())]


def test_what_a_member_reads_is_its_own_and_an_admin_s(
    member: Caller, admin: Caller, everything: dict[str, str]
) -> None:
    for rule in READING:
        for_admins = ACCESS[rule.endpoint] is Who.ADMIN
        _assert_reached(ask(member, rule, everything), rule, reached=not for_admins)
        _assert_reached(ask(admin, rule, everything), rule, reached=True)


@pytest.mark.parametrize("rule", CHANGING, ids=lambda rule: rule.endpoint)
def test_a_member_changes_what_is_its_own(
    rule: Rule, member: Caller, owned: dict[str, str]
) -> None:
    for_admins = ACCESS[rule.endpoint] is Who.ADMIN
    _assert_reached(ask(member, rule, owned), rule, reached=not for_admins)


@pytest.mark.parametrize("rule", CHANGING, ids=lambda rule: rule.endpoint)
def test_an_admin_changes_everything_of_its_tenant(
    rule: Rule, admin: Caller, owned: dict[str, str]
) -> None:
    _assert_reached(ask(admin, rule, owned), rule, reached=True)


def test_what_is_another_members_is_not_there(
    other_member: Caller, everything: dict[str, str]
) -> None:
    for rule in RULES:
        hidden = is_object(rule) or ACCESS[rule.endpoint] is Who.ADMIN
        _assert_reached(ask(other_member, rule, everything), rule, reached=not hidden)


def test_what_is_another_tenants_is_not_there(stranger: Caller, everything: dict[str, str]) -> None:
    for rule in RULES:
        _assert_reached(ask(stranger, rule, everything), rule, reached=not is_object(rule))


def test_without_a_key_there_is_nothing(client: FlaskClient, everything: dict[str, str]) -> None:
    for rule in RULES:
        reply = ask(client, rule, everything)
        assert (reply.status_code, reply.json["code"]) == (401, "unauthorized"), rule


def test_nobody_can_tell_what_is_hidden_from_what_is_not_there(
    other_member: Caller, everything: dict[str, str]
) -> None:
    absent = {name: str(uuid4()) for name in everything if name.endswith("_id")}
    for rule in RULES:
        if not is_object(rule):
            continue
        hidden = ask(other_member, rule, everything)
        missing = ask(other_member, rule, {**everything, **absent})
        assert _without_id(hidden.json) == _without_id(missing.json), rule
        assert set(hidden.headers.keys()) == set(missing.headers.keys()), rule
        assert hidden.headers["Cache-Control"] == "no-store", rule


def test_lists_hold_nothing_of_others(
    member: Caller, other_member: Caller, stranger: Caller, owned: dict[str, str]
) -> None:
    for path in ("/v1/agents", "/v1/sessions"):
        assert len(member.get(path).json["items"]) == 1
        assert other_member.get(path).json["items"] == []
        assert stranger.get(path).json["items"] == []
    for caller in (other_member, stranger):
        keys = caller.get("/v1/keys").json["items"]
        assert {key["user_id"] for key in keys} == {str(caller.principal.user_id)}
        audited = caller.get("/v1/audit").json["items"]
        assert {event["user_id"] for event in audited} <= {str(caller.principal.user_id)}


def test_a_refusal_leaves_no_trace_in_the_audit(
    admin: Caller,
    stranger: Caller,
    other_member: Caller,
    everything: dict[str, str],
) -> None:
    before = len(admin.get("/v1/audit?limit=200").json["items"])

    for caller in (stranger, other_member):
        for rule in RULES:
            if is_object(rule):
                ask(caller, rule, everything)

    assert len(admin.get("/v1/audit?limit=200").json["items"]) == before


def test_a_shared_agent_is_read_and_used_but_not_changed(
    member: Caller, other_member: Caller, stranger: Caller, owned: dict[str, str]
) -> None:
    agent = f"/v1/agents/{owned['agent_id']}"
    assert member.patch(agent, json={"shared": True}).status_code == 200

    assert other_member.get(agent).status_code == 200
    assert other_member.get(f"{agent}/memory/memories/a.md").status_code == 200
    assert make_session(other_member, owned["agent_id"])
    for refused in (
        other_member.patch(agent, json={"shared": False}),
        other_member.delete(agent),
        other_member.put(f"{agent}/memory/memories/a.md", json={"content": "y"}),
        other_member.delete(f"{agent}/skills/sk"),
        stranger.get(agent),
    ):
        assert refused.status_code == 404


def test_an_endpoint_without_a_row_stops_the_start(runtime: Runtime) -> None:
    app = Flask("hasty")
    app.add_url_rule("/v1/hasty", "hasty.endpoint", lambda: "")

    with pytest.raises(EndpointWithoutAccess, match=r"hasty\.endpoint"):
        check_table(app)


def test_every_row_is_an_endpoint(app: Flask) -> None:
    assert ACCESS.keys() == {rule.endpoint for rule in app.url_map.iter_rules()}


def _assert_reached(reply: Any, rule: Rule, *, reached: bool) -> None:
    if reached:
        beyond = reply.status_code >= 300 and reply.json["code"] in ("address_refused",)
        assert reply.status_code < 300 or reply.status_code == 409 or beyond, (
            rule.endpoint,
            reply.text,
        )
    else:
        assert reply.status_code == 404, (rule.endpoint, reply.text)
        assert reply.json["code"] == "not_found"


def _without_id(problem: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in problem.items() if name != "request_id"}
