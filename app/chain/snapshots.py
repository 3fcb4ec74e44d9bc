"""A captured request turned into a snapshot: parts, totals, marks."""

from __future__ import annotations

from functools import lru_cache
from typing import cast

import msgspec

from app.chain.chain import Contributed
from app.chain.counts import tokens_of
from app.chain.fingerprint import definition_sha256, request_sha256, text_sha256
from app.chain.injection_views import failed_parts, injection_views
from app.chain.middlewares.context_overrides import Suspended, Unfiltered, overrides_of
from app.chain.middlewares.guard import Decision
from app.chain.middlewares.injections import Gathered
from app.chain.middlewares.outside_tools import NONE_IN_USE, OutsideInUse
from app.domain.catalogue import facts_for
from app.domain.injections import part_of
from app.domain.messages import MessageRef
from app.domain.overrides import OverrideSet
from app.domain.parts import AnyPart, Part, PartId, PartKind, SentMessage, message_part
from app.domain.ports import Estimator
from app.domain.previews import message_label, preview_text
from app.domain.requests import ModelRequest, RunState, SystemBlock, Tool
from app.domain.snapshots import (
    BeforeAfter,
    CacheView,
    Group,
    Groups,
    OverridesView,
    Snapshot,
    Totals,
)


class Covered(msgspec.Struct, frozen=True):
    """Overridden messages that a checkpoint has replaced; in the state so that they are listed."""

    messages: list[MessageRef]


def snapshot(request: ModelRequest, estimator: Estimator) -> Snapshot:
    """Describe a captured request part by part. Makes no count and loads no content."""
    state = request.state
    overrides = overrides_of(state)
    contributed = state.get(Contributed)
    decision = state.get(Decision)
    unfiltered = state.find(Unfiltered)
    facts = facts_for(request.model)

    system = system_group(contributed.system, request, overrides, estimator)
    tools = tools_group(contributed.tools, request, overrides, estimator)
    messages = messages_group(
        unfiltered.messages if unfiltered else request.messages, request, overrides
    )
    groups = Groups(system, tools, messages)
    gathered = state.get(Gathered).injected
    groups.system.parts += failed_parts(gathered or (), overrides)
    _add_ghosts(groups, overrides, state)
    return Snapshot(
        session_id=str(state.session_id),
        agent_id=str(state.agent.id),
        model=request.model,
        model_known=facts.known,
        transparent=not gathered,
        request_sha256=request_sha256(request),
        groups=groups,
        totals=_totals(groups, request, decision, estimator),
        would_compact=decision.would_compact,
        overrides=_overrides_view(overrides, groups, state),
        cache=_cache_view(request, groups, facts.min_cache_tokens),
        sendable=bool(request.messages),
        tool_choice=dict(request.tool_choice) if request.tool_choice else None,
        injections=injection_views(state.agent.injections, gathered, overrides),
        missing_tools=(state.find(OutsideInUse) or NONE_IN_USE).missing,
    )


def system_group(
    contributed: tuple[SystemBlock, ...],
    request: ModelRequest,
    overrides: OverrideSet,
    estimator: Estimator,
) -> Group:
    """Every contributed system block, those left out included."""
    sent = {block.part: block for block in request.system}
    covered = _covered_system(request)
    parts: list[AnyPart] = []
    for block in contributed:
        as_sent = sent.get(block.part, block)
        tokens = estimator.system_block(as_sent.text)
        replaced = as_sent.text is not block.text and as_sent.text != block.text
        parts.append(
            Part(
                id=block.part,
                kind="system",
                label=_system_label(block),
                preview=preview_text(as_sent.source or as_sent.text),
                tokens=tokens.tokens,
                included=block.part in sent,
                override=overrides.state_of(block.part),
                cached_prefix=block.part in covered,
                sha256=text_sha256(as_sent.text),
                contributor=block.contributor,
                origin=block.origin,
                rough=tokens.rough,
                tokens_before=estimator.system_block(block.text).tokens if replaced else None,
                base_changed=overrides.base_changed(block.part, text_sha256(block.text)),
            )
        )
    return Group(parts, _sums(parts))


