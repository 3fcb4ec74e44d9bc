"""Session files of Claude Code to drafts: one for the conversation, one for each subagent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.importers.claude_code.branch import choose
from app.importers.claude_code.records import (
    KNOWN_TYPES,
    Record,
    is_claude_code,
    is_stream_json,
    records_of,
    unique,
)
from app.importers.claude_code.turns import conversation
from app.importers.documents import Document
from app.importers.draft import Draft
from app.importers.models import plain_model
from app.importers.names import plain_id
from app.importers.report import Tally, kind
from app.importers.shapes import dict_of, text_of
from app.importers.values import ParentLink

Source = Literal["claude-code", "claude-code-stream-json"]

# Agents that Claude Code runs for itself on copies of the parent's context.
_INTERNAL = ("acompact", "aprompt_suggestion")


def is_session(document: Document) -> bool:
    """Whether the file is a session file of Claude Code, or one of a subagent."""
    return any(is_claude_code(line) for line in document.records)


def is_stream(document: Document) -> bool:
    """Whether the file is what `--output-format stream-json` printed."""
    return any(is_stream_json(line) for line in document.records)


def drafts(documents: Sequence[Document], source: Source = "claude-code") -> list[Draft]:
    """The conversations in the files: those of one session are read together."""
    by_session: dict[str | None, list[Document]] = defaultdict(list)
    for document in documents:
        by_session[_session_of(document)].append(document)
    found = [d for name, files in by_session.items() for d in _session(name, files, source)]
    return [draft for draft in found if draft.turns] or found[:1]


def _session_of(document: Document) -> str | None:
    """The session that the file ends in: a resumed one starts with records of another."""
    for line in reversed(document.records):
        session = line.get("sessionId") or line.get("session_id")
        if line.get("type") in ("user", "assistant") and isinstance(session, str):
            return session
    return None


def _session(name: str | None, documents: Sequence[Document], source: Source) -> list[Draft]:
    records: list[Record] = []
    for document in sorted(documents, key=_is_subagent_file):
        records += records_of(document.records, start=len(records))
    once = unique(records)
    main = [record for record in once if not record.sidechain]
    agents = _sidechains([record for record in once if record.sidechain])
    session = _Session(name, source, records, agents)
    internal = [key for key in agents if key.startswith(_INTERNAL)]
    has_main = any(record.says_something for record in main)
    skipped = internal if has_main or len(internal) < len(agents) else []
    subagents = [session.agent(key) for key in agents if key not in skipped]
    if not has_main and subagents:
        return subagents
    first = session.main(main)
    first.tally.drop("repeated_records", len(records) - len(once))
    first.tally.drop("bad_lines", sum(document.bad_lines for document in documents))
    first.tally.drop("lines_without_object", sum(d.other_lines for d in documents))
    first.tally.facts["subagents"] = {
        "found": len(agents),
        "imported": len(subagents),
        "linked_to_a_call": sum(bool(d.parent and d.parent.tool_use_id) for d in subagents),
        "internal_left_out": len(skipped),
    }
    return [first, *subagents]


def _is_subagent_file(document: Document) -> bool:
    return all(line.get("isSidechain") is True for line in document.records if "uuid" in line)


def _sidechains(records: Iterable[Record]) -> dict[str, list[Record]]:
    """The records of each subagent: by its id, in older files by the root of their chain."""
    chains: dict[str, list[Record]] = defaultdict(list)
    chain_of: dict[str, str] = {}
    for record in records:
        inherited = chain_of.get(record.parent) if record.parent else None
        key = record.agent or inherited or record.uuid or f"line-{record.index}"
        chains[key].append(record)
        if record.uuid:
            chain_of[record.uuid] = key
    return {key: chain for key, chain in chains.items() if any(r.says_something for r in chain)}


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that may have started a subagent."""

    id: str
    chain: str | None  # the subagent that made it; None: the main conversation


