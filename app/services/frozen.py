"""What a run or a try goes by is read once, however many turns and workers it takes."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app.chain.made import made_message
from app.chain.stack import Reads
from app.domain.messages import MadeMessage, MessageRef
from app.domain.outside import OutsideTool
from app.domain.overrides import OverrideSet
from app.domain.parts import EXTRA_MESSAGE
from app.domain.ports import Estimator, History, MemoryFile, Skill, Sources, Todo
from app.domain.sessions import Session
from app.domain.work import Loaded
from app.store.transaction import Transaction


def load(tx: Transaction, session: Session) -> Loaded:
    """Read what a run of this session goes by, as it is now."""
    agent = tx.agents.used_by(session)
    return Loaded(
        agent=agent,
        memory=tuple(tx.sources.memory(agent.id)) if agent.uses("memory") else (),
        skills=tuple(tx.sources.skills(agent.id)) if agent.uses("skills") else (),
        overrides=tuple(tx.overrides.for_run(agent.id, session.id)),
        outside=tuple(tx.sources.outside(names)) if (names := agent.outside_names) else (),
    )


def frozen(reads: Reads, loaded: Loaded) -> Reads:
    """The same reads, with what was loaded in the place of what is stored."""
    return reads._replace(
        sources=_LoadedSources(loaded, reads.sources), overrides=_LoadedOverrides(loaded)
    )


def frozen_history(history: History, loaded: Loaded, estimator: Estimator) -> History:
    """The history as far as it was meant, with what stands behind it in this request alone."""
    messages = history.messages
    if (last := loaded.last_seq) is not None:
        messages = [each for each in messages if each.seq <= last]
    if loaded.message is not None:
        messages = [*messages, extra_message(loaded.message, estimator)]
    return History(history.checkpoint, messages)


def extra_message(text: str, estimator: Estimator) -> MessageRef:
    """A user's message of one request alone."""
    blocks = [{"type": "text", "text": text}]
    made = MadeMessage(EXTRA_MESSAGE, "extra message", "the try", blocks)
    return made_message("user", made, estimator)


class _LoadedSources:
    def __init__(self, loaded: Loaded, live: Sources) -> None:
        self._loaded = loaded
        self._live = live

    def memory(self, agent_id: UUID) -> Sequence[MemoryFile]:
        del agent_id
        return self._loaded.memory

    def skills(self, agent_id: UUID) -> Sequence[Skill]:
        del agent_id
        return self._loaded.skills

    def todos(self, session_id: UUID) -> Sequence[Todo]:
        return self._live.todos(session_id)

    def outside(self, names: Sequence[str]) -> Sequence[OutsideTool]:
        del names
        return self._loaded.outside


class _LoadedOverrides:
    def __init__(self, loaded: Loaded) -> None:
        self._set = OverrideSet(loaded.overrides)

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        del agent_id, session_id
        return self._set
