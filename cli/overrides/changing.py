"""What the commands that change overrides share: their options, the session, the report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property, wraps
from typing import Any, NamedTuple

import click

from cli.commands import ApiCommand, Invocation, invocation, session_id
from cli.http import Api
from cli.overrides import edits, report
from cli.overrides.edits import Change, Done, Edit
from cli.overrides.sets import Place
from cli.overrides.snapshots import Part, group_of, next_call, parts_of


class SessionCommand(ApiCommand):
    """A command about one session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        about = "The session, or how its id begins."
        self.params.insert(0, click.Option(["--session"], required=True, metavar="ID", help=about))


class ChangeCommand(SessionCommand):
    """A command that changes saved overrides."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params[1:1] = [
            click.Option(["--reason"], metavar="TEXT", help="Why; the history keeps it."),
            click.Option(["--dry-run"], is_flag=True, help="Say what it comes to; save nothing."),
        ]


class Scene(NamedTuple):
    """A session, and what its next call would send before the change."""

    api: Api
    session_id: str
    agent_id: str
    parts: dict[str, Part]

    def place(self, *, of_agent: bool) -> Place:
        """Whose set it is: the agent's, or the session's own."""
        kind, target = ("agent", self.agent_id) if of_agent else ("session", self.session_id)
        return Place(kind, target, self.session_id)


def scene(api: Api, session: str) -> Scene:
    """Look at the session's next call."""
    snapshot = next_call(api, session_id(api, session))
    return Scene(api, snapshot["session_id"], snapshot["agent_id"], parts_of(snapshot))


class Changing:
    """One call of a command that changes overrides."""

    def __init__(self, hango: Invocation, session: str, reason: str | None, dry_run: bool) -> None:
        self._hango = hango
        self._session = session
        self._reason = reason
        self._dry_run = dry_run

    @cached_property
    def scene(self) -> Scene:
        """The session before the change."""
        return scene(self._hango.api, self._session)

    def edit(self, change: Change, *, of_agent: bool, inside: Collection[str] = ()) -> Edit:
        """A change of the agent's set or of the session's, for the reason that was given.

        Parts that are to be `inside` come back with all that left with them.
        """
        place = self.scene.place(of_agent=of_agent)
        group = group_of(self.scene.parts, inside)
        return Edit(place, change, group, named=inside, reason=self._reason)

    def finish(self, wanted: Sequence[Edit], absent: Sequence[str] = ()) -> None:
        """Work the edits out, save them unless it is a dry run, and report.

        `absent` are parts that were named and that the next call has not.
        """
        api = self.scene.api
        # All are worked out before the first is saved: what is refused is refused beforehand.
        prepared = [each for edit in wanted if (each := edits.prepare(api, edit))]
        done = (
            [Done(each, None) for each in prepared]
            if self._dry_run
            else edits.save_all(api, prepared)
        )
        document = {
            "session_id": self.scene.session_id,
            "agent_id": self.scene.agent_id,
            "dry_run": self._dry_run,
            "sets": [report.of(each) for each in done],
            "absent": list(absent),
        }
        self._hango.show(document, report.show)


def changing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command what it changes as the first argument."""

    @invocation
    @wraps(command)
    def with_change(
        hango: Invocation, session: str, dry_run: bool, reason: str | None = None, **given: Any
    ) -> None:
        command(Changing(hango, session, reason, dry_run), **given)

    return with_change
