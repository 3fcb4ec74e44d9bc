"""Helpers behind `task`: each in a session and a run of its own, carried out where it is called."""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.chain.handlers.delegation import MAX_DEPTH
from app.domain.principals import Role
from app.domain.quota import Limits, Quota
from app.provider.failures import Overloaded
from app.services import execution, quota, try_execution, work
from app.services import runs as runs_service
from app.web import create_app
from tests.celery_worker import started
from tests.engine.conftest import Runs, says
from tests.factories import make_agent, make_caller, make_session, until
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Silence, StrictProvider, text, tool_use

SCOUT = {
    "name": "scout",
    "description": "Looks around.",
    "system_prompt": "You look around.",
    "tools": ["read_file", "write_file", "task"],
}
MUTE = SCOUT | {"name": "mute", "system_prompt": "You have no tools.", "tools": []}


class Cast(ScriptedProvider):
    """Answers by who asks: the name is the system prompt's beginning."""

    def __init__(self, **scripts: list[Any]) -> None:
        super().__init__()
        self.scripts = {name: deque(script) for name, script in scripts.items()}
        self.bodies: list[tuple[str, Mapping[str, Any]]] = []

    def _next(self, body: Mapping[str, Any]) -> dict[str, Any]:
        who = "scout" if "look around" in body["system"][0]["text"] else "lead"
        self.bodies.append((who, body))
        self.script = self.scripts[who]
        return super()._next(body)

    def sent_by(self, who: str) -> list[Mapping[str, Any]]:
        return [body for each, body in self.bodies if each == who]


def a_lead(runs: Runs, *helpers: Mapping[str, Any], **fields: Any) -> str:
    body = {"system_prompt": "You lead.", "subagents": list(helpers or (SCOUT,))} | fields
    return make_session(runs.alice, make_agent(runs.alice, **body))


def task(call_id: str = "toolu_1", helper: str = "scout", prompt: str = "Look!") -> Any:
    return tool_use("task", call_id, helper=helper, prompt=prompt)


def children(runs: Runs, session: str) -> Any:
    found = runs.alice.get(f"/v1/sessions?parent={session}")
    assert found.status_code == 200, found.text
    return found.json["items"][::-1]


def runs_of(runs: Runs, session: str) -> Any:
    return runs.alice.get(f"/v1/sessions/{session}/runs").json["items"]


def added(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: number + other[name] for name, number in one.items()}


def results(runs: Runs, session: str) -> Any:
    return next(
        each["content"]
        for each in runs.messages(session)
        if each["content"][0]["type"] == "tool_result"
    )


def test_a_helper_works_in_a_session_of_its_own(runs: Runs) -> None:
    session = a_lead(runs)
    provider = Cast(
        lead=[says(task(prompt="Look at the tea.")), says(text("It is green."))],
        scout=[
            says(tool_use("write_file", "toolu_2", path="/tea", content="green")),
            says(text("Green tea.")),
        ],
    )

    run = runs.answered(session, provider)

    assert (run["status"], run["turns"], run["usage"]["calls"]) == ("succeeded", 2, 2)
    (result,) = results(runs, session)
    assert (result["content"], result.get("is_error")) == ("Green tea.", None)
    (child,) = children(runs, session)
    assert child["parent_id"] == session
    assert (child["parent_tool_use_id"], child["helper"]) == ("toolu_1", SCOUT)
    assert child["title"] == "scout: Look at the tea."
    (helper_run,) = runs_of(runs, child["id"])
    assert (helper_run["parent_run_id"], helper_run["parent_tool_use_id"]) == (run["id"], "toolu_1")
    assert (helper_run["status"], helper_run["turns"]) == ("succeeded", 2)
    assert helper_run["deadline_at"] == run["deadline_at"]
    listed = runs_of(runs, session)[0]
    both = (run["usage"], helper_run["usage"])
    assert run["usage_with_helpers"] == listed["usage_with_helpers"] == added(*both)
    assert helper_run["usage_with_helpers"] == helper_run["usage"]
    assert [call["purpose"] for call in runs.calls(helper_run["id"])] == ["subagent", "subagent"]
    assert runs.alice.get(f"/v1/sessions/{child['id']}/files/tea").json["content"] == "green"
    first = provider.sent_by("scout")[0]
    assert first["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "Look at the tea."}]}
    ]
    assert {tool["name"] for tool in first["tools"]} == {"read_file", "write_file", "task"}


def test_a_list_of_sessions_leaves_those_of_helpers_out(runs: Runs) -> None:
    session = a_lead(runs)
    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))]))
    (child,) = children(runs, session)

    def listed(query: str = "") -> set[str]:
        return {each["id"] for each in runs.alice.get(f"/v1/sessions{query}").json["items"]}

    assert listed() == {session}
    assert listed("?nested=true") == {session, child["id"]}
    assert listed(f"?parent={child['id']}") == set()


