"""`hango login`: remember a server and a key under a name."""

from __future__ import annotations

import sys

import click

from cli import configuration, output
from cli.commands import DEFAULT_TIMEOUT_SECONDS, ApiCommand, Invocation, invocation
from cli.exits import Exit, Stop
from cli.http import Api


@click.command(
    cls=ApiCommand,
    example="hango login --url https://hango.example.com\n"
    "hango login --url https://hango.example.com --key - < key.txt",
)
@invocation
def login(hango: Invocation) -> None:
    """Check a server and a key, and remember them as a profile.

    What is not given is asked for; `--key -` reads the key from stdin. The profile is written to
    hango/profiles.json in the XDG configuration folder, readable by you alone, and is used
    where neither options nor HANGO_API_URL and HANGO_API_KEY say otherwise.
    """
    offered = configuration.suggested()
    url = hango.given.url or _asked("Server", offered.url, hidden=False)
    key = _key(hango.given.key) or _asked("API key", offered.key, hidden=True)
    server = configuration.parse(url, "--url", key)
    if server.sends_in_the_clear:
        output.note(f"Beware: {server.url} is not https; the key can be read on its way.")
    me = Api(server, hango.given.timeout or DEFAULT_TIMEOUT_SECONDS).get("v1", "me")
    name = hango.given.profile or configuration.DEFAULT_PROFILE
    path = configuration.save_profile(name, server)
    answer = {"profile": name, "url": server.url, "file": str(path), "me": me}
    hango.show(answer, _signed_in)


def _signed_in(answer: dict[str, object]) -> None:
    me = answer["me"]
    known = me if isinstance(me, dict) else {}
    output.line(
        f"Signed in at {answer['url']} as {_name(known.get('user'))} "
        f"({output.shown(known.get('role'))} of {_name(known.get('tenant'))})."
    )
    output.line(f"Profile {answer['profile']} is in {answer['file']}.")


def _name(value: object) -> str:
    if isinstance(value, dict):
        value = value.get("name") or value.get("email") or value.get("id")
    return output.shown(value)


def _key(given: str | None) -> str | None:
    return sys.stdin.readline().strip() if given == "-" else given


def _asked(what: str, offered: str | None, *, hidden: bool) -> str:
    if not sys.stdin.isatty():
        if offered:
            return offered
        raise Stop(f"{what}: nobody is here to ask.", "Give --url and --key.", Exit.USAGE)
    answer: str = click.prompt(
        what, default=offered, hide_input=hidden, show_default=not hidden, err=True
    )
    return answer.strip()
