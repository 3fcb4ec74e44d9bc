"""`hango import`: transcripts of other tools become sessions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cli import output
from cli.commands import ApiCommand, Invocation, invocation
from cli.exits import Exit, Stop
from cli.http import Api
from cli.output import Column
from cli.upload import Upload, found, multipart

SUFFIXES = {".json", ".jsonl", ".ndjson", ".traj"}
LONG_BYTES = 2**20  # from here on a terminal sees a progress bar
TIMEOUT_SECONDS = 600.0  # the server reads, repairs and counts it all before it answers

# What the sections of a report are called for people; others go by their own name.
SECTIONS = {
    "messages": "messages made",
    "roles": "of them",
    "blocks": "blocks made",
    "models": "model calls",
    "dropped": "left out",
    "kept_not_understood": "kept unread",
}
SESSIONS = (Column("SESSION"), Column("TITLE", flexible=True), Column("MESSAGES", right=True))


@click.command(
    "import",
    cls=ApiCommand,
    example="hango import ~/.claude/projects/my-project/0f8e….jsonl\n"
    "hango import main.jsonl main/subagents/",
)
@click.argument("paths", nargs=-1, required=True, metavar="FILE…", type=click.Path(path_type=Path))
@click.option("--format", metavar="NAME", help="The format, where it is not recognised by itself.")
@invocation
def import_files(hango: Invocation, paths: tuple[Path, ...], format: str | None) -> None:  # noqa: A002
    """Make sessions from transcripts and captured requests.

    Claude Code sessions, bodies of the Anthropic and OpenAI APIs and more, recognised by what is
    in them. Files that are given together, or lie in one folder, belong together: a session and
    its subagents. The same file is never imported twice.
    """
    files = uploads(paths)
    api = Api(hango.api.server, hango.given.timeout or TIMEOUT_SECONDS)
    with _progress(sum(each.size_bytes for each in files)) as sent:
        body = multipart(files, {"format": format} if format else {}, sent)
        answer = api.upload("v1", "imports", body=body)
    hango.show(answer, _print)


def uploads(paths: Iterable[Path]) -> list[Upload]:
    """The files to send, in the order given; a folder stands for the transcripts in it.

    Raises:
        Stop: a path is not there, or a folder holds no transcript.
    """
    files: dict[Path, Upload] = {}
    for path in paths:
        for each, name in _inside(path) if path.is_dir() else [(path, path.name)]:
            files.setdefault(each.resolve(), found(each, name))
    return list(files.values())


def _inside(folder: Path) -> list[tuple[Path, str]]:
    # The main file first: its subagents' lie deeper.
    inside = sorted(
        (
            path
            for path in folder.rglob("*")
            if path.suffix in SUFFIXES and path.is_file() and not _hidden(path.relative_to(folder))
        ),
        key=lambda path: (len(path.parts), path),
    )
    if not inside:
        kinds = ", ".join(sorted(SUFFIXES))
        raise Stop(f"No transcripts in {folder}.", f"They end in {kinds}.", Exit.USAGE)
    return [(path, str(path.relative_to(folder.parent))) for path in inside]


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


@contextmanager
def _progress(total_bytes: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr while much is sent; nothing where it is little, or nobody looks."""
    if total_bytes < LONG_BYTES or not sys.stderr.isatty():
        yield lambda _: None
        return
    with click.progressbar(length=total_bytes, label="Sending", file=sys.stderr) as bar:

        def sent(count: int) -> None:
            bar.update(count)
            if bar.finished:
                bar.label = "The server reads"
                bar.render_progress()

        yield sent


def _print(answer: dict[str, Any]) -> None:
    output.line(f"{_outcome(answer)}: session {answer['session_id']}")
    if len(answer["sessions"]) > 1:
        output.table(SESSIONS, map(_session, answer["sessions"]))
    if report := _report(answer["report"]):
        output.pairs(report)
    output.line(f"See it: hango context show --session {answer['session_id']}")


def _outcome(answer: dict[str, Any]) -> str:
    if answer["created"]:
        return "Imported"
    continued = any(each.get("updated") for each in answer["sessions"])
    return "Continued" if continued else "Already imported"


def _session(session: dict[str, Any]) -> tuple[object, object, object]:
    return session.get("session_id"), session.get("title"), session.get("messages")


def _report(report: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The report as lines, in its own order; what has nothing to say is left out."""
    told = [(SECTIONS.get(name, _words(name)), _told(value)) for name, value in report.items()]
    return [(name, text) for name, text in told if text]


def _told(value: Any) -> str:
    """A value of the report: counts by name, names where something is so, all else as it is."""
    if isinstance(value, Mapping):
        return ", ".join(filter(None, (_counted(name, each) for name, each in value.items())))
    if isinstance(value, list):
        return ", ".join(map(_told, value))
    return output.shown(value) if value else ""


def _counted(name: str, value: Any) -> str:
    text = _told(value)
    if value is True or not text:
        return _words(name) if text else ""
    if isinstance(value, Mapping):
        return f"{_words(name)} ({text})"
    return f"{text} {_words(name)}" if isinstance(value, int) else f"{_words(name)} {text}"


def _words(name: str) -> str:
    return name.replace("_", " ")
