"""`hango context try`, `result`, `cancel` and `tries` against hango itself."""

from __future__ import annotations

import signal
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from app.provider.failures import ProviderFailure
from tests.cli.conftest import Asks, Site
from tests.cli.shell import Canned, on_terminal, process
from tests.cli.worker import working
from tests.factories import until
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use

GONE = "01994c1e-0000-7000-8000-000000000001"
ODD_PATH = "/memories/a=b.md"


class Priced(ScriptedProvider):
    """One whose calls have a price."""

    name = "anthropic"


def sent_texts(provider: ScriptedProvider) -> str:
    return str(provider.sent[-1])


@pytest.fixture
def trying(site: Site, context: Asks) -> Any:
    """`hango context try`, answered at once; gives how it ended and the provider."""

    def call(*arguments: str, blocks: Any = None, **more: Any) -> Any:
        provider = Priced(Reply(blocks=blocks or [text("Sunny.")]))
        with working(site.runtime, provider):
            return context("try", "--wait", *arguments, **more), provider

    return call


def test_without_wait_the_id_is_all_that_is_printed(
    site: Site, context: Asks, session: str
) -> None:
    started = context("try", "--exclude", "message:2")

    made = site.ann.get(f"/v1/tries/{started.out.strip()}").json
    assert started.out == f"{made['id']}\n"
    assert (made["session_id"], made["status"]) == (session, "queued")
    for partner in ("message:3", "message:4"):
        assert f"added {partner}, goes with message:" in started.err


def test_with_wait_the_answer_is_shown_with_what_it_took(trying: Any) -> None:
    ended, provider = trying("--exclude", "message:2", "--message", "And now?")

    assert ended.err == ""
    first, *rest = ended.out.splitlines()
    assert first.startswith("try ")
    assert " succeeded after " in first
    assert "excluded  message:2" in rest
    assert any(line.startswith("added     message:3, goes with message:2") for line in rest)
    assert "Sunny." in rest
    assert "stop reason  end_turn" in rest
    assert "usage        100 tokens in, 10 out" in rest
    assert "cost         0.000450 US dollars" in rest
    assert "And now?" in sent_texts(provider)
    assert "p1" not in sent_texts(provider)


def test_several_parts_may_follow_one_option(trying: Any) -> None:
    ended, _ = trying(
        "--exclude", "message:2", "tool:ls", "--json", "--exclude=tool:glob", "tool:grep"
    )

    left_out = {"message:2", "message:3", "message:4", "tool:ls", "tool:glob", "tool:grep"}
    assert set(ended.json["excluded"]) == left_out


def test_replacements_are_text_a_file_or_stdin(trying: Any, tmp_path: Path) -> None:
    (tmp_path / "r.md").write_text("From a file: a=b.", encoding="utf-8")

    ended, provider = trying(
        "--replace", f"system:agent=@{tmp_path / 'r.md'}", "message:1=@-", "message:3=@@x=y",
        "--json", stdin="From stdin.",
    )  # fmt: skip

    assert set(ended.json["replaced"]) == {"system:agent", "message:1", "message:3"}
    for words in ("From a file: a=b.", "From stdin.", "'@x=y'"):
        assert words in sent_texts(provider)


@pytest.mark.parametrize("words", ["short", "a=b", "=", ""])
def test_a_part_with_an_equals_sign_is_found(
    site: Site, agent: str, trying: Any, words: str
) -> None:
    stored = site.ann.put(f"/v1/agents/{agent}/memory{ODD_PATH}", json={"content": "# Notes"})
    assert stored.status_code == 200
    part = f"system:memory:{ODD_PATH}"

    ended, _ = trying("--replace", f"{part}={words or 'x'}", "--json")

    assert ended.json["replaced"] == [part]


def test_calls_are_shown_as_name_and_input_and_nothing_is_obeyed(trying: Any) -> None:
    blocks = [text("\x1b[2JLook."), tool_use("read_file", file_path="/\x1b日本")]

    ended, _ = trying(blocks=blocks)

    assert "\x1b" not in ended.out
    assert "\\x1b[2JLook.\n" in ended.out
    assert '[tool_use read_file] {"file_path": "/\\u001b日本"}\n' in ended.out


def test_the_session_stays_as_it_is(site: Site, trying: Any, session: str) -> None:
    before = site.ann.get(f"/v1/sessions/{session}/messages").json

    trying("--exclude", "message:2", "--message", "And now?")

    assert site.ann.get(f"/v1/sessions/{session}/messages").json == before
    assert site.saved(session) == {}


def test_a_try_that_fails_exits_with_1(site: Site, on_site: Asks, session: str) -> None:
    with working(site.runtime, ScriptedProvider(ProviderFailure("It broke."))):
        ended = on_site("context", "try", "--session", session, "--wait", "30")

    assert ended.code == 1
    assert " failed" in ended.out
    assert ended.err.count("\n") == 1
    assert " failed: It broke. (provider_failed)\n" in ended.err


