"""A try compared with another one, or with the session's plain next call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import msgspec

from app.domain.answer_diff import AnswerDiff, answers_differ
from app.domain.injections import Injected
from app.domain.jsontext import loads
from app.domain.request_diff import RequestDiff, Sent, nothing_differs, requests_differ
from app.domain.tries import SentSnapshot, Try
from app.domain.usage import CallRecord, SentPart
from app.domain.work import Loaded, Status
from app.errors import BadBaseline, BaselineGone, Gone, NotFound
from app.services import calls, context
from app.services.calls import Call
from app.store.transaction import Transaction

REQUEST: Literal["request"] = "request"  # the session's next call with the saved overrides alone
Baseline = UUID | Literal["request"]

Content = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a side has no answer."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two that are compared."""

    trial: Try | None  # None: the plain request, which was not called
    call: CallRecord | None = None

    @property
    def usage(self) -> CallRecord | None:
        """What the provider said that the call used."""
        return self.call if self.call and self.call.has_usage else None

    @property
    def cost(self) -> CallRecord | None:
        """What that costs, where a price is known."""
        return self.call if self.call and self.call.has_cost else None

    @property
    def missing(self) -> Missing | None:
        """Why it has no answer; None: it has one."""
        trial = self.trial
        if trial is None:
            return Missing("not_called", "The plain request is only described, not called.")
        if trial.answer is not None:
            return None
        if not trial.status.is_final:
            return Missing("not_ended", f"It is {trial.status}; come back when it has ended.")
        if trial.status is Status.CANCELLED:
            return Missing("cancelled", "It was cancelled before there was an answer.")
        return Missing(trial.error_code or "failed", trial.error_detail or "It has no answer.")


@dataclass(frozen=True, slots=True, kw_only=True)
class TryDiff:
    """What differs. `before` is the baseline, `after` the try."""

    before: Side
    after: Side
    request: RequestDiff | None  # None: one of them has sent nothing
    answer: AnswerDiff | None  # None: one of them has no answer


def diff(tx: Transaction, try_id: UUID, against: Baseline | None) -> TryDiff:
    """Compare a try with `against`; None: with the baseline that it named.

    Raises:
        NotFound: one of them is not the principal's to see.
        Gone: the try was purged. BaselineGone: the baseline was.
        BadBaseline: the other try is of another session, or the try itself.
    """
    trial = tx.tries.get(try_id)
    other = _other(tx, trial, against)
    made = tx.usage.sent_of_tries([each.id for each in (trial, other) if each])
    after = Side(trial=trial, call=_call(made, trial))
    before = Side(trial=other, call=_call(made, other))
    return TryDiff(
        before=before,
        after=after,
        request=_requests(made, other, trial),
        answer=_answers(other, trial),
    )


def check_baseline(tx: Transaction, session_id: UUID, baseline: UUID) -> None:
    """Go on only when a try of this session can be compared with it later.

    Raises:
        BadBaseline: it is none of the session's tries.
    """
    try:
        found = tx.tries.get(baseline)
    except (NotFound, Gone):
        found = None
    if found is None or found.session_id != session_id:
        raise BadBaseline("Name a try of this session that is still kept, or `request`.")


def against_plain(
    tx: Transaction,
    session_id: UUID,
    loaded: Loaded,
    call: Call,
    injected: Sequence[Injected] | None = None,
) -> RequestDiff | None:
    """What `call` sends differently from the plain next call, as that was when it was accepted.

    What was gathered for the call is part of both.
    """
    if loaded.saved is None:
        return None
    sent = _sent(SentSnapshot.of(call.shown, call.assembled.request), calls.manifest(call.shown))
    if loaded.saved == loaded.overrides and loaded.message is None:
        return nothing_differs(sent)
    plain = msgspec.structs.replace(loaded, overrides=loaded.saved, message=None)
    assembled = context.assemble(tx, session_id, loaded=plain, injected=injected)
    shown = context.described(assembled)
    before = _sent(SentSnapshot.of(shown, assembled.request), calls.manifest(shown))
    return requests_differ(before, sent)


def answer_of(trial: Try | None) -> Content | None:
    """The content blocks of its answer, if it has one."""
    return None if trial is None or trial.answer is None else loads(trial.answer)


_Made = Mapping[UUID, tuple[CallRecord, Sequence[SentPart]]]


def _other(tx: Transaction, trial: Try, against: Baseline | None) -> Try | None:
    named = (trial.baseline_id or REQUEST) if against is None else against
    if not isinstance(named, UUID):
        return None
    if named == trial.id:
        raise BadBaseline("Name another try than this one.")
    try:
        other = tx.tries.get(named)
    except Gone:
        raise BaselineGone("Compare with another try, or with `request`.") from None
    except NotFound:
        if against is None:
            raise BaselineGone("Compare with another try, or with `request`.") from None
        raise
    if other.session_id != trial.session_id:
        raise BadBaseline("Both tries must be of one session.")
    return other


def _call(made: _Made, trial: Try | None) -> CallRecord | None:
    found = made.get(trial.id) if trial else None
    return found[0] if found else None


def _requests(made: _Made, before: Try | None, after: Try) -> RequestDiff | None:
    sent = _sent_by(made, after)
    if sent is None:
        return None
    if before is None:
        return _snapshot(after).against_request
    baseline = _sent_by(made, before)
    return None if baseline is None else requests_differ(baseline, sent)


def _answers(before: Try | None, after: Try) -> AnswerDiff | None:
    old, new = answer_of(before), answer_of(after)
    return None if old is None or new is None else answers_differ(old, new)


def _sent_by(made: _Made, trial: Try) -> Sent | None:
    """What its call was sent; None: it has made none."""
    found = made.get(trial.id)
    return None if found is None else _sent(_snapshot(trial), found[1])


def _snapshot(trial: Try) -> SentSnapshot:
    return msgspec.convert(trial.snapshot, SentSnapshot)


def _sent(snapshot: SentSnapshot, parts: Sequence[SentPart]) -> Sent:
    return Sent(
        model=snapshot.model,
        tokens=snapshot.totals.after,
        request_sha256=snapshot.request_sha256,
        parameters=snapshot.parameters,
        parts=parts,
    )
