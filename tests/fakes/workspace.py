"""A workspace in memory, with one memory that may be read-only."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from app.domain.files import MemoryReadOnly, NoSuchFile
from app.domain.paths import MEMORY_ROOT
from app.domain.ports import FileSize, Todo


class MemoryWorkspace:
    """A `Workspace` that keeps everything in a dict."""

    def __init__(self, files: dict[str, str] | None = None, *, read_only: bool = False) -> None:
        self.contents = dict(files or {})
        self.todos: list[Todo] = []
        self._read_only = read_only
        self.read_together: list[int] = []

    def files(self) -> list[FileSize]:
        return [FileSize(path, len(text.encode())) for path, text in sorted(self.contents.items())]

    def read(self, paths: Collection[str]) -> dict[str, str]:
        self.read_together.append(len(paths))
        return {path: self.contents[path] for path in paths if path in self.contents}

    def write(self, path: str, content: str) -> bool:
        if self._read_only and path.startswith(MEMORY_ROOT):
            raise MemoryReadOnly
        before = path in self.contents
        self.contents[path] = content
        return before

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        if path not in self.contents:
            raise NoSuchFile(path)
        self.write(path, change(self.contents[path]))

    def replace_todos(self, items: Sequence[Todo]) -> list[Todo]:
        self.todos = list(items)
        return self.todos
