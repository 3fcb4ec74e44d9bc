"""Imports: conversations from elsewhere become agents and sessions, all of them or none.

A file is recognised by its content: the same one again makes nothing. A file that has grown, as
Claude Code's transcripts do, continues the session that it became as long as that session holds
nothing else; otherwise it becomes a new session, whose report names the earlier one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from app.domain.agents import Agent
from app.domain.audit import Action
from app.domain.catalogue import facts_for
from app.domain.ids import new_id
from app.domain.imports import ImportRecord
from app.domain.messages import NewMessage
from app.domain.sessions import Session
from app.importers.values import Imported
from app.services import agents, messages, thinking
from app.services.import_reading import Prepared
from app.store.transaction import Transaction

OFF = ("todo", "filesystem", "subagents")  # the source brought its own tools
GROWING = ("claude-code",)  # formats in which a later file is the earlier one with more at its end
MAX_NAME_CHARACTERS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedSession:
    """What one conversation came to."""

    session: Session
    report: Mapping[str, Any]
    created: bool = False
    updated: bool = False  # an earlier import's session got the messages that are new
    earlier_id: UUID | None = None  # of an earlier import that this one could not continue


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an import came to; the first session is that of the main file."""

    sessions: Sequence[ImportedSession]

    @property
    def first(self) -> ImportedSession:
        """The main conversation."""
        return self.sessions[0]

    @property
    def created(self) -> bool:
        """Whether any session was made."""
        return any(each.created for each in self.sessions)


def store(tx: Transaction, conversations: Sequence[Prepared]) -> Outcome:
    """Make the sessions of one import, parents before their subagents.

    Raises:
        HistoryRefused, ToolRefused, BadBody: a conversation could never be sent.
    """
    work = _Work(tx)
    # In one order for everybody: two imports of the same files wait, never in a ring.
    for name in sorted({_source(each.imported) for each in conversations}):
        tx.imports.lock(name)
    for each in conversations:
        work.take(each)
    return Outcome(work.done)


def ids_of(outcome: Outcome) -> dict[str, Any]:
    """What `find` needs to tell the outcome again."""
    return {
        "sessions": [
            {
                "id": str(each.session.id),
                "created": each.created,
                "updated": each.updated,
                "earlier_id": str(each.earlier_id) if each.earlier_id else None,
            }
            for each in outcome.sessions
        ]
    }


def find(tx: Transaction, made: Mapping[str, Any]) -> Outcome:
    """What an earlier import came to.

    Raises:
        NotFound: one of its sessions is gone.
    """
    return Outcome([_found(tx, each) for each in made["sessions"]])


def _found(tx: Transaction, made: Mapping[str, Any]) -> ImportedSession:
    session = tx.sessions.get(UUID(made["id"]))
    return ImportedSession(
        session=session,
        report=tx.imports.of(session.id).report,
        created=made["created"],
        updated=made["updated"],
        earlier_id=UUID(made["earlier_id"]) if made["earlier_id"] else None,
    )


