"""What an ablation may cost, and what its answers tell: without a database, without a provider."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from app.domain.ablation import Reason, Step, Table, estimate
from app.domain.ablation_standing import Standing, state_of
from app.domain.jsontext import dumps
from app.domain.tries import Try
from app.domain.usage import CallRecord
from app.domain.work import Status

TRY = dict.fromkeys(Try.__dataclass_fields__)
CALL = dict.fromkeys(CallRecord.__struct_fields__)


def step(part: str | None = None, **fields: Any) -> Step:
    return Step(part=part, **{"tokens": 10, "likely": 10, "most": 100, **fields})


def tried(status: str, answer: str | None = None) -> Try:
    content = None if answer is None else dumps([{"type": "text", "text": answer}])
    return Try(**TRY | {"status": Status(status), "answer": content})  # type: ignore[arg-type]


def cost(micro_dollars: int | None) -> CallRecord:
    return CallRecord(**CALL | {"cost_micro_dollars": micro_dollars})  # type: ignore[arg-type]


def standing(*rows: tuple[Step, Try | None, CallRecord | None]) -> Standing:
    """Steps with the try and the call of each."""
    tries: dict[UUID, Try] = {}
    records: dict[UUID, CallRecord] = {}
    for each, trial, call in rows:
        if trial is not None:
            each.try_id = uuid4()
            tries[each.try_id] = trial
            if call is not None:
                records[each.try_id] = call
    return Standing(Table(steps=[each for each, _, _ in rows]), tries, records)


def test_what_nobody_knows_the_cost_of_counts_as_the_most() -> None:
    lost, refused = (step(), tried("failed"), cost(None)), (step(), tried("failed"), None)
    known, running = (step(), tried("succeeded", "x"), cost(7)), (step("a"), tried("running"), None)
    waiting = step("b")

    found = standing(lost, refused, known, running, (waiting, None, None))

    assert found.at_most == 100 + 0 + 7 + 100
    assert found.spent == 7
    assert found.affords(waiting, 307)
    assert not found.affords(waiting, 306)
    assert found.affords(waiting, None)
    assert (found.open, found.done) == (1, 3)


def test_the_least_that_can_be_allowed_lets_the_dearest_call_start() -> None:
    few, many = Table(steps=[step(), step("a")]), Table(steps=[step() for _ in range(20)])

    assert estimate(few).needed == 100
    assert estimate(many).needed == 200
    assert estimate(Table(steps=[step(likely=None, most=None)])).most is None


def test_nothing_is_said_before_all_baselines_have_ended() -> None:
    part = step("a")
    rows = [(step(), tried("succeeded", "x"), None), (part, tried("succeeded", "y"), None)]

    standing(*rows, (step(), tried("running"), None)).compare()
    assert part.found is None
    standing(*rows, (step(), tried("failed"), None)).compare()

    assert part.found
    assert (part.found.change, part.found.beyond_noise) == ("text", None)


def test_the_nearest_of_the_baselines_counts_and_chance_is_their_worst_pair() -> None:
    part, other = step("a"), step("b")
    found = standing(
        (step(), tried("succeeded", "one two three four"), None),
        (step(), tried("succeeded", "one two three five"), None),
        (step(), tried("succeeded", "one two six five"), None),
        (part, tried("succeeded", "one two three five"), None),
        (other, tried("succeeded", "seven"), None),
    )

    found.compare()

    assert found.table.noise
    assert found.table.noise.similarity == 0.5
    assert part.found
    assert (part.found.change, part.found.beyond_noise) == ("same", False)
    assert other.found
    assert (other.found.similarity, other.found.beyond_noise) == (0.0, True)


def test_a_row_stands_where_its_try_stands() -> None:
    base, first = step(), step("a")
    table = standing(
        (base, tried("succeeded", "x"), None),
        (first, tried("timed_out"), None),
        (step("b", same_as=1), None, None),
        (step("c", same_as=0), None, None),
        (step("d", refused=Reason("bad_part", "No part.")), None, None),
        (step("e"), None, None),
    )

    states = [state_of(table, each) for each in table.table.steps]
    table.table.skip_rest(Reason("cancelled", "It was cancelled."))

    assert states[1:] == ["timed_out", "timed_out", "no_effect", "refused", "waiting"]
    assert state_of(table, table.table.steps[-1]) == "skipped"
    assert not first.skipped