class _Session:
    """One session: makes the drafts of its chains, and knows which call started which."""

    def __init__(
        self,
        name: str | None,
        source: Source,
        records: Sequence[Record],
        agents: dict[str, list[Record]],
    ) -> None:
        self._name = name
        self._source = source
        self._records = records
        self._agents = agents
        self._by_id, self._by_prompt = _calls(records, agents)
        self._by_agent = _answers(records)

    def main(self, chain: Sequence[Record]) -> Draft:
        """The conversation itself."""
        draft = self._draft(chain, self._name)
        draft.title = _title(chain)
        return draft

    def agent(self, key: str) -> Draft:
        """A subagent's conversation, linked to the call that it answers."""
        draft = self._draft(self._agents[key], f"{self._name}/{key}")
        call = self._call_of(key)
        parent = f"{self._name}/{call.chain}" if call and call.chain else self._name
        draft.parent = ParentLink(parent, plain_id(call.id) if call else None, key)
        draft.tally.facts["subagent"] = {"linked_to_a_call": call is not None}
        return draft

    def _draft(self, chain: Sequence[Record], name: str | None) -> Draft:
        tally = Tally()
        for record in chain:
            tally.record(record.kind)
            tally.keep(f"record:{kind(record.type)}", int(record.type not in KNOWN_TYPES))
        branch = choose(chain)
        said = conversation(branch.records, tally)
        tally.facts["branch"] = {
            "other_branches": branch.others,
            "messages_on_other_branches": branch.left_out,
        }
        tally.facts |= _announced(chain)
        last = next((r for r in reversed(branch.records) if r.says_something), None)
        return Draft(
            format=self._source,
            turns=said.turns,
            tally=tally,
            model=plain_model(said.model),
            summary=said.summary,
            source_session_id=name,
            last_record_id=(last.uuid or f"line-{last.index}") if last else None,
            has_definitions=False,
        )

    def _call_of(self, key: str) -> _Call | None:
        for call_id in (self._by_agent.get(key), key):  # stream-json names the call itself
            if call_id in self._by_id:
                return self._by_id[call_id]
        prompts = self._by_prompt.get(_prompt(self._agents[key]), [])
        return prompts.pop(0) if prompts else None


def _calls(
    records: Iterable[Record], agents: dict[str, list[Record]]
) -> tuple[dict[str | None, _Call], dict[str, list[_Call]]]:
    chain_of = {record.index: key for key, chain in agents.items() for record in chain}
    by_id: dict[str | None, _Call] = {}
    by_prompt: dict[str, list[_Call]] = defaultdict(list)
    for record in records:
        for block in record.blocks_of("tool_use") if record.type == "assistant" else ():
            call_id = block.get("id")
            if not isinstance(call_id, str) or call_id in by_id:
                continue
            by_id[call_id] = _Call(call_id, chain_of.get(record.index))
            prompt = dict_of(block, "input").get("prompt")
            if isinstance(prompt, str):
                by_prompt[prompt.strip()].append(by_id[call_id])
    return by_id, by_prompt


def _answers(records: Iterable[Record]) -> dict[str, str]:
    """Which call each subagent's id was given back by."""
    answers: dict[str, str] = {}
    for record in records:
        agent = dict_of(record.raw, "toolUseResult").get("agentId")
        for result in record.blocks_of("tool_result"):
            call_id = result.get("tool_use_id")
            if isinstance(agent, str) and isinstance(call_id, str):
                answers.setdefault(agent, call_id)
    return answers


def _prompt(chain: Iterable[Record]) -> str:
    first = next((record for record in chain if record.says_something), None)
    texts = [block.get("text") for block in first.blocks_of("text")] if first else []
    return "\n".join(text for text in texts if isinstance(text, str)).strip()


def _title(chain: Sequence[Record]) -> str:
    """The title that the user or Claude Code gave; of summaries, only one of this session."""
    uuids = {record.uuid for record in chain if record.uuid}
    best: dict[str, Any] = {}
    for record in chain:
        for field in ("customTitle", "aiTitle"):
            best[field] = record.raw.get(field) or best.get(field)
        if record.type == "summary" and text_of(record.raw.get("leafUuid")) in uuids:
            best["summary"] = record.raw.get("summary")
    titles = (best.get(field) for field in ("customTitle", "aiTitle", "summary"))
    return next((title for title in titles if isinstance(title, str)), "")


def _announced(chain: Iterable[Record]) -> dict[str, Any]:
    """What stream-json says of the run: how many tools there were, and what it used in all."""
    facts: dict[str, Any] = {}
    for record in chain:
        tools = record.raw.get("tools")
        if record.kind == "system/init" and isinstance(tools, list):
            facts["tools_announced"] = sorted({kind(name) for name in tools})
    return facts
