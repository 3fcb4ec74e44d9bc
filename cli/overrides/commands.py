"""`hango context exclude`, `include`, `replace`, `clear`: change the saved overrides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from cli.overrides import edits, replacements
from cli.overrides.changing import ChangeCommand, Changing, Scene, changing
from cli.overrides.sets import is_agents
from cli.overrides.snapshots import is_there

PARTS = click.argument("parts", nargs=-1, required=True, metavar="PART...")


@click.command(
    "exclude",
    cls=ChangeCommand,
    example="hango context exclude --session 0199f3a2-… message:5 tool:execute\n"
    "hango context exclude --session 0199f3a2-… system:memory:/memories/AGENTS.md --dry-run",
)
@PARTS
@changing
def exclude(change: Changing, parts: tuple[str, ...]) -> None:
    """Leave parts out of the next calls.

    Tool calls and their results leave together. What is stored stays stored. System blocks and
    tools are left out of every session of the agent.
    """
    wanted = [
        change.edit(edits.excluding(own), of_agent=of_agent) for of_agent, own in _by_set(parts)
    ]
    change.finish(wanted, _absent(change.scene, parts))


@click.command(
    "include",
    cls=ChangeCommand,
    example="hango context include --session 0199f3a2-… message:5",
)
@PARTS
@changing
def include(change: Changing, parts: tuple[str, ...]) -> None:
    """Bring back parts that were left out or replaced.

    Tool calls and their results come back together, as they left.
    """
    for part in parts:
        if part not in change.scene.parts:
            _must_be_there(change.scene, part)
    change.finish(
        [
            change.edit(edits.unchanged, of_agent=of_agent, inside=own)
            for of_agent, own in _by_set(parts)
        ]
    )


@click.command(
    "replace",
    cls=ChangeCommand,
    example="hango context replace --session 0199f3a2-… message:3 --text '[a long listing]'\n"
    "hango context replace --session 0199f3a2-… system:agent --edit",
)
@click.argument("part", metavar="PART")
@click.option("--text", metavar="TEXT", help="What stands in its place.")
@click.option(
    "--file",
    "path",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="A UTF-8 file that holds it; - is stdin.",
)
@click.option("--edit", is_flag=True, help="Edit the present text in $EDITOR.")
@changing
def replace(change: Changing, part: str, text: str | None, path: Path | None, edit: bool) -> None:
    """Put another text in the place of a system block, a message or a tool's result.

    Calls, thinking and images of a message stay. A part that was left out comes back so, with the
    call or the results that left with it.
    """
    text = replacements.given(text, path, edit)
    at = change.scene
    if edit:
        text = replacements.edited(at.api, at.session_id, part)
    if text is None:
        change.finish([])
        return
    wanted = change.edit(
        edits.replacing(part, text),
        of_agent=is_agents(part),
        inside=[part],
    )
    with replacements.kept_on_failure(text if edit else ""):
        change.finish([wanted], _absent(at, [part]))


@click.command(
    "clear",
    cls=ChangeCommand,
    example="hango context clear --session 0199f3a2-…\n"
    "hango context clear --session 0199f3a2-… --all --dry-run",
)
@click.option("--agent-parts", is_flag=True, help="The agent's overrides instead.")
@click.option("--all", "every", is_flag=True, help="The session's and the agent's overrides.")
@changing
def clear(change: Changing, agent_parts: bool, every: bool) -> None:
    """Drop all overrides of a session, of its agent, or of both."""
    targets = (True, False) if every else (agent_parts,)
    change.finish([change.edit(edits.becoming([]), of_agent=each) for each in targets])


def _by_set(parts: Sequence[str]) -> Iterator[tuple[bool, list[str]]]:
    """The parts of the agent, then the session's: who may not change an agent learns it first."""
    for of_agent in (True, False):
        if own := [part for part in dict.fromkeys(parts) if is_agents(part) == of_agent]:
            yield of_agent, own


def _absent(at: Scene, parts: Sequence[str]) -> list[str]:
    return [part for part in parts if not is_there(at.parts.get(part))]


def _must_be_there(at: Scene, part: str) -> None:
    """Let the server say what is wrong with this id."""
    at.api.get("v1", "sessions", at.session_id, "context", query={"full": part})
