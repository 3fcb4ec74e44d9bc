"""glob and grep: over a Workspace, bounded in what they answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from app.chain.handlers.answers import Answers
from app.chain.handlers.globs import glob_matcher
from app.chain.handlers.inputs import CarryOut
from app.chain.handlers.lines import counted, listed
from app.chain.handlers.paths import folder_path
from app.domain.ports import FileSize, Workspace
from app.domain.tools import ToolError

MAX_PATHS = 500
MAX_MATCHES = 200
_LONGEST_LINE = 300  # characters of a line that are shown
_BEFORE_MATCH = 100  # of which before the match
_READ_AT_ONCE = 4 * 2**20  # bytes in memory


class SearchTools:
    """The tools that find files and lines."""

    def __init__(self, workspace: Workspace, answers: Answers) -> None:
        self._workspace = workspace
        self._answers = answers

    def by_name(self) -> dict[str, CarryOut]:
        """What carries out each tool."""
        return {"glob": self.glob, "grep": self.grep}

    def glob(self, pattern: str) -> str:
        """The files whose path matches."""
        fits = glob_matcher(pattern)
        found = [each.path for each in self._workspace.files() if fits.match(each.path)]
        if not found:
            return "No file matches."
        return self._answers.fitted(lambda room: listed(found, MAX_PATHS, room, _fewer_paths))

    def grep(self, text: str, path: str = "/", glob: str | None = None) -> str:
        """The lines that contain a text."""
        if not text or "\n" in text:
            raise ToolError("text has to be a part of one line, and not empty.")
        files = self._searched(path, glob)
        found = list(islice(self._matches(text, files), MAX_MATCHES + 1))
        if not found:
            return f"No line contains it, in {counted(len(files), 'file')}."
        return self._answers.fitted(lambda room: listed(found, MAX_MATCHES, room, _fewer_lines))

    def _searched(self, path: str, glob: str | None) -> list[FileSize]:
        folder = folder_path(path)
        fits = glob_matcher(glob) if glob is not None else None
        there = [
            each
            for each in self._workspace.files()
            if each.path == path or each.path.startswith(folder)
        ]
        if not there and folder != "/":
            raise ToolError("There is no such file or folder. Look for it with ls or glob.")
        return [each for each in there if fits is None or fits.match(each.path)]

    def _matches(self, text: str, files: Sequence[FileSize]) -> Iterator[str]:
        for paths in _batches(files):
            for path, content in sorted(self._workspace.read(paths).items()):
                for number, line in matching_lines(content, text):
                    yield f"{path}:{number}: {line}"


def matching_lines(content: str, text: str) -> Iterator[tuple[int, str]]:
    """Each line that contains `text`, once, with its number; a long one around the match.

    Takes one pass over the content, however long its lines are and however often it matches.
    """
    number, counted_to = 1, 0
    at = content.find(text)
    while at >= 0:
        number += content.count("\n", counted_to, at)
        counted_to = at
        start = content.rfind("\n", 0, at) + 1
        end = content.find("\n", at)
        end = len(content) if end < 0 else end
        yield number, _excerpt(content, start, at, end)
        at = content.find(text, end)


def _fewer_paths(shown: int, total: int) -> str:
    return f"[{shown:,} of {total:,} files. Use a narrower pattern.]"


def _fewer_lines(shown: int, _total: int) -> str:
    return f"[The first {counted(shown, 'matching line')}. Narrow the search with path or glob.]"


def _excerpt(content: str, start: int, at: int, end: int) -> str:
    if end - start <= _LONGEST_LINE:
        return content[start:end].removesuffix("\r")
    first = max(start, at - _BEFORE_MATCH)
    last = min(end, first + _LONGEST_LINE)
    before, after = "…" if first > start else "", "…" if last < end else ""
    return f"{before}{content[first:last]}{after}"


def _batches(files: Iterable[FileSize]) -> Iterator[list[str]]:
    """Paths to read together: as many as fit into memory comfortably, one at least."""
    batch: list[str] = []
    size = 0
    for each in files:
        if batch and size + each.size_bytes > _READ_AT_ONCE:
            yield batch
            batch, size = [], 0
        batch.append(each.path)
        size += each.size_bytes
    if batch:
        yield batch
