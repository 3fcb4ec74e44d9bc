"""Ablations: the call without each part in turn, its table, its bounds, and what ends it early."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from app.domain.principals import Role
from app.domain.quota import Limits, Quota
from app.provider.failures import Overloaded
from app.services import ablations as service
from app.services import quota
from app.services import tries as tries_service
from app.web import create_app
from tests.api.problems import assert_problem
from tests.engine.conftest import says
from tests.factories import make_agent, make_session
from tests.fakes.strict_provider import Reply, text, tool_use
from tests.history import user
from tests.tries.ablating import Ablations, Listening
from tests.tries.conftest import Tries

USED = {"input_tokens": 1_000, "output_tokens": 100}


def answers(body: str) -> Reply:
    """Only who sees message 4 knows."""
    words = "It is done." if '"done"' in body else "I do not know."
    return says(text(words), usage=USED)


@pytest.fixture
def ablations(tries: Tries) -> Ablations:
    provider = Listening(answers)
    runtime = replace(tries.runtime, provider=provider)
    client = create_app(runtime).test_client()
    return Ablations(Tries(replace(tries.alice, client=client), runtime), provider)


def test_the_table_says_which_part_the_answer_hangs_on(ablations: Ablations) -> None:
    reply = ablations.ask("system:agent", "message:4", "message:2", "message:3")
    assert reply.status_code == 202
    assert reply.headers["Location"] == f"/v1/ablations/{reply.json['id']}"
    assert reply.json["progress"] == {"done": 0, "total": 5}

    ended = ablations.ended(reply.json["id"])

    assert (ended["status"], ended["progress"]) == ("succeeded", {"done": 5, "total": 5})
    system, fourth, call, result = ended["parts"]
    assert (system["change"], system["similarity"], system["beyond_noise"]) == ("same", 1.0, False)
    assert (fourth["change"], fourth["beyond_noise"]) == ("text", True)
    assert fourth["similarity"] < 0.5
    assert fourth["tokens"]["after"] < fourth["tokens"]["before"]
    assert ended["noise"] == {"change": "same", "similarity": 1.0}
    assert [each["part"] for each in call["added"]] == ["message:3"]
    assert (result["same_as"], result["try_id"]) == ("message:2", call["try_id"])
    assert (result["cost"], result["state"], result["change"]) == (None, "succeeded", "same")
    costs = [row["cost"]["micro_dollars"] for row in (*ended["baselines"], system, fourth, call)]
    assert ended["cost"]["micro_dollars"] == sum(costs) > 0
    assert len(ablations.provider.sent) == 5
    assert len(ablations.tries.of(ablations.session)) == 5


def test_each_try_names_the_first_baseline_as_its_own(ablations: Ablations) -> None:
    ended = ablations.ended(ablations.begin("message:4"))

    (row,) = ended["parts"]
    trial = ablations.tries.get(row["try_id"])
    assert trial["ablation_id"] == ended["id"]
    assert trial["baseline"] == ended["baselines"][0]["try_id"]
    diff = ablations.tries.alice.get(f"/v1/tries/{row['try_id']}/diff").json
    assert [each["part"] for each in diff["request"]["parts"]] == ["message:4"]
    assert diff["answer"]["change"] == "text"


def test_a_part_that_cannot_be_left_out_fails_none_of_the_others(ablations: Ablations) -> None:
    parts = ["message:1", "nonsense", "message:99", "message:4", "message:4"]
    body = {"exclude": ["tool:terminal"]}

    planned = ablations.preview(*parts, "tool:terminal", **body)
    ended = ablations.ended(ablations.begin(*parts, "tool:terminal", **body))

    for table in (planned, ended):
        first, nonsense, absent, _fourth, tool = table["parts"]
        assert (first["state"], first["error"]["code"]) == ("refused", "starts_with_assistant")
        assert (nonsense["state"], nonsense["error"]["code"]) == ("refused", "bad_part")
        assert first["try_id"] is None
        assert absent["state"] == "no_effect"
        assert tool["state"] == "no_effect"
    assert planned["parts"][3]["state"] == "waiting"
    assert ended["status"] == "succeeded"
    assert len(ablations.provider.sent) == planned["estimate"]["tries"] == 3


def test_an_injection_is_left_out_though_no_plan_has_it(ablations: Ablations) -> None:
    notes = {"type": "retrieval", "name": "notes", "over": ["files"], "tokens": 700}
    agent = make_agent(ablations.tries.alice, injections=[notes])
    ablations.session = make_session(ablations.tries.alice, agent, user("hi"))
    part = "system:injection:notes"

    planned = ablations.preview(part)
    without = ablations.preview(part, "system:agent", exclude=[part])

    assert [row["state"] for row in planned["parts"]] == ["waiting"]
    assert without["parts"][0]["state"] == "no_effect"
    ended = ablations.ended(ablations.begin(part))
    assert ended["parts"][0]["change"] == "same"


def test_a_preview_starts_nothing(ablations: Ablations) -> None:
    planned = ablations.preview("message:4")

    figures = planned["estimate"]
    assert figures["tries"] == 3
    likely, most, needed = (figures[n]["micro_dollars"] for n in ("likely", "most", "needed"))
    assert 0 < likely < needed < most
    assert ablations.tries.of(ablations.session) == []
    path = f"/v1/sessions/{ablations.session}/context/ablations"
    assert ablations.tries.alice.get(path).json["items"] == []


def test_the_cost_has_to_be_confirmed(ablations: Ablations) -> None:
    needed = ablations.preview("message:4")["estimate"]["needed"]["micro_dollars"]
    path = f"/v1/sessions/{ablations.session}/context/ablations"

    unconfirmed = ablations.tries.alice.post(path, json={"parts": ["message:4"]})
    too_low = ablations.ask("message:4", max_cost={"micro_dollars": needed - 1})

    assert_problem(unconfirmed, 422, "bad_body")
    assert "preview" in unconfirmed.json["errors"][0]["detail"]
    assert_problem(too_low, 422, "max_cost_too_low")
    assert too_low.json["needed"] == {"micro_dollars": needed}
    assert too_low.json["max_cost"] == {"micro_dollars": needed - 1}
    assert ablations.tries.of(ablations.session) == []


def test_the_confirmed_cost_is_never_passed(ablations: Ablations) -> None:
    """Answers far longer than usual: what is left would not do for another call."""
    dear = {"input_tokens": 1_000, "output_tokens": 8_000}
    ablations.provider._says = lambda _: says(text("Long."), usage=dear)
    needed = ablations.preview("message:4", "message:2")["estimate"]["needed"]["micro_dollars"]

    ended = ablations.ended(
        ablations.begin("message:4", "message:2", max_cost={"micro_dollars": needed})
    )

    assert (ended["status"], ended["error"]["code"]) == ("failed", "max_cost_reached")
    assert 0 < ended["cost"]["micro_dollars"] <= needed
    assert "skipped" in [row["state"] for row in ended["parts"]]
    assert ended["progress"]["done"] == ended["progress"]["total"]


def test_as_many_run_at_a_time_as_are_allowed(ablations: Ablations) -> None:
    begun = ablations.begin("message:4", "message:2", "system:agent")

    while (shown := ablations.get(begun))["status"] == "running":
        assert len(ablations.queued(begun)) <= 2
        ablations.step(begun)

    assert shown["status"] == "succeeded"


def test_a_word_that_is_delivered_twice_starts_nothing_twice(ablations: Ablations) -> None:
    begun = ablations.begin("message:4", "message:2")

    for _ in range(3):
        service.carry_on(ablations.runtime, UUID(begun))

    assert len(ablations.tries.of(ablations.session)) == 2


def test_a_word_that_got_lost_is_made_good_by_the_sweep(ablations: Ablations) -> None:
    begun = ablations.begin("message:4")
    for trial in ablations.queued(begun):
        ablations.tries.carry_out(trial, ablations.provider)
    ablations.runtime.redis.flushdb()

    service.sweep(ablations.runtime)

    assert len(ablations.queued(begun)) == 1


def test_without_an_answer_to_compare_with_it_ends(ablations: Ablations) -> None:
    ablations.provider._says = lambda _: Overloaded("Busy.")  # type: ignore[return-value,assignment]

    ended = ablations.ended(ablations.begin("message:4", "message:2"))

    assert (ended["status"], ended["error"]["code"]) == ("failed", "no_baseline")
    assert {row["state"] for row in ended["baselines"]} == {"failed"}
    assert ended["baselines"][0]["error"]["code"] == "provider_overloaded"
    assert len(ablations.provider.sent) == 2


def test_cancelling_starts_no_more(ablations: Ablations) -> None:
    begun = ablations.begin("message:4", "message:2")
    ablations.step(begun)

    cancelled = ablations.tries.alice.delete(f"/v1/ablations/{begun}").json

    assert cancelled["status"] == "cancelled"
    assert {row["state"] for row in cancelled["parts"]} <= {"skipped", "cancelled"}
    assert len(ablations.provider.sent) == 1
    assert ablations.tries.alice.delete(f"/v1/ablations/{begun}").json["status"] == "cancelled"


def test_quota_that_is_gone_by_then_starts_no_more(ablations: Ablations) -> None:
    begun = ablations.begin("message:4", "message:2")
    for trial in ablations.queued(begun):
        ablations.tries.carry_out(trial, ablations.provider)
    admin = replace(ablations.tries.alice.principal, role=Role.ADMIN)
    with ablations.runtime.database.transaction(admin) as tx:
        quota.replace(tx, Quota(limits=Limits(tokens=1)), now=ablations.runtime.now())

    service.carry_on(ablations.runtime, UUID(begun))

    ended = ablations.get(begun)
    assert (ended["status"], ended["error"]["code"]) == ("failed", "quota_exceeded")
    assert {row["state"] for row in ended["parts"]} == {"skipped"}
    assert len(ablations.provider.sent) == 2
    assert_problem(ablations.ask("message:4"), 402, "quota_exceeded")


def test_it_counts_as_as_many_requests_as_it_has_tries(ablations: Ablations) -> None:
    session = make_session(ablations.tries.alice, None, *[user("hi"), user("you")])
    limited = replace(ablations.runtime, settings=replace(
        ablations.runtime.settings, rate_limit_per_minute=4,
    ))  # fmt: skip
    client = create_app(limited).test_client()
    few = Ablations(
        Tries(replace(ablations.tries.alice, client=client), limited), ablations.provider, session
    )

    assert_problem(few.ask("message:1", baselines=4), 422, "too_many_tries")
    refused = few.ask("message:1", baselines=3)
    assert_problem(refused, 429, "rate_limited")
    assert int(refused.headers["Retry-After"]) >= 1
    assert ablations.tries.of(session) == []
    assert few.ask("message:1", baselines=1).status_code == 202


def test_what_makes_no_difference_is_not_tried(ablations: Ablations) -> None:
    assert_problem(ablations.ask("message:1", "message:99"), 422, "nothing_to_compare")
    assert_problem(ablations.ask(), 422, "bad_body")
    assert_problem(ablations.ask("message:4", baselines=0), 422, "bad_body")
    assert_problem(ablations.ask("message:4", exclude=["message:1"]), 422, "overrides_refused")


def test_an_answer_that_calls_another_tool_differs(ablations: Ablations) -> None:
    def by_chance(body: str) -> Reply:
        name = "ls" if '"done"' in body else "cat"
        return says(text(f"Word {len(ablations.provider.sent)}."), tool_use(name), usage=USED)

    ablations.provider._says = by_chance

    ended = ablations.ended(ablations.begin("message:4", "system:agent"))

    assert ended["noise"]["change"] == "text"
    fourth, system = ended["parts"]
    assert (fourth["change"], fourth["beyond_noise"]) == ("tool_calls", True)
    assert (system["change"], system["beyond_noise"]) == ("text", False)


def test_one_baseline_tells_nothing_of_noise(ablations: Ablations) -> None:
    ended = ablations.ended(ablations.begin("message:4", baselines=1))

    assert ended["noise"] is None
    assert ended["parts"][0]["beyond_noise"] is None
    assert ended["parts"][0]["change"] == "text"


def test_a_model_without_a_price_has_no_limit_that_could_be_kept(ablations: Ablations) -> None:
    ablations.provider.name = "nobody-knows"

    assert ablations.preview("message:4")["estimate"]["most"] is None
    assert_problem(ablations.ask("message:4"), 422, "price_unknown")
    ended = ablations.ended(ablations.begin("message:4", max_cost=None))

    assert ended["status"] == "succeeded"


def test_a_request_that_is_sent_again_starts_nothing_again(ablations: Ablations) -> None:
    ablations.preview("message:4")
    path = f"/v1/sessions/{ablations.session}/context/ablations"
    body = {"parts": ["message:4"], "max_cost": None}

    first, again = (
        ablations.tries.alice.post(path, json=body, headers={"Idempotency-Key": "once"})
        for _ in range(2)
    )

    assert first.json["id"] == again.json["id"]
    assert again.headers["Idempotent-Replayed"] == "true"
    listed = ablations.tries.alice.get(path).json["items"]
    assert [each["id"] for each in listed] == [first.json["id"]]


def test_it_is_purged_with_its_tries(ablations: Ablations) -> None:
    ended = ablations.ended(ablations.begin("message:4"))
    running = ablations.begin("message:4")
    with ablations.runtime.database.system() as tx:
        for table in ("tries", "ablations"):
            tx.tries._connection.exec_driver_sql(
                f"UPDATE {table} SET expires_at = now() - interval '1 day'"
            )

    tries_service.purge(ablations.runtime)

    gone = ablations.tries.alice.get(f"/v1/ablations/{ended['id']}")
    assert_problem(gone, 410, "gone")
    cancelled = ablations.tries.alice.delete(f"/v1/ablations/{ended['id']}")
    assert_problem(cancelled, 410, "gone")
    assert ablations.get(running)["status"] == "running"
    listed = ablations.tries.alice.get(
        f"/v1/sessions/{ablations.get(running)['session_id']}/context/ablations"
    )
    assert [each["id"] for each in listed.json["items"]] == [running]
    with ablations.runtime.database.system() as tx:
        kept = tx.tries._connection.exec_driver_sql(
            "SELECT findings FROM ablations WHERE status <> 'running'"
        )
        assert kept.scalars().all() == ['{"steps":[],"noise":null,"stopped":null}']


def test_each_of_its_tries_is_audited(ablations: Ablations) -> None:
    ended = ablations.ended(ablations.begin("message:4"))

    events = ablations.tries.alice.get("/v1/audit?limit=200").json["items"]
    tried = [each["detail"] for each in events if each["action"] == "context.try"]

    assert len(tried) == 3
    assert {each["ablation"] for each in tried} == {ended["id"]}
