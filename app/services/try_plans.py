"""What a try is going to send, decided when it is accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import msgspec

from app.domain.completion import (
    AGENT_KINDS,
    SESSION_KINDS,
    Completed,
    complete,
    entry_faults,
    history_faults,
)
from app.domain.messages import MessageRef
from app.domain.overrides import Override
from app.domain.sessions import Session
from app.domain.text import clean
from app.domain.tries import Plan, SentSnapshot
from app.domain.validity import check_blocks
from app.errors import Fault, HistoryRefused, NothingToSend, OverridesRefused
from app.services import context, frozen, overrides
from app.services.context import Assembled
from app.store.transaction import Transaction
from app.tokens.estimator import estimator_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a client asks for: what to change in the next request, for this once."""

    exclude: Sequence[str] = ()
    replace: Mapping[str, str]
    message: str | None = None
    baseline: UUID | None = None  # a try to compare with; None: the plain request

    @property
    def overrides(self) -> list[Override]:
        """As the chain takes them."""
        excluded = [Override(part, "exclude") for part in self.exclude]
        return [*excluded, *(Override(p, "replace", clean(t)) for p, t in self.replace.items())]

    @property
    def places(self) -> list[str]:
        """Where in the body each of them stands."""
        excluded = [f"exclude[{index}]" for index in range(len(self.exclude))]
        return [*excluded, *(f"replace[{index}]" for index in range(len(self.replace)))]


class Planning:
    """Plans for tries of one session, over what it goes by at this moment."""

    def __init__(self, tx: Transaction, session: Session) -> None:
        self._tx = tx
        self._session = session
        self._saved = frozen.load(tx, session)

    @cached_property
    def _messages(self) -> Sequence[MessageRef]:
        return overrides.messages_of(self._tx, self._session.id)

    def plan(self, wanted: Wanted) -> tuple[Plan, Assembled]:
        """Decide what is going to be sent.

        Raises:
            OverridesRefused, HistoryRefused, NothingToSend
        """
        _check_message(wanted)
        completed = self._completed(wanted)
        loaded = msgspec.structs.replace(
            self._saved,
            overrides=completed.overrides,
            saved=self._saved.overrides,
            last_seq=self._session.last_seq,
            message=wanted.message,
        )
        assembled = context.assemble(self._tx, self._session.id, loaded=loaded)
        if not assembled.request.messages:
            raise NothingToSend("Give a `message`, or leave one of the session's in.")
        shown = SentSnapshot.of(context.described(assembled), assembled.request)
        plan = Plan(
            loaded=loaded, added=completed.added, snapshot=shown, baseline_id=wanted.baseline
        )
        return plan, assembled

    def _completed(self, wanted: Wanted) -> Completed:
        """The saved overrides and the try's own, which win, with the partners that they need.

        Raises:
            OverridesRefused: with a code for each entry that is wrong.
        """
        own, places = wanted.overrides, wanted.places
        if not own and not self._saved.overrides:
            return Completed((), ())
        messages = self._messages
        _refuse(entry_faults(own, (*AGENT_KINDS, *SESSION_KINDS), places))
        _refuse(overrides.ambiguous(own, messages, places))
        named = {each.part for each in own}
        kept = [each for each in self._in_force() if each.part not in named]
        if wanted.message is not None:
            estimator = estimator_for(self._saved.agent.model)
            messages = [*messages, frozen.extra_message(wanted.message, estimator)]
        completed = complete([*kept, *own], messages)
        _refuse(history_faults(completed, messages, "exclude"))
        return completed

    def _in_force(self) -> list[Override]:
        """The saved overrides that the next call goes by.

        A session's set that later messages have made invalid is suspended as a whole, there as
        here.
        """
        saved = self._saved.overrides
        of_agent = [each for each in saved if each.part.partition(":")[0] in AGENT_KINDS]
        of_session = [each for each in saved if each not in of_agent]
        if history_faults(Completed(tuple(of_session), ()), self._messages):
            return of_agent
        return [*of_agent, *of_session]


def _check_message(wanted: Wanted) -> None:
    """Raises HistoryRefused."""
    if wanted.message is not None and (
        faults := list(check_blocks("user", wanted.message, "message"))
    ):
        raise HistoryRefused(faults=faults)


def _refuse(faults: Iterable[Fault]) -> None:
    if found := list(faults):
        raise OverridesRefused("Nothing was called.", faults=found)