def test_inspect_of_a_helper_s_session_is_what_its_call_sends(runs: Runs) -> None:
    """Its own prompt and tools; the agent's memory, and its overrides but those of the prompt."""
    session = a_lead(runs)
    agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    memory = {"content": "She likes tea."}
    runs.alice.put(f"/v1/agents/{agent}/memory/memories/a.md", json=memory)
    overrides = [
        {"part": "system:agent", "action": "replace", "replacement": "You follow."},
        {"part": "tool:read_file", "action": "exclude"},
    ]
    path = f"/v1/agents/{agent}/context-overrides"
    assert runs.alice.put(path, json={"overrides": overrides}).status_code == 200
    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))]))
    (child,) = children(runs, session)
    (first,) = runs.calls(runs_of(runs, child["id"])[0]["id"])

    run = runs.begin(child["id"], "And now?")
    shown = runs.alice.get(f"/v1/sessions/{child['id']}/context").json
    provider = Cast(scout=[says(text("Still."))])
    runs.carry_out(run, provider)

    (call,) = runs.calls(run)
    assert call["request_sha256"] == shown["request_sha256"] != first["request_sha256"]
    assert call["purpose"] == "turn"
    parts = {part["id"]: part for group in shown["groups"].values() for part in group["parts"]}
    assert parts["system:agent"]["override"] == "none"
    assert "helper scout" in parts["system:agent"]["origin"]
    assert parts["system:memory:/memories/a.md"]["included"]
    assert not parts["tool:read_file"]["included"]
    assert "tool:ls" not in parts
    assert provider.bodies[0][1]["system"][0]["text"] == SCOUT["system_prompt"]


def test_what_a_helper_s_call_sends_is_what_inspect_shows_meanwhile(runs: Runs) -> None:
    session = a_lead(runs)
    shown = []

    class Looking(Cast):
        def _next(self, body: Mapping[str, Any]) -> dict[str, Any]:
            if "look around" in body["system"][0]["text"]:
                (child,) = children(runs, session)
                shown.append(runs.alice.get(f"/v1/sessions/{child['id']}/context").json)
            return super()._next(body)

    look = says(tool_use("read_file", "toolu_r", path="/a"))
    scout = [look, says(text("Nothing."))]
    runs.answered(session, Looking(lead=[says(task()), says(text("."))], scout=scout))

    (child,) = children(runs, session)
    calls = runs.calls(runs_of(runs, child["id"])[0]["id"])
    assert [each["request_sha256"] for each in calls] == [each["request_sha256"] for each in shown]
    assert [each["estimated_tokens"] for each in calls] == [
        each["totals"]["after"] for each in shown
    ]


def test_a_try_in_a_helper_s_session_is_the_helper_s(runs: Runs) -> None:
    session = a_lead(runs)
    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))]))
    (child,) = children(runs, session)
    body = {"message": "Again?", "exclude": ["system:agent"]}
    path = f"/v1/sessions/{child['id']}/context/try"

    tried = runs.alice.post(path, json=body).json

    provider = ScriptedProvider(says(text("Hm.")))
    try_execution.execute(replace(runs.runtime, provider=provider), UUID(tried["id"]))
    assert provider.sent[0]["system"][0]["text"] != SCOUT["system_prompt"]
    assert {tool["name"] for tool in provider.sent[0]["tools"]} == set(SCOUT["tools"])


def test_a_helper_stays_as_it_was_when_the_agent_changes(runs: Runs) -> None:
    session = a_lead(runs)
    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))]))
    agent = runs.alice.get(f"/v1/sessions/{session}").json["agent_id"]
    runs.alice.patch(f"/v1/agents/{agent}", json={"subagents": []})

    (child,) = children(runs, session)

    shown = runs.alice.get(f"/v1/sessions/{child['id']}/context?full=system:agent").json
    assert shown["content"]["text"] == SCOUT["system_prompt"]


def test_a_helper_without_tools_has_none(runs: Runs) -> None:
    session = a_lead(runs, MUTE)
    provider = ScriptedProvider(
        says(task(helper="mute")), says(text("I have no tools.")), says(text("Well."))
    )

    runs.answered(session, provider)

    assert "tools" not in provider.sent[1]
    assert len(provider.sent[1]["system"]) == 1


