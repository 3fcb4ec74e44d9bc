"""Whether a set of overrides can be stored, and what has to be stored with it. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from app.domain.messages import MessageRef
from app.domain.overrides import Override
from app.domain.pairs import Partner, partners
from app.domain.parts import EXTRA_MESSAGE, parse_part
from app.domain.replacing import MAX_REPLACEMENT_BYTES, is_empty
from app.domain.validity.history import check_history, is_plainly_valid
from app.errors import BadPart, Fault

AGENT_KINDS = ("system", "tool")
SESSION_KINDS = ("message", "summary")


class Completed(msgspec.Struct, frozen=True):
    """A set with the pair partners that it needs."""

    overrides: tuple[Override, ...]
    added: tuple[Partner, ...]


def entry_faults(
    wanted: Sequence[Override], kinds: Sequence[str], places: Sequence[str] = ()
) -> Iterator[Fault]:
    """What is wrong with single entries of a set whose target takes parts of these kinds.

    `places` says where in the body they stand, if it is not a list of overrides.
    """
    times = Counter(each.part for each in wanted)
    for each, at in zip(wanted, places or places_in_list(len(wanted)), strict=True):
        kind = each.part.partition(":")[0]
        if not _is_part(each.part):
            yield Fault(at, "bad_part", "This is not a part id; the session's context lists them.")
        elif kind not in kinds:
            yield Fault(at, "wrong_target", _whose(kind))
        elif kind == "tool" and each.action == "replace":
            yield Fault(at, "tool_replace", "A tool can be left out, not replaced.")
        if times[each.part] > 1:
            yield Fault(at, "duplicate_part", "Name each part once.")
        if each.replacement is not None:
            yield from _replacement_faults(each.replacement, at)


def places_in_list(number: int) -> list[str]:
    """Where the entries of a list of overrides stand."""
    return [f"overrides[{index}]" for index in range(number)]


def complete(wanted: Sequence[Override], messages: Sequence[MessageRef]) -> Completed:
    """Add the partner of every excluded message.

    A partner that the set wants to replace is excluded instead, since its call is gone; `added`
    says that its text is lost.
    """
    added = partners(messages, {each.part for each in wanted if each.action == "exclude"})
    gone = {each.part for each in added}
    kept = [each for each in wanted if each.part not in gone]
    lost = {each.part for each in wanted} & gone
    return Completed(
        overrides=(*kept, *(Override(each.part, "exclude") for each in added)),
        added=tuple(
            msgspec.structs.replace(each, replacement_lost=True) if each.part in lost else each
            for each in added
        ),
    )


def history_faults(
    completed: Completed, messages: Sequence[MessageRef], at: str = "overrides"
) -> list[Fault]:
    """Why the history that the set leaves could never be sent; nothing when it can."""
    excluded = {each.part for each in completed.overrides if each.action == "exclude"}
    kept: list[MessageRef] = []
    left_out: list[MessageRef] = []
    for each in messages:
        (left_out if each.part in excluded else kept).append(each)
    if not left_out:
        return []
    if not any(each.role == "user" and not _is_synthetic(each) for each in kept):
        detail = "Leave at least one message of the user in, or replace its text instead."
        return [Fault(at, "no_user_message", detail)]
    if kept[0].role == "assistant":
        detail = "Leave the first assistant message's question in, or replace its text."
        return [Fault(at, "starts_with_assistant", detail)]
    return [] if is_plainly_valid(kept, left_out) else check_history(kept, open_end=True)


def _replacement_faults(replacement: str, at: str) -> Iterator[Fault]:
    if is_empty(replacement):
        yield Fault(at, "empty_replacement", "Write what stands in its place, or exclude the part.")
    elif len(replacement.encode("utf-8", "surrogatepass")) > MAX_REPLACEMENT_BYTES:
        detail = f"A replacement may have {MAX_REPLACEMENT_BYTES} bytes at most."
        yield Fault(at, "replacement_too_large", detail)


def _is_part(text: str) -> bool:
    try:
        parse_part(text)
    except BadPart:
        return False
    return True


def _whose(kind: str) -> str:
    if kind in AGENT_KINDS:
        return "System and tool parts are overridden on the agent."
    if kind in SESSION_KINDS:
        return "Messages and the summary are overridden on the session."
    return "A synthetic part follows from the messages; exclude the message that it answers."


def _is_synthetic(message: MessageRef) -> bool:
    return message.part.startswith("synthetic:") and message.part != EXTRA_MESSAGE


def excluded_parts(overrides: Iterable[Override]) -> set[str]:
    """The parts that a set leaves out."""
    return {each.part for each in overrides if each.action == "exclude"}