@dataclass(slots=True)
class _Work:
    """One import under way."""

    tx: Transaction
    done: list[ImportedSession] = field(default_factory=list)
    _agents: dict[tuple[Any, ...], UUID] = field(default_factory=dict)
    _by_source: dict[str, UUID] = field(default_factory=dict)

    def take(self, new: Prepared) -> None:
        """Recognise, continue or make one conversation."""
        made = self._known(new) or self._of_grown(new)
        self._by_source.setdefault(_source(new.imported), made.session.id)
        self.done.append(made)

    def _known(self, new: Prepared) -> ImportedSession | None:
        record = self.tx.imports.find(new.imported.fingerprint)
        if record is None:
            return None
        return ImportedSession(
            session=self.tx.sessions.get(record.session_id), report=record.report
        )

    def _of_grown(self, new: Prepared) -> ImportedSession:
        source = new.imported.source_session_id
        grows = source is not None and new.imported.format in GROWING
        earlier = self.tx.imports.of_source(source) if source and grows else []
        continued = self._continued(new, earlier)
        return continued or self._made(new, earlier[0].session_id if earlier else None)

    def _continued(self, new: Prepared, earlier: Sequence[ImportRecord]) -> ImportedSession | None:
        for record in earlier:
            session = self.tx.sessions.lock(record.session_id)
            hashes = self.tx.messages.hashes(session.id)
            # Else something was said there since, or the source has rewritten its past.
            if hashes == [each.sha256 for each in new.messages[: len(hashes)]]:
                return self._appended(session, new, new.messages[len(hashes) :])
        return None

    def _appended(
        self, session: Session, new: Prepared, rest: Sequence[NewMessage]
    ) -> ImportedSession:
        if rest:
            messages.add(self.tx, session, rest, self.tx.messages.tail(session.id))
        self._compacted(session, new)
        report = self._record(session, new, {"appended": len(rest)})
        session = self.tx.sessions.get(session.id)
        return ImportedSession(session=session, report=report, updated=True)

    def _made(self, new: Prepared, earlier_id: UUID | None) -> ImportedSession:
        parent = new.imported.parent
        session = self.tx.sessions.add(
            Session(
                id=new_id(),
                tenant_id=self.tx.principal.tenant_id,
                owner_id=self.tx.principal.user_id,
                agent_id=self._agent(new),
                title=new.imported.title,
                parent_id=self._parent(new),
                parent_tool_use_id=parent.tool_use_id if parent else None,
            )
        )
        stored = messages.add(self.tx, session, new.messages, ())
        self._compacted(session, new)
        if new.imported.system_blocks:
            # Without its prompt nobody can send what a conversation's thinking is bound to.
            thinking.note(self.tx, session.id, new.messages, stored)
        report = self._record(session, new, {"messages": len(new.messages)})
        return ImportedSession(
            session=self.tx.sessions.get(session.id),
            report=report,
            created=True,
            earlier_id=earlier_id,
        )

    def _agent(self, new: Prepared) -> UUID:
        """The agent for a conversation; conversations of one import that agree share one."""
        agent = _agent(self.tx, new)
        same = (agent.model, agent.system_blocks, repr(agent.tools), agent.max_tokens)
        if same not in self._agents:
            agents.check_sendable(agent)
            self._agents[same] = agents.add(self.tx, agent).id
        return self._agents[same]

    def _parent(self, new: Prepared) -> UUID | None:
        link = new.imported.parent
        if link is None or link.source_session_id is None:
            return None
        here = self._by_source.get(link.source_session_id)
        earlier = () if here else self.tx.imports.of_source(link.source_session_id)
        return here or next((record.session_id for record in earlier), None)

    def _compacted(self, session: Session, new: Prepared) -> None:
        """Keep where the source had compacted, unless the session starts there already."""
        checkpoint = new.checkpoint
        if checkpoint is None:
            return
        latest = self.tx.checkpoints.latest(session.id, checkpoint.summary.counted_by)
        if latest is None or latest.covers_seq < checkpoint.covers_seq:
            self.tx.checkpoints.add(session, checkpoint)

    def _record(
        self, session: Session, new: Prepared, detail: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        imported = new.imported
        record = self.tx.imports.add(
            ImportRecord(
                id=new_id(),
                tenant_id=session.tenant_id,
                owner_id=session.owner_id,
                agent_id=session.agent_id,
                session_id=session.id,
                format=imported.format,
                fingerprint=imported.fingerprint,
                content_hash=imported.content_hash,
                source_session_id=imported.source_session_id,
                last_record_id=imported.last_record_id,
                report=imported.report,
            )
        )
        about = {"format": imported.format, **detail}
        self.tx.audit.add(Action.IMPORT_CREATE, "session", session.id, about)
        return record.report


def _agent(tx: Transaction, new: Prepared) -> Agent:
    """The agent that sends what the source sent; it brings its own prompt and tools."""
    imported = new.imported
    facts = facts_for(new.model)
    wanted = imported.max_tokens or agents.DEFAULT_MAX_TOKENS
    agent = Agent(
        id=new_id(),
        tenant_id=tx.principal.tenant_id,
        owner_id=tx.principal.user_id,
        name=f"Imported: {imported.title}"[:MAX_NAME_CHARACTERS],
        model=new.model,
        system_blocks=tuple(imported.system_blocks),
        max_tokens=min(wanted, facts.max_output),
        tools=tuple(imported.tools),
        tool_choice=imported.tool_choice,
        parameters=imported.parameters,
        middleware=dict.fromkeys(OFF, False),
    )
    clashing = {str(tool.get("name")) for tool in imported.tools} & agents.tools_of(["skills"])
    return replace(agent, middleware={**agent.middleware, "skills": False}) if clashing else agent


def _source(imported: Imported) -> str:
    """What stays the same while the source goes on."""
    return imported.source_session_id or imported.fingerprint
