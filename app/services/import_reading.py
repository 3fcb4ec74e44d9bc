"""Reads files of other tools for an import: everything that takes time, before it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.blocks import tool_names
from app.domain.checkpoints import NewCheckpoint
from app.domain.messages import NewMessage, prepare
from app.domain.ports import Estimator
from app.importers.values import Imported, SourceFile
from app.tokens.estimator import estimator_for


@dataclass(frozen=True, slots=True)
class Prepared:
    """A conversation, checked and counted, so that its transaction only writes."""

    imported: Imported
    model: str
    messages: Sequence[NewMessage]
    checkpoint: NewCheckpoint | None


def read(
    files: Sequence[SourceFile], declared: str | None, *, default_model: str
) -> list[Prepared]:
    """Everything that takes time, before any transaction: parse, repair, count.

    Raises:
        ImportRefused: no file holds a conversation.
    """
    # Here, since it brings fifteen formats along that most processes never read.
    from app.importers import reader  # noqa: PLC0415

    return [_prepared(each, default_model) for each in reader.read(files, declared)]


def _prepared(imported: Imported, default_model: str) -> Prepared:
    model = imported.model or default_model
    estimator = estimator_for(model)
    names: dict[str, str] = {}
    new = []
    for message in imported.messages:
        new.append(prepare(message.role, message.blocks, estimator, names))
        names.update(tool_names(message.blocks))
    return Prepared(imported, model, new, _checkpoint(imported, estimator))


def _checkpoint(imported: Imported, estimator: Estimator) -> NewCheckpoint | None:
    summary = imported.summary
    if summary is None:
        return None
    return NewCheckpoint(
        covers_seq=summary.covers,
        summary=prepare("user", summary.text, estimator),
        label="Summary",
        origin=f"compaction in the imported {imported.format} session",
        trigger="import",
    )