def test_tasks_of_one_answer_run_at_the_same_time(runs: Runs) -> None:
    session = a_lead(runs)
    together = threading.Barrier(3)

    class Meeting(Cast):
        def _next(self, body: Mapping[str, Any]) -> dict[str, Any]:
            if "look around" in body["system"][0]["text"]:
                together.wait(10)  # breaks unless all three are here
                said = body["messages"][0]["content"][0]["text"]
                self.script = deque([says(text(f"Saw {said}"))])
                return ScriptedProvider._next(self, body)
            return super()._next(body)

    tasks = [task(f"toolu_{n}", prompt=f"number {n}") for n in range(3)]

    run = runs.answered(session, Meeting(lead=[says(*tasks), says(text("All."))]))

    assert run["status"] == "succeeded"
    told = [each["content"] for each in results(runs, session)]
    assert told == [f"Saw number {n}" for n in range(3)]
    assert len(children(runs, session)) == 3


def test_helpers_of_helpers_go_so_deep_and_no_deeper(runs: Runs) -> None:
    session = a_lead(runs)
    deeper = [says(task(f"toolu_{n}")) for n in range(MAX_DEPTH)]
    provider = Cast(
        lead=[says(task("toolu_top")), says(text("Up again."))],
        scout=[*deeper, *[says(text(f"Back {n}")) for n in range(MAX_DEPTH)]],
    )

    run = runs.answered(session, provider)

    assert run["status"] == "succeeded"
    chain = [session]
    while found := children(runs, chain[-1]):
        chain.append(found[0]["id"])
    assert len(chain) == MAX_DEPTH + 1
    (refused,) = results(runs, chain[-1])
    assert refused["is_error"]
    assert "too many deep" in refused["content"]


@pytest.mark.parametrize(
    ("script", "told", "is_error"),
    [
        ([Overloaded()], "The helper failed: provider_overloaded.", True),
        ([says(text("Half"), stop_reason="max_tokens")], "stopped early: max_tokens", None),
        ([says(text(" "), stop_reason="refusal")], "stopped early: refusal", True),
    ],
)
def test_what_a_helper_failed_by_is_told(
    runs: Runs, script: list[Any], told: str, is_error: bool | None
) -> None:
    session = a_lead(runs)

    run = runs.answered(session, Cast(lead=[says(task()), says(text("Alone."))], scout=script))

    assert run["status"] == "succeeded"
    (result,) = results(runs, session)
    assert told in result["content"]
    assert result.get("is_error") is is_error


def test_a_helper_has_the_turns_of_its_parent(runs: Runs) -> None:
    session = a_lead(runs)
    looks = [says(tool_use("read_file", f"toolu_r{n}", path="/a")) for n in range(5)]

    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=looks), max_turns=2)

    (helper_run,) = runs_of(runs, children(runs, session)[0]["id"])
    assert (helper_run["turns"], helper_run["stop_reason"]) == (2, "max_turns")
    assert "max_turns" in results(runs, session)[0]["content"]


def test_a_quota_that_ends_in_a_helper_ends_it(runs: Runs) -> None:
    session = a_lead(runs)
    admin = replace(runs.alice.principal, role=Role.ADMIN)

    class Costly(Cast):
        def _next(self, body: Mapping[str, Any]) -> dict[str, Any]:
            with runs.runtime.database.transaction(admin) as tx:
                quota.replace(tx, Quota(limits=Limits(tokens=1)), now=runs.runtime.now())
            return super()._next(body)

    run = runs.answered(session, Costly(lead=[says(task())]))

    (helper_run,) = runs_of(runs, children(runs, session)[0]["id"])
    assert (helper_run["status"], helper_run["error"]["code"]) == ("failed", "quota_exceeded")
    assert "quota_exceeded" in results(runs, session)[0]["content"]
    assert run["error"]["code"] == "quota_exceeded"


def test_a_cancelled_run_ends_its_helpers(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "CANCEL_IS_ASKED_EVERY", 0.0)
    session = a_lead(runs)
    run = runs.begin(session)

    class Asked(Cast):
        def _next(self, body: Mapping[str, Any]) -> dict[str, Any]:
            if "look around" in body["system"][0]["text"]:
                runs.alice.delete(f"/v1/runs/{run}")
            return super()._next(body)

    busy = [says(tool_use("read_file", "toolu_r", path="/a"))]
    ended = runs.carry_out(run, Asked(lead=[says(task())], scout=busy))

    assert ended["status"] == "cancelled"
    (helper_run,) = runs_of(runs, children(runs, session)[0]["id"])
    assert helper_run["status"] == "cancelled"


def test_the_parent_s_events_tell_where_the_helper_works(runs: Runs) -> None:
    session = a_lead(runs)
    provider = Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))])
    run = runs.answered(session, provider)
    (child,) = children(runs, session)
    (helper_run,) = runs_of(runs, child["id"])

    def told(run_id: str) -> dict[str, str]:
        return runs.alice.get(f"/v1/runs/{run_id}/events").text

    events = told(run["id"])
    assert "event: task.started" in events
    assert "event: task.finished" in events
    assert helper_run["id"] in events
    assert child["id"] in events
    assert "Hm" in told(helper_run["id"])
    assert "Hm" not in events


