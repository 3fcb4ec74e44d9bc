"""write_todos: replaces the session's todo list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.chain.handlers.inputs import CarryOut
from app.chain.handlers.lines import counted
from app.domain.ports import Todo, Workspace
from app.domain.tools import ToolError

MAX_TODOS = 100
MAX_TODO_CHARACTERS = 1_000


class TodoTools:
    """The tool that writes the todo list."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def by_name(self) -> dict[str, CarryOut]:
        """What carries out each tool."""
        return {"write_todos": self.write_todos}

    def write_todos(self, todos: Sequence[Mapping[str, str]]) -> str:
        """Replace the list, and show it as it now stands."""
        items = [Todo(each["content"].strip(), each["status"]) for each in todos]
        _check(items)
        return _shown(self._workspace.replace_todos(items))


def _check(items: Sequence[Todo]) -> None:
    if len(items) > MAX_TODOS:
        raise ToolError(f"A list has at most {MAX_TODOS} items. Put small steps together.")
    for place, item in enumerate(items):
        if not item.content:
            raise ToolError(f"todos[{place}].content is empty. Say what is to be done.")
        if len(item.content) > MAX_TODO_CHARACTERS:
            raise ToolError(
                f"todos[{place}].content is longer than {MAX_TODO_CHARACTERS:,} characters."
                " Say it in one sentence."
            )


def _shown(items: Sequence[Todo]) -> str:
    if not items:
        return "The list is empty."
    lines = [f"{n}. [{each.status}] {each.content}" for n, each in enumerate(items, start=1)]
    return "\n".join([f"The list has {counted(len(items), 'item')}:", *lines])
