"""Short words for histories: user("hi"), tool_use("t1"), tool_result("t1"), assistant("done")."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from app.domain.agents import Agent
from app.domain.messages import MessageRef, NewMessage, prepare
from app.domain.outside import HttpTool, McpServer, OutsideTool, named
from app.domain.ports import Estimator, History, MemoryFile, Skill, Todo
from app.domain.thinking import Thought

Turn = tuple[str, list[dict[str, Any]]]

NOWHERE = UUID(int=0)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def user(words: str) -> Turn:
    return "user", [text(words)]


def assistant(words: str, *calls: str) -> Turn:
    return "assistant", [*([text(words)] if words else []), *(call(each) for each in calls)]


def call(call_id: str, name: str = "read_file") -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"path": f"/{call_id}"}}


def result(call_id: str, words: str = "contents") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": words}


def tool_use(*call_ids: str) -> Turn:
    return assistant("", *call_ids)


def tool_result(*call_ids: str) -> Turn:
    return "user", [result(each) for each in call_ids]


def thinking(words: str = "hm", signature: str = "c2lnbmVk") -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": signature}


def prepared(turns: Iterable[Turn], estimator: Estimator) -> list[NewMessage]:
    """The turns as they would be stored."""
    return [prepare(role, blocks, estimator) for role, blocks in turns]


def refs(turns: Iterable[Turn], estimator: Estimator) -> list[MessageRef]:
    """The turns as the store would hand them to the chain."""
    return [
        MessageRef(
            seq,
            message.role,
            message.tokens,
            message.preview,
            message.sha256,
            message.tool_use_ids,
            message.tool_result_ids,
            message.marks,
        )
        for seq, message in enumerate(prepared(turns, estimator), start=1)
    ]


def history(turns: Iterable[Turn], estimator: Estimator) -> History:
    return History(None, refs(turns, estimator))


def an_agent(**changes: Any) -> Agent:
    """An agent with a short prompt; every middleware is on."""
    values: dict[str, Any] = {
        "id": NOWHERE,
        "tenant_id": NOWHERE,
        "owner_id": NOWHERE,
        "name": "helper",
        "model": "claude-sonnet-4-5",
        "system_blocks": ("You are a careful helper.",),
        "max_tokens": 4096,
    }
    return Agent(**(values | changes))


class Pages:
    """The contents of messages, as the store would load them."""

    def __init__(self, turns: Iterable[Turn], estimator: Estimator) -> None:
        self._by_seq = {
            seq: each.content for seq, each in enumerate(prepared(turns, estimator), start=1)
        }

    def contents(self, session_id: UUID, seqs: Iterable[int]) -> dict[int, str]:
        return {seq: self._by_seq[seq] for seq in seqs}


class Thoughts:
    """What is kept beside thinking."""

    def __init__(self, thoughts: Iterable[Thought] = ()) -> None:
        self._by_seq = {each.seq: each for each in thoughts}

    def of(self, session_id: UUID) -> dict[int, Thought]:
        return self._by_seq


class Shelf:
    """Memory files, skills, todos and tools from memory: what `before_run` hooks read."""

    def __init__(
        self,
        memory: Iterable[MemoryFile] = (),
        skills: Iterable[Skill] = (),
        todos: Iterable[Todo] = (),
        http_tools: Iterable[HttpTool] = (),
        mcp_servers: Iterable[McpServer] = (),
    ) -> None:
        self._memory, self._skills, self._todos = tuple(memory), tuple(skills), tuple(todos)
        self._http_tools, self._mcp_servers = tuple(http_tools), tuple(mcp_servers)

    def memory(self, agent_id: UUID) -> tuple[MemoryFile, ...]:
        return self._memory

    def skills(self, agent_id: UUID) -> tuple[Skill, ...]:
        return self._skills

    def outside(self, names: Sequence[str]) -> list[OutsideTool]:
        return named(names, self._http_tools, self._mcp_servers)

    def todos(self, session_id: UUID) -> tuple[Todo, ...]:
        return self._todos
