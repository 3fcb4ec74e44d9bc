"""Saved overrides: replace a target's whole set, look at it, bring back an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

import msgspec

from app.domain.audit import Action
from app.domain.completion import (
    AGENT_KINDS,
    SESSION_KINDS,
    Completed,
    complete,
    entry_faults,
    history_faults,
    places_in_list,
)
from app.domain.ids import now, rfc3339
from app.domain.messages import MessageRef
from app.domain.overrides import Override, SavedOverride, SavedSet, Target
from app.domain.pairs import Partner
from app.domain.text import clean
from app.errors import Fault, NotFound, OverridesRefused
from app.services import context
from app.store.transaction import Transaction

LEFT_OUT = "[left out]"  # what a cheaper alternative puts in a result's place


class Wish(NamedTuple):
    """One entry of a request body."""

    part: str
    action: str
    replacement: str | None = None
    reason: str | None = None
    base_sha256: str | None = None  # of a set that is brought back: what it replaced then
    renewed: bool = False  # somebody has seen that its original changed, and stands by it


class Alternative(msgspec.Struct, frozen=True):
    """A change that costs less than excluding a pair: the call stays, its result gets short."""

    part: str
    action: str
    replacement: str


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """A stored set, and what storing it brought along."""

    version: int
    overrides: tuple[SavedOverride, ...]
    added: tuple[Partner, ...] = ()
    thinking_dropped: tuple[str, ...] | None = None  # None: not asked
    alternatives: tuple[Alternative, ...] = ()


def of(tx: Transaction, target: Target) -> Answer:
    """The target's set. Raises NotFound."""
    saved = tx.overrides.of(target)
    return Answer(version=saved.version, overrides=saved.overrides)


def replace(
    tx: Transaction,
    target: Target,
    wishes: Sequence[Wish],
    *,
    reason: str | None = None,
    precondition: Callable[[int], None] = lambda _version: None,
) -> Answer:
    """Make `wishes`, and the pair partners that they need, the target's whole set.

    `precondition` is asked with the version that stands, while nobody else can change it.

    Raises:
        NotFound: the target is not the principal's to change.
        PreconditionFailed: from `precondition`.
        OverridesRefused: an entry is wrong, or the set would leave a request that cannot be sent.
    """
    held = tx.overrides.lock(target)
    precondition(held.version)
    decided = decide(tx, target, wishes)
    wanted = _signed(tx, held, decided, wishes, reason)
    saved = tx.overrides.replace(held, wanted, reason)
    _audit(tx, saved)
    return Answer(
        version=saved.version,
        overrides=saved.overrides,
        added=decided.completed.added,
        thinking_dropped=_thinking_dropped(tx, target, decided.messages),
        alternatives=tuple(alternatives(decided)),
    )


def restore(
    tx: Transaction,
    target: Target,
    version: int,
    precondition: Callable[[int], None] = lambda _version: None,
) -> Answer:
    """Make one of the last sets the target's set again, checked as if it were new.

    Raises:
        NotFound: there is no such set, or the target is not the principal's to change.
        OverridesRefused: messages that came since make it impossible.
    """
    tx.overrides.of(target)
    try:
        past = tx.overrides.past(target, version)
    except NotFound:
        raise NotFound("There is no such version; …/history lists those that are kept.") from None
    wishes = [
        Wish(each.part, each.action, each.replacement, each.reason, each.base_sha256)
        for each in past.overrides
    ]
    reason = f"restored from version {version}"
    return replace(tx, target, wishes, reason=reason, precondition=precondition)


class Decided(NamedTuple):
    """A set that may be stored, and the messages that it was decided on."""

    completed: Completed
    messages: list[MessageRef]


def decide(tx: Transaction, target: Target, wishes: Sequence[Wish]) -> Decided:
    """Complete the set with pair partners, and refuse one that nobody could send.

    Raises:
        OverridesRefused: with a code for each entry that is wrong.
    """
    wanted = [Override(each.part, each.action, _cleaned(each.replacement)) for each in wishes]  # type: ignore[arg-type]  # the schema has checked the action
    kinds = AGENT_KINDS if target.kind == "agent" else SESSION_KINDS
    _refuse(list(entry_faults(wanted, kinds)))
    if target.kind == "agent":
        return Decided(Completed(tuple(wanted), ()), [])
    messages = messages_of(tx, target.id)
    _refuse(list(ambiguous(wanted, messages, places_in_list(len(wanted)))))
    completed = complete(wanted, messages)
    _refuse(history_faults(completed, messages), _instead_of_excluding(wanted, messages))
    return Decided(completed, messages)


