"""ls, read_file, write_file, edit_file: over a Workspace, never over a file of the host."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from app.chain.handlers.answers import Answers
from app.chain.handlers.edits import edited
from app.chain.handlers.inputs import CarryOut
from app.chain.handlers.lines import counted, lines_of, listed, page
from app.chain.handlers.paths import file_path, folder_path
from app.domain.files import NoSuchFile, check_length
from app.domain.paths import MEMORY_ROOT
from app.domain.ports import FileSize, Workspace
from app.domain.tools import ToolError

MAX_ENTRIES = 500


class FileTools:
    """The tools that list, read and write files."""

    def __init__(self, workspace: Workspace, answers: Answers) -> None:
        self._workspace = workspace
        self._answers = answers

    def by_name(self) -> dict[str, CarryOut]:
        """What carries out each tool."""
        return {
            "ls": self.ls,
            "read_file": self.read_file,
            "write_file": self.write_file,
            "edit_file": self.edit_file,
        }

    def ls(self, path: str = "/") -> str:
        """The files and folders right below a folder."""
        folder = folder_path(path)
        files = self._workspace.files()
        if any(each.path == path for each in files):
            raise ToolError("This is a file. Read it with read_file.")
        entries = _entries(folder, files)
        if not entries:
            return _nothing_in(folder)
        return self._answers.fitted(lambda room: listed(entries, MAX_ENTRIES, room, _cut))

    def read_file(self, path: str, offset: int = 1, limit: int = 500) -> str:
        """A page of a file."""
        wanted = file_path(path)
        found = self._workspace.read([wanted])
        if wanted not in found:
            raise NoSuchFile(wanted)
        return self._answers.fitted(lambda room: page(found[wanted], offset, limit, room))

    def write_file(self, path: str, content: str) -> str:
        """Write a whole file."""
        wanted = file_path(path)
        check_length(len(content))
        replaced = self._workspace.write(wanted, content)
        lines = counted(len(lines_of(content)), "line")
        done = "Replaced" if replaced else "Wrote"
        return f"{done} {wanted}: {lines}, {_bytes(len(content.encode()))}."

    def edit_file(self, path: str, old_text: str, new_text: str, replace_all: bool = False) -> str:
        """Replace an exact text in a file."""
        wanted = file_path(path)
        places = 0

        def change(content: str) -> str:
            nonlocal places
            new = edited(content, old_text, new_text, everywhere=replace_all)
            places = content.count(old_text)
            return new

        self._workspace.edit(wanted, change)
        return f"Edited {wanted}: replaced in {counted(places, 'place')}."


def _entries(folder: str, files: Iterable[FileSize]) -> list[str]:
    """A line for each file and folder right below: a folder with all that lies in it."""
    sizes: Counter[str] = Counter()
    below: Counter[str] = Counter()
    for each in files:
        if each.path.startswith(folder):
            step, slash, _ = each.path[len(folder) :].partition("/")
            sizes[folder + step + slash] += each.size_bytes
            below[folder + step + slash] += 1
    return [
        f"{path}  {counted(below[path], 'file') + ', ' if path.endswith('/') else ''}{_bytes(size)}"
        for path, size in sorted(sizes.items())
    ]


def _nothing_in(folder: str) -> str:
    if folder in ("/", MEMORY_ROOT):
        return f"There is no file in {folder} yet."
    raise ToolError("There is no such folder. Folders are there as long as a file lies in them.")


def _cut(shown: int, total: int) -> str:
    return f"[{shown:,} of {total:,} entries. List a folder below, or use glob.]"


def _bytes(size: int) -> str:
    return counted(size, "byte")
