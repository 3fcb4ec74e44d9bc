"""Memory: the agent's memory files, one system block each."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from app.chain.middleware import Middleware
from app.domain.parts import system_part
from app.domain.ports import MemoryFile, Sources
from app.domain.requests import RunState, SystemBlock


class _Loaded(msgspec.Struct, frozen=True):
    files: Sequence[MemoryFile]


class Memory(Middleware):
    """Contributes one block per memory file, in the order of their paths."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def before_run(self, state: RunState) -> None:
        """Load the files once: a write in this run shows from the next run on."""
        used = state.agent.uses("memory")
        state.put(_Loaded(self._sources.memory(state.agent.id) if used else ()))

    def system_blocks(self, state: RunState) -> Sequence[SystemBlock]:
        files = state.get(_Loaded).files
        return [_block(file) for file in files if file.content.strip()]


def _block(file: MemoryFile) -> SystemBlock:
    # The path may hold any character but a quote is the only one that could end the attribute.
    path = file.path.replace('"', "&quot;")
    return SystemBlock(
        part=system_part("memory", file.path),
        text=f'<memory path="{path}">\n{file.content}\n</memory>',
        contributor="memory",
        origin=f"{file.path}, version {file.version}",
        source=file.content,
    )
