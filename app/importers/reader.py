"""Files in, conversations out: unpacks, recognises by content, and lets one adapter read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.errors import ImportRefused
from app.importers.archives import unpack
from app.importers.documents import Document, parse
from app.importers.draft import Draft
from app.importers.finish import finish
from app.importers.formats import ADAPTERS, Adapter
from app.importers.values import Imported, SourceFile


def read(files: Sequence[SourceFile], format: str | None = None) -> list[Imported]:  # noqa: A002
    """The conversations in the files, main ones before their subagents.

    Files of one Claude Code session are read together. `format` is one of `values.Format`; by
    default each file is recognised by its content. Linear in the size of the files.

    Raises:
        ImportRefused: a format is unknown, or no file holds a conversation in it.
    """
    wanted = _adapters(format)
    documents, unread = _documents(files)
    by_adapter: dict[int, list[Document]] = defaultdict(list)
    for document in documents:
        at = _recognised(document, wanted)
        if at is None:
            unread.append(_unknown(document, format))
        else:
            by_adapter[at].append(document)
    if not by_adapter:
        raise unread[0] if unread else ImportRefused("There is no file in this import.")
    drafts = [draft for at, found in by_adapter.items() for draft in wanted[at].read(found)]
    return _finished(drafts, read_files=len(files), skipped=len(unread))


def _adapters(name: str | None) -> Sequence[Adapter]:
    if name is None:
        return ADAPTERS
    wanted = [adapter for adapter in ADAPTERS if adapter.format == name]
    if not wanted:
        known = ", ".join(sorted({adapter.format for adapter in ADAPTERS}))
        raise ImportRefused(f"There is no such format. Known are: {known}.")
    return wanted


def _documents(files: Iterable[SourceFile]) -> tuple[list[Document], list[ImportRefused]]:
    documents, unread = [], []
    for file in unpack(files):
        try:
            documents.append(parse(file))
        except ImportRefused as refused:
            unread.append(refused)
    return documents, unread


def _recognised(document: Document, adapters: Sequence[Adapter]) -> int | None:
    return next((at for at, each in enumerate(adapters) if each.recognises(document)), None)


def _unknown(_document: Document, name: str | None) -> ImportRefused:
    if name is not None:
        return ImportRefused(f"This is no file in the format {name}.")
    return ImportRefused("This is JSON, but in no format that hango knows.")


def _finished(drafts: Sequence[Draft], *, read_files: int, skipped: int) -> list[Imported]:
    """Each draft that has a message; a conversation without one is counted, not made."""
    finished: list[Imported] = []
    refusals: list[ImportRefused] = []
    for draft in drafts:
        draft.tally.facts["files"] = {"given": read_files, "not_recognised": skipped}
        try:
            finished.append(finish(draft))
        except ImportRefused as refused:
            refusals.append(refused)
    if not finished:
        raise refusals[0] if refusals else ImportRefused("No conversation is in the file.")
    first = {**finished[0].report, "conversations_without_a_message": len(refusals)}
    return [replace(finished[0], report=first), *finished[1:]]
