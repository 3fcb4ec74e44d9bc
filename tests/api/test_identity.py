"""Users, keys, the audit log, and who one is."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.runtime import Runtime
from tests.api.problems import assert_problem, codes
from tests.factories import Caller, made, make_agent, make_session


def test_me_tells_whom_the_key_acts_as(admin: Caller, tenant: object) -> None:
    me = admin.get("/v1/me").json

    assert me["tenant"] == {"id": str(tenant), "name": "acme"}
    assert me["user"]["id"] == str(admin.principal.user_id)
    assert me["role"] == me["user"]["role"] == "admin"
    assert me["key"]["id"] == str(admin.principal.key_id)


def test_an_admin_makes_a_user_and_its_key(admin: Caller, client: FlaskClient) -> None:
    user = made(admin.post("/v1/users", json={"name": "zoe"}))
    key = made(admin.post("/v1/keys", json={"name": "laptop", "user_id": user["id"]}))

    me = client.get("/v1/me", headers={"x-api-key": key["key"]}).json

    assert user["role"] == "member"
    assert (me["user"], me["role"]) == (user, "member")
    assert admin.get(f"/v1/users/{user['id']}").json == user


def test_a_key_is_shown_once(member: Caller) -> None:
    key = made(member.post("/v1/keys", json={"name": "laptop"}))

    listed = member.get("/v1/keys")

    assert key["key"].startswith(f"{key['prefix']}_")
    assert key["prefix"] in listed.text
    assert key["key"] not in listed.text
    assert "hash" not in listed.text


def test_a_member_makes_no_keys_for_others(member: Caller, other_member: Caller) -> None:
    body = {"name": "mine now", "user_id": str(other_member.principal.user_id)}

    assert_problem(member.post("/v1/keys", json=body), 404)


def test_an_admin_makes_no_keys_in_another_tenant(stranger: Caller, member: Caller) -> None:
    body = {"name": "mine now", "user_id": str(member.principal.user_id)}

    assert_problem(stranger.post("/v1/keys", json=body), 404)


def test_a_key_may_expire(member: Caller, runtime: Runtime) -> None:
    soon = (runtime.now() + timedelta(days=1)).isoformat()
    past = (runtime.now() - timedelta(days=1)).isoformat()

    key = made(member.post("/v1/keys", json={"name": "trial", "expires_at": soon}))
    refused = member.post("/v1/keys", json={"name": "trial", "expires_at": past})
    naive = member.post("/v1/keys", json={"name": "trial", "expires_at": "2999-01-01T00:00:00"})

    assert key["expires_at"] is not None
    assert codes(refused) == [("expires_at", "in_the_past")]
    assert codes(naive) == [("expires_at", "invalid")]


def test_revoking_twice_is_noted_once(member: Caller) -> None:
    key = made(member.post("/v1/keys", json={"name": "laptop"}))

    first = member.delete(f"/v1/keys/{key['id']}").json
    second = member.delete(f"/v1/keys/{key['id']}").json

    assert first["revoked_at"] == second["revoked_at"]
    assert [e["action"] for e in audited(member)].count("key.revoke") == 1


def test_two_users_do_not_share_a_name(admin: Caller) -> None:
    made(admin.post("/v1/users", json={"name": "zoe"}))

    assert_problem(admin.post("/v1/users", json={"name": "zoe"}), 409, "name_taken")


@pytest.mark.parametrize("role", ["owner", "", None, 1, "ADMIN"])
def test_a_role_is_admin_or_member(admin: Caller, role: Any) -> None:
    assert codes(admin.post("/v1/users", json={"name": "zoe", "role": role}))[0][0] == "role"


def test_a_user_that_is_shut_out_is_nobody_until_it_is_let_in(
    admin: Caller, member: Caller
) -> None:
    user = f"/v1/users/{member.principal.user_id}"

    out = admin.patch(user, json={"disabled": True}).json
    refused = member.get("/v1/me")
    back = admin.patch(user, json={"disabled": False}).json

    assert out["disabled_at"] is not None
    assert_problem(refused, 401, "unauthorized")
    assert back["disabled_at"] is None
    assert member.get("/v1/me").status_code == 200


def test_a_role_is_changed_at_once(admin: Caller, member: Caller) -> None:
    admin.patch(f"/v1/users/{member.principal.user_id}", json={"role": "admin"})

    assert member.get("/v1/me").json["role"] == "admin"


def test_what_is_done_to_a_user_is_audited_and_nothing_is_not(
    admin: Caller, member: Caller
) -> None:
    user = f"/v1/users/{member.principal.user_id}"
    for body in ({"disabled": True}, {"disabled": True}, {"role": "member"}, {}):
        assert admin.patch(user, json=body).status_code == 200

    (event,) = audited(admin, "&action=user.update")

    assert event["detail"] == {"role": "member", "disabled": True}


@pytest.mark.parametrize("body", [{"disabled": True}, {"role": "member"}])
def test_an_admin_does_not_shut_itself_out(admin: Caller, body: dict[str, Any]) -> None:
    assert_problem(admin.patch(f"/v1/users/{admin.principal.user_id}", json=body), 409, "conflict")


def test_a_user_of_another_tenant_is_not_changed(stranger: Caller, member: Caller) -> None:
    user = f"/v1/users/{member.principal.user_id}"

    assert_problem(stranger.patch(user, json={"disabled": True}), 404)
    assert member.get("/v1/me").status_code == 200


@pytest.mark.parametrize("body", [{"disabled": 1}, {"role": "owner"}, {"name": "new"}])
def test_of_a_user_only_what_can_change_is_changed(admin: Caller, body: dict[str, Any]) -> None:
    assert_problem(admin.patch(f"/v1/users/{admin.principal.user_id}", json=body), 422)


def audited(caller: Caller, query: str = "") -> list[dict[str, Any]]:
    return list(caller.get(f"/v1/audit?limit=200{query}").json["items"])


def test_what_was_done_is_audited_without_what_was_said(admin: Caller) -> None:
    canary = "canary-4711"
    agent = make_agent(admin, name=canary, system_prompt=canary)
    admin.patch(f"/v1/agents/{agent}", json={"system_prompt": canary * 2})
    admin.put(f"/v1/agents/{agent}/memory/memories/a.md", json={"content": canary})
    admin.put(f"/v1/agents/{agent}/skills/s", json={"description": canary, "body": canary})
    session = make_session(admin, agent, ("user", canary))
    admin.patch(f"/v1/sessions/{session}", json={"title": canary})
    admin.put(f"/v1/sessions/{session}/files/a", json={"content": canary})
    admin.post(f"/v1/sessions/{session}/attachments", json={"name": canary, "data": "aGk="})
    user = made(admin.post("/v1/users", json={"name": canary}))
    key = made(admin.post("/v1/keys", json={"name": canary, "user_id": user["id"]}))
    admin.delete(f"/v1/keys/{key['id']}")
    admin.delete(f"/v1/sessions/{session}")
    admin.delete(f"/v1/agents/{agent}")

    events = audited(admin)

    assert [event["action"] for event in reversed(events)] == [
        "agent.create", "agent.update", "memory.write", "skill.write", "session.create",
        "session.update", "file.write", "attachment.create", "user.create", "key.create",
        "key.revoke", "session.delete", "agent.delete",
    ]  # fmt: skip
    assert canary not in str(events)
    assert key["key"] not in str(events)
    assert {event["user_id"] for event in events} == {str(admin.principal.user_id)}
    assert all(event["request_id"] and event["address"] == "127.0.0.1" for event in events)


def test_the_audit_is_filtered_by_action(admin: Caller) -> None:
    agent = make_agent(admin)
    make_session(admin, agent)

    assert [e["target_id"] for e in audited(admin, "&action=agent.create")] == [agent]
    assert codes(admin.get("/v1/audit?action=agent.explode"))[0][0] == "action"


def test_what_fails_is_not_audited(member: Caller) -> None:
    member.post("/v1/agents", json={"name": "x", "max_tokens": 10**9})

    assert audited(member) == []


def test_logs_hold_no_content(admin: Caller, capsys: pytest.CaptureFixture[str]) -> None:
    canary = "canary-4711"
    agent = make_agent(admin, name=canary, system_prompt=canary)
    make_session(admin, agent, ("user", canary))
    admin.put(f"/v1/agents/{agent}/memory/memories/{canary}", json={"content": canary})
    admin.get(f"/v1/agents?query={canary}")
    admin.post("/v1/agents", json={canary: canary})
    admin.post("/v1/agents", data=f'{{"{canary}":', content_type="application/json")

    logged = capsys.readouterr().out

    assert logged.count('"event":"request"') + logged.count('"event": "request"') >= 7
    assert canary not in logged