def _refuse(faults: list[Fault], alternatives: Sequence[Alternative] = ()) -> None:
    if faults:
        more = {"alternatives": [msgspec.to_builtins(each) for each in alternatives]}
        raise OverridesRefused("Nothing was stored.", faults=faults, extensions=more)


def _instead_of_excluding(
    wanted: Sequence[Override], messages: Sequence[MessageRef]
) -> list[Alternative]:
    """For each message that was to leave, where one text can stand for it: keep it, shortened."""
    leaving = {each.part for each in wanted if each.action == "exclude"}
    return [
        Alternative(each.part, "replace", LEFT_OUT)
        for each in messages
        if each.part in leaving and " " not in each.tool_result_ids
    ]


def _cleaned(replacement: str | None) -> str | None:
    return None if replacement is None else clean(replacement)


def messages_of(tx: Transaction, session_id: UUID) -> list[MessageRef]:
    """What the next request starts from: the summary, and the messages after it."""
    history = tx.messages.outline(session_id)
    summary = [history.checkpoint.summary] if history.checkpoint else []
    return [*summary, *history.messages]


def ambiguous(
    wanted: Sequence[Override], messages: Sequence[MessageRef], places: Sequence[str]
) -> Iterator[Fault]:
    """Replacements of messages with several results: nobody can tell which one is meant."""
    replaced = {each.part: index for index, each in enumerate(wanted) if each.action == "replace"}
    if not replaced:
        return
    for message in messages:
        place = replaced.get(message.part)
        if place is not None and " " in message.tool_result_ids and message.role == "user":
            detail = "This message holds several tool results; exclude it, or replace others."
            yield Fault(places[place], "ambiguous_replacement", detail)


def _signed(
    tx: Transaction,
    held: SavedSet,
    decided: Decided,
    wishes: Sequence[Wish],
    reason: str | None,
) -> list[SavedOverride]:
    """The set with who, when and why; what stays as it is keeps its own."""
    before = {each.part: each for each in held.overrides}
    reasons = {each.part: each.reason for each in wishes}
    renewed = {each.part for each in wishes if each.renewed}
    bases = _bases(tx, held.target, decided)
    bases |= {each.part: each.base_sha256 for each in wishes if each.base_sha256}
    at = rfc3339(now())
    signed = []
    for each in decided.completed.overrides:
        old = before.get(each.part)
        why = reasons.get(each.part) or reason
        same = old and (old.action, old.replacement) == (each.action, each.replacement)
        outdated = old and each.part in renewed and old.base_sha256 != bases.get(each.part)
        if old and same and not outdated and why in (None, old.reason):
            signed.append(old)
            continue
        signed.append(
            SavedOverride(
                part=each.part,
                action=each.action,
                replacement=each.replacement,
                reason=why,
                base_sha256=bases.get(each.part),
                created_by=tx.principal.user_id,
                created_at=at,
            )
        )
    return signed


def _bases(tx: Transaction, target: Target, decided: Decided) -> dict[str, str]:
    """Of each replaced part that is there: the hash of what it replaces."""
    replaced = {e.part for e in decided.completed.overrides if e.action == "replace"}
    if not replaced:
        return {}
    if target.kind == "agent":
        return context.system_hashes(tx, target.id, replaced)
    refs = [each for each in decided.messages if each.part in replaced]
    stored = [each.seq for each in refs if not each.made]
    made = {str(each.part): each.sha256 for each in refs if each.made}
    headers = tx.messages.headers(target.id, stored, counted_by="")
    return made | {each.part: each.sha256 for each in headers}


def _thinking_dropped(
    tx: Transaction, target: Target, messages: Sequence[MessageRef]
) -> tuple[str, ...] | None:
    """The messages whose thinking the next call leaves out; of an agent's sessions, not asked."""
    if target.kind == "agent":
        return None
    if not any("thinking" in each.marks for each in messages if each.marks):
        return ()
    return context.thinking_dropped(context.assemble(tx, target.id))


def alternatives(decided: Decided) -> Iterator[Alternative]:
    """For each pair that leaves since one of it was named: keep both, and shorten the result."""
    widened = {part for each in decided.completed.added for part in (each.part, each.goes_with)}
    for message in decided.messages:
        results = message.tool_result_ids.split()
        if message.part in widened and message.role == "user" and len(results) == 1:
            yield Alternative(message.part, "replace", LEFT_OUT)


def _audit(tx: Transaction, saved: SavedSet) -> None:
    """Which parts, and what is done with them; never the text that stands in for one."""
    detail = {
        "version": saved.version,
        "overrides": [{"part": e.part, "action": e.action} for e in saved.overrides],
    }
    tx.audit.add(Action.CONTEXT_OVERRIDE, saved.target.kind, saved.target.id, detail)
