"""Changing overrides when others change them too, or the server goes away half-way."""

from __future__ import annotations

import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from tests.cli.conftest import Asks
from tests.cli.shell import Canned
from tests.cli.test_context import SESSION, group, part, snapshot

AGENT = "01994c1e-0000-7000-8000-000000000002"
CHANGED = {"code": "precondition_failed", "title": "Somebody else changed it", "request_id": "r-1"}
REFUSED = {"code": "not_found", "title": "There is nothing here", "request_id": "r-2"}

Answer = Callable[[BaseHTTPRequestHandler], None]


def a_set(version: int, *excluded: str, **more: Any) -> dict[str, Any]:
    overrides = [{"part": each, "action": "exclude"} for each in excluded]
    return {"version": version, "overrides": overrides, **more}


class Script:
    """The answers of a server in the order in which it will be asked."""

    def __init__(self, server: Canned) -> None:
        self.server = server
        self.gives(snapshot(tools=group(part("tool:grep"))))

    def gives(self, document: Any, status: int = 200, etag: str | None = None) -> Script:
        headers = {"ETag": etag} if etag else {}
        self.server.answers_json(document, status=status, headers=headers)
        return self

    def stands(self, version: int, *excluded: str, etag: str | None = None) -> Script:
        """A set, read or just saved."""
        return self.gives(a_set(version, *excluded), etag=etag or f'"{version}"')

    def previews(self, version: int, *excluded: str) -> Script:
        return self.gives(a_set(version, *excluded))

    def cuts(self) -> Script:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            handler.connection.shutdown(socket.SHUT_RDWR)
            handler.close_connection = True

        self.server.does(answer)
        return self

    @property
    def puts(self) -> list[tuple[str, str, list[str]]]:
        """Whose sets were PUT, the If-Match that came along, the parts."""
        return [
            (
                each.target.split("/")[2],
                each.headers["If-Match"],
                [override["part"] for override in each.json["overrides"]],
            )
            for each in self.server.requests
            if each.method == "PUT"
        ]


@pytest.fixture
def script(server: Canned) -> Script:
    return Script(server)


@pytest.fixture
def mixed(script: Script) -> Script:
    """Both sets are read and tried: what follows are the answers to the PUTs."""
    script.stands(3, "tool:ls").previews(3, "tool:ls", "tool:grep")
    return script.stands(0).previews(0, "message:1")


BOTH = ["context", "exclude", "--session", SESSION, "message:1", "tool:grep"]
ONE = ["context", "exclude", "--session", SESSION, "message:1"]


def test_each_put_names_the_version_that_it_is_meant_for(mixed: Script, asks: Asks) -> None:
    mixed.stands(4, "tool:ls", "tool:grep").stands(1, "message:1")

    ended = asks(*BOTH)

    assert (ended.code, ended.err) == (0, "")
    assert mixed.puts == [
        ("agents", '"3"', ["tool:ls", "tool:grep"]),
        ("sessions", '"0"', ["message:1"]),
    ]


def test_a_version_that_a_proxy_made_weak_is_strong_again(script: Script, asks: Asks) -> None:
    script.stands(2, etag='W/"2"').previews(2, "message:1").stands(3, "message:1")

    assert asks(*ONE).code == 0
    assert script.puts[0][1] == '"2"'


def test_without_a_version_nothing_is_changed(script: Script, asks: Asks) -> None:
    script.gives(a_set(2))

    ended = asks(*ONE)

    assert (ended.code, ended.out, "without an ETag" in ended.err) == (1, "", True)
    assert script.puts == []


def others_are_faster(script: Script, times: int) -> list[str]:
    """Before each of so many saves somebody leaves another message out; all that then are."""
    out: list[str] = []
    for version in range(times):
        script.stands(version, *out).previews(version, *out, "message:1").gives(CHANGED, 412)
        out.append(f"message:{version + 2}")
    return out


def test_a_change_is_worked_out_on_what_others_have_saved_meanwhile(
    script: Script, asks: Asks
) -> None:
    out = others_are_faster(script, 7)
    script.stands(7, *out).previews(7, *out, "message:1").stands(8, *out, "message:1")

    ended = asks(*ONE)

    assert ended.code == 0, ended.err
    assert script.puts[0] == ("sessions", '"0"', ["message:1"])
    assert script.puts[-1] == ("sessions", '"7"', [*out, "message:1"])


def test_a_change_that_is_always_too_late_is_given_up(script: Script, asks: Asks) -> None:
    others_are_faster(script, 8)

    ended = asks(*ONE)

    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "repeat your change" in ended.err
    assert len(script.puts) == 8


def test_what_others_did_meanwhile_need_not_be_done_again(script: Script, asks: Asks) -> None:
    script.stands(2).previews(2, "message:1").gives(CHANGED, 412).stands(3, "message:1")

    ended = asks(*ONE)

    assert (ended.code, len(script.puts)) == (0, 1)
    assert "Nothing is changed" in ended.out


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_second_half_that_is_refused_takes_the_first_one_back(
    mixed: Script, asks: Asks, as_json: list[str]
) -> None:
    mixed.stands(4, "tool:ls", "tool:grep").gives(REFUSED, 404).stands(5, "tool:ls")

    ended = asks(*BOTH, *as_json)

    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert "Nothing is changed: the agent's were put back." in ended.err
    assert mixed.puts[-1] == ("agents", '"4"', ["tool:ls"])


