"""The tenant's own settings: read by all, changed by admins, each change audited."""

from __future__ import annotations

from tests.api.problems import assert_problem
from tests.factories import Caller


def test_content_on_spans_is_off_until_an_admin_turns_it_on(admin: Caller, member: Caller) -> None:
    before = member.get("/v1/tenant").json

    changed = admin.patch("/v1/tenant", json={"trace_llm_content": True})

    assert (before["name"], before["trace_llm_content"]) == ("acme", False)
    assert changed.status_code == 200, changed.text
    assert changed.json == {**before, "trace_llm_content": True}
    assert member.get("/v1/tenant").json == changed.json
    admin.patch("/v1/tenant", json={"trace_llm_content": True})
    rows = admin.get("/v1/audit?action=tenant.update").json["items"]
    assert [(row["target_id"], row["detail"]) for row in rows] == [
        (before["id"], {"trace_llm_content": True})
    ]


def test_a_member_changes_nothing(member: Caller) -> None:
    reply = member.patch("/v1/tenant", json={"trace_llm_content": True})

    assert_problem(reply, 404, "not_found")
    assert member.get("/v1/tenant").json["trace_llm_content"] is False


def test_only_true_and_false_are_taken(admin: Caller) -> None:
    for value in (None, 1, "yes"):
        reply = admin.patch("/v1/tenant", json={"trace_llm_content": value})

        assert reply.status_code == 422