def test_others_see_nothing_of_it(runs: Runs) -> None:
    session = a_lead(runs)
    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))]))
    (child,) = children(runs, session)
    (helper_run,) = runs_of(runs, child["id"])
    client = create_app(runs.runtime).test_client()
    bob = make_caller(runs.runtime.database, client, runs.alice.principal.tenant_id, "bob")

    assert bob.get(f"/v1/sessions/{child['id']}").status_code == 404
    assert bob.get(f"/v1/runs/{helper_run['id']}").status_code == 404
    assert bob.get(f"/v1/sessions?parent={session}").json["items"] == []


def test_a_session_takes_its_helpers_along(runs: Runs) -> None:
    session = a_lead(runs)
    runs.answered(session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))]))
    (child,) = children(runs, session)

    assert runs.alice.delete(f"/v1/sessions/{session}").status_code == 204

    assert runs.alice.get(f"/v1/sessions/{child['id']}").status_code == 404


@pytest.mark.parametrize("at", ["before its call", "during its call"])
def test_a_lost_worker_s_helper_is_failed_and_never_queued(runs: Runs, at: str) -> None:
    session = a_lead(runs)
    run = runs.begin(session)

    class Dying(Cast):
        @property
        def name(self) -> str:
            """Asked for when a call is noted, in the transaction that says so."""
            if at == "before its call" and children(runs, session):
                raise KeyboardInterrupt
            return "scripted"

        def _next(self, body: Mapping[str, Any]) -> dict[str, Any]:
            if "look around" in body["system"][0]["text"]:
                raise KeyboardInterrupt
            return super()._next(body)

    settings = replace(runs.runtime.settings, run_lease=timedelta(0))
    dying = replace(runs.runtime, settings=settings, provider=Dying(lead=[says(task())]))
    with pytest.raises(KeyboardInterrupt):
        execution.execute(dying, UUID(run))
    runs_service.sweep(runs.runtime)

    (helper_run,) = runs_of(runs, children(runs, session)[0]["id"])
    assert (helper_run["status"], helper_run["error"]["code"]) == ("failed", "worker_lost")
    assert runs.get(run)["error"]["code"] == "worker_lost"
    assert runs.answered(session, Cast(lead=[says(text("Again."))]))["status"] == "succeeded"


@pytest.mark.processes
def test_a_killed_worker_takes_its_helpers_along(runs: Runs, tmp_path: Path) -> None:
    """Nobody takes the helper's run up alone, and no call is made twice."""
    session = a_lead(runs)
    with (
        StrictProvider() as strict,
        started(runs.runtime.settings, strict.url, tmp_path, "runs") as worker,
    ):
        strict.reply(task("toolu_a"), task("toolu_b"))
        run = runs.begin(session)
        strict.wait_for_calls(1, 60)
        strict.fail(Silence(), times=None)
        strict.wait_for_calls(3, 20)
        worker.send_signal(signal.SIGKILL)
        worker.wait()

        def swept() -> bool:
            runs_service.sweep(runs.runtime)
            below = [runs_of(runs, each["id"])[0] for each in children(runs, session)]
            return all(each["status"] == "failed" for each in (runs.get(run), *below))

        until(swept, 20)
        assert len(strict.calls) == 3
    assert runs.answered(session, Cast(lead=[says(text("On."))]))["status"] == "succeeded"


def test_a_start_whose_answer_was_lost_is_not_made_twice(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit went through, but its worker was told otherwise, and writes again."""
    session = a_lead(runs)
    surely, lost = work.Writing.surely, []

    def twice(self: Any, write: Any) -> Any:
        if write.__qualname__.startswith("Helpers.run"):
            lost.append(surely(self, write))
        return surely(self, write)

    monkeypatch.setattr(work.Writing, "surely", twice)

    run = runs.answered(
        session, Cast(lead=[says(task()), says(text("."))], scout=[says(text("Hm"))])
    )

    assert lost
    assert run["status"] == "succeeded"
    assert results(runs, session)[0]["content"] == "Hm"
    assert len(children(runs, session)) == 1


@pytest.mark.parametrize(
    ("helpers", "at", "code"),
    [
        ([SCOUT, SCOUT], "subagents[1].name", "name_twice"),
        ([SCOUT | {"tools": ["ls", "cook"]}], "subagents[0].tools[1]", "unknown_tool"),
    ],
)
def test_a_helper_that_cannot_be_meant_is_refused(
    runs: Runs, helpers: list[Any], at: str, code: str
) -> None:
    reply = runs.alice.post("/v1/agents", json={"name": "a", "subagents": helpers})

    assert reply.status_code == 422
    assert [(each["at"], each["code"]) for each in reply.json["errors"]] == [(at, code)]