def test_a_second_half_that_is_always_too_late_takes_the_first_one_back(
    mixed: Script, asks: Asks
) -> None:
    mixed.stands(4, "tool:ls", "tool:grep").gives(CHANGED, 412)
    for _ in range(7):
        mixed.stands(1).previews(1, "message:1").gives(CHANGED, 412)
    mixed.stands(5, "tool:ls")

    ended = asks(*BOTH)

    assert (ended.code, len(mixed.puts)) == (1, 10)
    assert "the agent's were put back" in ended.err


@pytest.mark.parametrize("status", [404, 412])
def test_a_first_half_that_cannot_be_taken_back_is_told(
    mixed: Script, asks: Asks, status: int
) -> None:
    mixed.stands(4, "tool:ls", "tool:grep").gives(REFUSED, 404).gives(CHANGED, status)

    ended = asks(*BOTH)

    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)
    assert "Saved before it: the agent's, as version 4. Undoing that failed: " in ended.err
    undoing = f"`hango context restore --session {SESSION} --agent-parts 3` undoes it."
    assert undoing in ended.err


def test_a_connection_cut_between_the_two_leaves_no_doubt_about_the_first(
    mixed: Script, asks: Asks
) -> None:
    mixed.stands(4, "tool:ls", "tool:grep").cuts()

    ended = asks(*BOTH)

    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "Whether the session's overrides were saved is not known." in ended.err
    assert "Saved before it: the agent's, as version 4." in ended.err
    assert f"`hango context show --session {SESSION}`" in ended.err
    assert len(mixed.puts) == 2


@pytest.mark.parametrize("status", [500, 502, 503])
def test_a_failure_of_the_server_leaves_it_open(script: Script, asks: Asks, status: int) -> None:
    script.stands(2).previews(2, "message:1").gives({"title": "Oh"}, status)

    ended = asks(*ONE)

    assert (ended.code, ended.out) == (1, "")
    assert "Whether the session's overrides were saved is not known." in ended.err


def test_what_is_refused_beforehand_was_never_tried(script: Script, asks: Asks) -> None:
    script.stands(3).previews(3, "tool:grep").stands(0).gives({"title": "No"}, 422)

    assert asks(*BOTH).code == 2
    assert script.puts == []


def test_a_group_that_never_ends_is_given_up(script: Script, asks: Asks) -> None:
    # A server that answers each time with another part that takes the wanted one along.
    script.stands(2, "message:1", *(f"message:{n}" for n in range(2, 60)))
    for n in range(2, 40):
        along = {"part": "message:1", "goes_with": f"message:{n}", "call": "c"}
        script.gives(a_set(2, added=[along]))

    ended = asks("context", "include", "--session", SESSION, "message:1")

    assert (ended.code, ended.out, script.puts) == (1, "", [])
    assert "message:1 would leave again" in ended.err


@pytest.mark.parametrize("added", [[], [{"part": "message:1", "goes_with": "message:1"}]])
def test_a_chain_of_partners_that_bites_its_tail_ends(
    script: Script, asks: Asks, added: list[Any]
) -> None:
    script.stands(2, "message:1").gives(a_set(2, added=added)).stands(3)

    assert asks("context", "include", "--session", SESSION, "message:1").code == 0


@pytest.mark.parametrize(
    "odd",
    [
        None, [], {}, {"version": 1}, {"version": "1", "overrides": []},
        {"version": 1, "overrides": [{}]}, {"version": 1, "overrides": [None]},
        {"version": 1, "overrides": [], "added": [None]}, {"version": 1, "overrides": 5},
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_an_answer_of_another_shape_is_one_line(
    script: Script, asks: Asks, odd: Any, place: int
) -> None:
    script.stands(2).previews(2, "message:1").stands(3, "message:1")
    script.server.answers[place:] = []
    script.gives(odd, etag='"2"')

    ended = asks(*ONE)

    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert "Traceback" not in ended.err


def test_a_report_of_hostile_text_stays_text(script: Script, asks: Asks) -> None:
    hostile = "message:1\x1b[2J\u202e [/x]"
    along = {"part": hostile, "goes_with": hostile, "call": "\x9b31m"}
    instead = {"part": hostile, "action": "replace", "replacement": "\x1b]0;x\x07"}
    price = {"saved_per_call": None, "prefix_rebilled": None, "pays_after_calls": None}
    script.stands(2).gives(a_set(2, "message:1", price=price))
    script.gives(
        a_set(3, "message:1", added=[along], alternatives=[instead], thinking_dropped=[hostile]),
        etag='"3"',
    )

    ended = asks(*ONE)

    assert ended.code == 0
    assert not set(ended.out) & set("\x1b\x07\x9b\u202e")
    assert "message:1\\x1b[2J\\u202e [/x]" in ended.out
    assert "saves     not known" in ended.out