def tools_group(
    contributed: tuple[Tool, ...],
    request: ModelRequest,
    overrides: OverrideSet,
    estimator: Estimator,
) -> Group:
    """Every contributed tool definition, those left out included; the first of each name."""
    sent = {tool.part: tool for tool in request.tools}
    marked = any(block.cache for block in request.system) or any(t.cache for t in request.tools)
    parts: list[AnyPart] = []
    for tool in {tool.name: tool for tool in reversed(contributed)}.values():
        definition = sent.get(tool.part, tool).definition
        tokens = estimator.tool(definition)
        parts.append(
            Part(
                id=tool.part,
                kind="tool",
                label=tool.name,
                preview=preview_text(str(tool.definition.get("description") or "")),
                tokens=tokens.tokens,
                included=tool.part in sent,
                override=overrides.state_of(tool.part),
                # The prefix order is tools, system, messages: a mark anywhere covers every tool.
                cached_prefix=marked and tool.part in sent,
                sha256=definition_sha256(definition),
                contributor=tool.contributor,
                origin=tool.origin,
                rough=tokens.rough,
            )
        )
    parts.reverse()
    return Group(parts, _sums(parts))


def messages_group(
    messages: list[MessageRef], request: ModelRequest, overrides: OverrideSet
) -> Group:
    """Every message, those left out included."""
    after = request.state.get(Decision).counted.messages
    parts = [_message_part(each) for each in messages]
    if messages is request.messages:
        return Group(parts, BeforeAfter(after, after))
    # What is sent stands in the same order: walking along finds the few that were changed.
    sending = iter(request.messages)
    as_sent = next(sending, None)
    left_out = []
    for index, ref in enumerate(messages):
        if as_sent is ref:
            as_sent = next(sending, None)
            continue
        parts[index] = part = _marked_part(ref)
        part.override = overrides.state_of(part.id)
        if as_sent and as_sent.part == part.id:
            _tell_replaced(part, as_sent, overrides)
            as_sent = next(sending, None)
        else:
            part.included = False
            part.thinking_dropped = part.override == "none" and "thinking" in ref.marks
            left_out.append((part, ref))
    _name_partners(left_out)
    # What only the filtered history needs: a user's turn at its end.
    parts += [_message_part(each) for each in (as_sent, *sending) if each]
    return Group(parts, BeforeAfter(tokens_of(messages), after))


def _tell_replaced(part: Part, as_sent: MessageRef, overrides: OverrideSet) -> None:
    """Describe what is sent in place of the message that `part` describes."""
    part.base_changed = overrides.base_changed(part.id, part.sha256)
    part.tokens_before, part.tokens = part.tokens, as_sent.tokens or 0
    part.preview, part.sha256 = as_sent.preview, as_sent.sha256
    part.thinking_dropped = as_sent.thinking_dropped


def _name_partners(left_out: list[tuple[Part, MessageRef]]) -> None:
    """Tell each of these with which others it goes: those at the ends of its calls."""
    ends: dict[str, list[str]] = {}
    for part, ref in left_out:
        for call in (*ref.tool_use_ids.split(), *ref.tool_result_ids.split()):
            ends.setdefault(call, []).append(part.id)
    partners: dict[str, dict[str, None]] = {}
    for joined in ends.values():
        for part_id in joined:
            others = (other for other in joined if other != part_id)
            partners.setdefault(part_id, {}).update(dict.fromkeys(others))
    for part, _ in left_out:
        if found := partners.get(part.id):
            part.paired_with = list(found)


def ghosts(overrides: OverrideSet, there: set[str], covered: list[MessageRef]) -> list[Part]:
    """Overridden parts that the chain never reached: compacted messages, and stale parts."""
    compacted = {ref.part: ref for ref in covered}
    parts = []
    for each in overrides:
        if each.part in there:
            continue
        ref = compacted.get(PartId(each.part))
        part = _marked_part(ref) if ref else _stale_part(each.part)
        part.included, part.override = False, each.action
        part.compacted, part.stale = ref is not None, ref is None
        parts.append(part)
    return parts


def _stale_part(part_id: str) -> Part:
    """An override's part that is not there: nothing is known of it but its name."""
    kind, _, name = part_id.partition(":")
    return Part(
        part_id, cast(PartKind, kind), name or part_id, "", 0, False, "none", False, "", "override"
    )  # fmt: skip


def _message_part(ref: MessageRef) -> AnyPart:
    if ref.made or (ref.marks and "rough" in ref.marks):
        return _marked_part(ref)
    part_id, label = _names(ref.seq, ref.role)
    # By position: ten thousand of these are made for one long session.
    return SentMessage(
        part_id, "message", label, ref.preview, ref.tokens or 0, True, "none", False, ref.sha256,
        "session", ref.role,
    )  # fmt: skip


def _marked_part(ref: MessageRef) -> Part:
    """A message that something is to be said of."""
    if ref.made:
        return _made_part(ref)
    part_id, label = _names(ref.seq, ref.role)
    return Part(
        part_id, "message", label, ref.preview, ref.tokens or 0, True, "none", False, ref.sha256,
        "session", ref.role, rough="rough" in ref.marks,
    )  # fmt: skip