def test_a_wait_that_is_too_short_says_what_to_do_next(on_site: Asks, session: str) -> None:
    ended = on_site("context", "try", "--session", session, "--wait", "0.2")
    assert (ended.code, ended.out, ended.err.count("\n")) == (5, "", 1)
    made = ended.err.split()[2]
    assert f"hango context result {made} --wait" in ended.err

    again = on_site("context", "result", made, "--wait", "0", "--json")

    assert again.code == 5
    assert (again.json["id"], again.json["status"]) == (made, "queued")


def test_the_result_of_an_earlier_try(site: Site, context: Asks, on_site: Asks) -> None:
    made = context("try").out.strip()
    waiting = on_site("context", "result", made)
    assert (waiting.code, waiting.out.splitlines()[0]) == (0, f"try {made}  queued")

    with working(site.runtime, ScriptedProvider(Reply(blocks=[text("Sunny.")]))):
        ended = on_site("context", "result", "--wait", made)

    assert ended.code == 0
    assert "\nSunny.\n" in ended.out
    assert on_site("context", "result", made).out == ended.out


def test_a_try_is_cancelled_before_it_is_called(context: Asks, on_site: Asks) -> None:
    made = context("try").out.strip()

    assert on_site("context", "cancel", made).out == f"Try {made} is cancelled.\n"

    ended = on_site("context", "result", made, "--wait")
    assert (ended.code, ended.err) == (1, f"hango: Try {made} was cancelled.\n")


def test_the_tries_of_a_session(site: Site, context: Asks, trying: Any, session: str) -> None:
    ended, _ = trying("--exclude", "message:2", "--json")
    queued = context("try", "--replace", "message:1=x").out.strip()

    head, newest, oldest = context("tries").out.splitlines()

    assert head.split()[:4] == ["ID", "STATUS", "EXCLUDED", "REPLACED"]
    assert newest.split()[:4] == [queued, "queued", "0", "1"]
    assert oldest.split()[:6] == [ended.json["id"], "succeeded", "3", "0", "end_turn", "10"]
    assert context("tries", "--json").json["items"][1] == ended.json


def test_a_quota_that_is_used_up_is_told_before_anything_is_called(
    site: Site, refused: Asks
) -> None:
    assert site.ann.put("/v1/quota", json={"tokens": 1, "micro_dollars": None}).status_code == 200

    code, line = refused("try", "--wait")

    assert code == 4
    assert "quota_exceeded" in line


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--exclude", "message:07"], 2),
        (["--exclude", "message:1", "message:2", "message:5", "message:6"], 2),
        (["--replace", "tool:ls=x"], 2),
        (["--replace", "message:1"], 2),
        (["--replace", "=x"], 2),
        (["--replace", "message:1=x", "message:1=y"], 2),
        (["--replace", "message:1=@/nowhere/at/all"], 2),
        (["--replace", "message:1=@"], 2),
        (["--wait", "-1"], 2),
        (["stray"], 2),
    ],
)
def test_what_cannot_be_tried_is_refused(refused: Asks, arguments: list[str], code: int) -> None:
    assert refused("try", *arguments)[0] == code


@pytest.mark.parametrize("name", ["result", "cancel"])
@pytest.mark.parametrize("made", [GONE, "a/b", "%2e"])
def test_a_try_that_is_not_there(on_site: Asks, name: str, made: str) -> None:
    ended = on_site("context", name, made)

    assert (ended.code, ended.out, ended.err.count("\n")) == (3, "", 1)


def test_a_try_of_somebody_elses_session_is_not_found(site: Site, on_site: Asks) -> None:
    assert on_site("context", "try", "--session", GONE).code == 3
    assert on_site("context", "tries", "--session", GONE).code == 3


def test_ctrl_c_leaves_a_try_going_on(site: Site, on_site: Asks, session: str) -> None:
    arguments = ("context", "try", "--session", session, "--wait")
    running = process(*arguments, stdout=PIPE, stderr=PIPE)
    path = f"/v1/sessions/{session}/context/tries"
    until(lambda: bool(site.ann.get(path).json["items"]))

    running.send_signal(signal.SIGINT)
    out, err = running.communicate()

    (made,) = site.ann.get(path).json["items"]
    assert made["status"] == "queued"
    assert (running.returncode, out, err.count(b"\n")) == (1, b"", 1)


def test_a_terminal_shows_that_something_is_waited_for(
    site: Site, session: str, on_site: Asks
) -> None:
    with working(site.runtime, ScriptedProvider(Reply(blocks=[text("Sunny.")]))):
        ended = on_terminal("context", "try", "--session", session, "--wait")

    assert ended.code == 0
    assert "| waiting for the answer  0 s" in ended.out
    assert "Sunny.\n" in ended.out


@pytest.mark.parametrize(
    "document", [{}, {"id": 1}, [], {"id": "t", "status": "succeeded", "answer": {"content": 1}}]
)
def test_an_answer_of_another_shape_is_one_line(server: Canned, asks: Asks, document: Any) -> None:
    server.answers_json(document)

    ended = asks("context", "result", "t")

    assert (ended.code, ended.err.count("\n")) == (1, 1)
