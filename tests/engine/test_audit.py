"""Who began and who cancelled a run or a try is on the audit log, once."""

from __future__ import annotations

from typing import Any

from tests.engine.conftest import Runs
from tests.factories import make_session
from tests.history import user


def rows(runs: Runs, action: str) -> Any:
    return runs.alice.get(f"/v1/audit?action={action}").json["items"]


def test_a_run_s_begin_and_its_cancellation(runs: Runs) -> None:
    session = make_session(runs.alice)
    run = runs.begin(session, "what nobody else should read")

    for _ in range(2):
        runs.alice.delete(f"/v1/runs/{run}")

    (begun,) = rows(runs, "run.start")
    assert (begun["target_kind"], begun["target_id"]) == ("session", session)
    assert begun["detail"] == {"run": run}
    (cancelled,) = rows(runs, "run.cancel")
    assert (cancelled["target_kind"], cancelled["target_id"]) == ("run", run)


def test_a_try_s_cancellation(runs: Runs) -> None:
    session = make_session(runs.alice, None, user("hi"))
    trial = runs.alice.post(f"/v1/sessions/{session}/context/try", json={}).json["id"]

    for _ in range(2):
        runs.alice.delete(f"/v1/tries/{trial}")

    (cancelled,) = rows(runs, "context.try_cancel")
    assert (cancelled["target_kind"], cancelled["target_id"]) == ("try", trial)


def test_what_has_ended_is_cancelled_by_nobody(runs: Runs) -> None:
    run = runs.begin(make_session(runs.alice))
    runs.carry_out(run)

    runs.alice.delete(f"/v1/runs/{run}")

    assert rows(runs, "run.cancel") == []