@lru_cache(maxsize=65_536)
def _names(seq: int, role: str) -> tuple[PartId, str]:
    """The part id and the label of a message; every snapshot needs the same ones again."""
    return message_part(seq), message_label(seq, role)


def _made_part(ref: MessageRef) -> Part:
    made = ref.made
    if made is None:
        raise ValueError("only a message that the chain made has a part of its own")
    is_summary = made.part == "summary"
    return Part(
        id=made.part,
        kind="summary" if is_summary else "message",
        label=made.label,
        preview=ref.preview,
        tokens=ref.tokens or 0,
        included=True,
        override="none",
        cached_prefix=False,
        sha256=ref.sha256,
        contributor="compaction" if is_summary else "patch_tool_calls",
        origin=made.origin,
        role=ref.role,
        synthetic=not is_summary,
    )


def _system_label(block: SystemBlock) -> str:
    return block.part.removeprefix("system:memory:").removeprefix("system:")


def _covered_system(request: ModelRequest) -> set[str]:
    """The system parts up to and with the last one that carries a cache mark."""
    last = max((i for i, block in enumerate(request.system) if block.cache), default=-1)
    return {block.part for block in request.system[: last + 1]}


def _sums(parts: list[AnyPart]) -> BeforeAfter:
    before = sum(p.tokens if p.tokens_before is None else p.tokens_before for p in parts)
    return BeforeAfter(before, sum(p.tokens for p in parts if p.included))


def _totals(
    groups: Groups, request: ModelRequest, decision: Decision, estimator: Estimator
) -> Totals:
    each = (groups.system, groups.tools, groups.messages)
    framing = decision.counted.framing
    framing_before = estimator.framing(
        request.model,
        has_tools=bool(groups.tools.parts),
        tool_choice=request.state.agent.tool_choice,
    )
    after = sum(group.tokens.after for group in each) + framing
    budget = decision.budget
    return Totals(
        before=sum(group.tokens.before for group in each) + framing_before,
        after=after,
        framing=framing,
        counted="estimate",
        estimator=estimator.id,
        window=budget.window,
        reserved_output=budget.reserve,
        remaining=budget.window - budget.reserve - after,
        available=budget.available,
        trigger=budget.trigger,
        rough=any(part.included for group in each for part in group.parts if part.rough),
    )


def _add_ghosts(groups: Groups, overrides: OverrideSet, state: RunState) -> None:
    if not len(overrides):
        return
    covered = state.find(Covered)
    # It is not stale: it is there, and was not gathered.
    injections = {part_of(each.name) for each in state.agent.injections}
    by_kind = {"system": groups.system, "tool": groups.tools}
    each_group = (groups.system, groups.tools, groups.messages)
    there = {part.id for group in each_group for part in group.parts}
    for ghost in ghosts(overrides, there, covered.messages if covered else []):
        ghost.stale = ghost.stale and ghost.id not in injections
        by_kind.get(ghost.kind, groups.messages).parts.append(ghost)


def _overrides_view(overrides: OverrideSet, groups: Groups, state: RunState) -> OverridesView:
    if not len(overrides):
        return OverridesView(active=0, stale=0)
    each_group = (groups.system, groups.tools, groups.messages)
    touched = [p for group in each_group for p in group.parts if p.override != "none"]
    stale = sum(part.stale for part in touched)
    changed = sum(part.base_changed for part in touched)
    suspended = state.find(Suspended)
    return OverridesView(
        active=len(overrides) - stale - (_on_messages(overrides) if suspended else 0),
        stale=stale,
        base_changed=changed,
        suspended=suspended.reason if suspended else None,
        suspended_at=suspended.at if suspended else None,
    )


def _on_messages(overrides: OverrideSet) -> int:
    """How many act on messages and the summary: those that are suspended together."""
    return sum(not each.part.startswith(("system:", "tool:")) for each in overrides)


def _cache_view(request: ModelRequest, groups: Groups, minimum: int) -> CacheView:
    marked = [block.part for block in request.system if block.cache]
    marked += [tool.part for tool in request.tools if tool.cache]
    covered = (*groups.system.parts, *groups.tools.parts)
    prefix = sum(part.tokens for part in covered if part.cached_prefix)
    return CacheView(
        breakpoint=marked[-1] if marked else None,
        prefix_tokens=prefix,
        minimum_tokens=minimum,
        effective=bool(marked) and prefix >= minimum,
    )
