"""The requests whose bodies are kept beside this file, word for word.

After a wanted change: `python -m tests.golden.cases` writes them anew; the diff is for review.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from app.chain.capture import capture
from app.chain.stack import Reads, default_chain
from app.domain.agents import Agent, Subagent
from app.domain.overrides import Override, OverrideSet
from app.domain.ports import History, MemoryFile, Skill
from app.domain.requests import ModelRequest, RunState
from app.provider import wire
from app.tokens.estimator import estimator_for
from tests.history import (
    NOWHERE,
    Pages,
    Shelf,
    Thoughts,
    Turn,
    an_agent,
    assistant,
    prepared,
    refs,
    tool_result,
    tool_use,
    user,
)

FOLDER = Path(__file__).parent

TALK = [
    user("Look at a.py."),
    tool_use("t1"),
    tool_result("t1"),
    assistant("Done."),
    user("Thanks"),
]
SPREAD = [user("Look."), tool_use("p1", "p2"), tool_result("p2"), tool_result("p1"), user("And?")]
FULL_SHELF = Shelf(
    memory=[
        MemoryFile("/memories/AGENTS.md", "Prefer small steps.", 1, ""),
        MemoryFile("/memories/style.md", "Write plain words.", 1, ""),
    ],
    skills=[Skill("review", "How to review a change.", "Read it twice.", None, 1)],
)
SCOUT = Subagent(name="scout", description="Looks around.", system_prompt="Look.")
DEPLOY = {"name": "deploy", "description": "Ship it.", "input_schema": {"type": "object"}}
NOTHING = {"todo": False, "filesystem": False, "subagents": False}


class Saved:
    def __init__(self, *overrides: Override) -> None:
        self._set = OverrideSet(overrides)

    def for_run(self, agent_id: object, session_id: object) -> OverrideSet:
        return self._set


def request_of(
    turns: list[Turn], agent: Agent, shelf: Shelf, *overrides: Override
) -> dict[str, Any]:
    """The body of the next request, through the real chain."""
    estimator = estimator_for(agent.model)
    state = RunState(agent, NOWHERE, History(None, refs(turns, estimator)))
    pages = Pages(turns, estimator)
    chain = default_chain(Reads(shelf, Saved(*overrides), Thoughts(), pages), estimator)
    chain.before_run(state)
    request: ModelRequest = chain.model_call(state, capture)
    contents = {seq: m.content for seq, m in enumerate(prepared(turns, estimator), start=1)}
    return wire.body(request, contents)


CASES: dict[str, Callable[[], dict[str, Any]]] = {
    "everything": lambda: request_of(
        TALK, an_agent(subagents=(SCOUT,), tools=(DEPLOY,)), FULL_SHELF
    ),
    "bare": lambda: request_of(TALK[:1], an_agent(system_blocks=(), middleware=NOTHING), Shelf()),
    "tools_alone": lambda: request_of(
        TALK[:1], an_agent(system_blocks=(), middleware=NOTHING, tools=(DEPLOY,)), Shelf()
    ),
    "parallel_results": lambda: request_of(SPREAD, an_agent(middleware=NOTHING), Shelf()),
    "interrupted": lambda: request_of(
        [*TALK[:1], tool_use("a", "b"), tool_result("b")], an_agent(middleware=NOTHING), Shelf()
    ),
    "ends_on_the_assistant": lambda: request_of(TALK[:4], an_agent(middleware=NOTHING), Shelf()),
    "system_part_excluded": lambda: request_of(
        TALK, an_agent(middleware=NOTHING), FULL_SHELF, Override("system:skills", "exclude")
    ),
    "system_part_replaced": lambda: request_of(
        TALK,
        an_agent(middleware=NOTHING),
        Shelf(),
        Override("system:agent", "replace", "Be brief."),
    ),
    "tool_excluded": lambda: request_of(
        TALK[:1],
        an_agent(tools=("read_file", "grep", DEPLOY)),
        Shelf(),
        Override("tool:grep", "exclude"),
    ),
    "pair_excluded": lambda: request_of(
        TALK,
        an_agent(middleware=NOTHING),
        Shelf(),
        Override("message:2", "exclude"),
        Override("message:3", "exclude"),
    ),
    "result_replaced": lambda: request_of(
        TALK,
        an_agent(middleware=NOTHING),
        Shelf(),
        Override("message:3", "replace", "[left out]"),
    ),
}


def written(body: dict[str, Any]) -> str:
    """A body as it is kept: its own key order, indented."""
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    for name, make in CASES.items():
        (FOLDER / f"{name}.json").write_text(written(make()), encoding="utf-8")


if __name__ == "__main__":
    main()
