"""Paths of files in URLs: everything after a prefix, taken exactly as it was sent."""

from __future__ import annotations

from werkzeug.routing import BaseConverter

from app.domain.paths import absolute


class RestOfPath(BaseConverter):
    """The rest of the URL as an absolute file path; its first slash may be left out.

    So `…/memory/memories/a.md`, `…/memory//memories/a.md` and `…/memory/%2Fmemories%2Fa.md` all
    name the file /memories/a.md. Beyond that nothing is cleaned up: `//` and `..` stay.
    """

    regex = r"[\s\S]+"
    part_isolating = False

    def to_python(self, value: str) -> str:
        """The absolute path."""
        return absolute(value)

    def to_url(self, value: str) -> str:
        """The path as the URL carries it."""
        return super().to_url(value.removeprefix("/"))
