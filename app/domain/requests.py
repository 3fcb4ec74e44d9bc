"""A model request while the chain assembles it, with the provenance of every piece beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from uuid import UUID

from app.domain.agents import Agent
from app.domain.messages import MessageRef
from app.domain.parts import PartId
from app.domain.ports import History
from app.domain.tools import ToolHandler

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SystemBlock:
    """A system block and where it came from. Only `text` and `cache` reach the provider."""

    part: PartId
    text: str
    contributor: str
    origin: str  # the setting, file or version that it comes from
    cache: bool = False  # carries a cache mark
    source: str | None = None  # the text as its author wrote it, where `text` wraps it
    volatile: bool = False  # another text at each call: no cache mark covers it


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool definition and where it came from. Only `definition` and `cache` are sent."""

    part: PartId
    name: str
    definition: Mapping[str, Any]  # as sent: name, description, input_schema …
    contributor: str
    origin: str
    cache: bool = False
    handler: ToolHandler | None = None  # None: nobody here can carry it out


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What one model call will send. Changed by `dataclasses.replace`, never in place."""

    model: str
    max_tokens: int
    system: tuple[SystemBlock, ...]
    tools: tuple[Tool, ...]
    messages: list[MessageRef]  # not to be changed in place either
    state: RunState  # of the run that this call belongs to
    tool_choice: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)  # stop_sequences, thinking …

    @property
    def all_parameters(self) -> dict[str, Any]:
        """What is sent beside the parts and the model."""
        named: dict[str, Any] = {"max_tokens": self.max_tokens}
        if self.tool_choice is not None:
            named["tool_choice"] = dict(self.tool_choice)
        return {**self.parameters, **named}


class RunState:
    """What one run knows: the agent, the session, and each middleware's own private state.

    Private state is typed by its class, so that a middleware can only reach what it can import.
    """

    def __init__(self, agent: Agent, session_id: UUID, history: History) -> None:
        self.agent = agent
        self.session_id = session_id
        self.history = history
        self._private: dict[type, Any] = {}

    def put(self, value: object) -> None:
        """Keep a middleware's private state for the rest of the run."""
        self._private[type(value)] = value

    def get(self, kind: type[T]) -> T:
        """The private state of this class. KeyError when nothing put it: a bug in the stack."""
        state: T = self._private[kind]
        return state

    def find(self, kind: type[T]) -> T | None:
        """The private state of this class, or None."""
        return self._private.get(kind)
