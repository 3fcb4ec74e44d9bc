"""`hango chat` against hango itself, with a worker in a thread and a provider that is told."""

from __future__ import annotations

import signal
from subprocess import PIPE
from typing import Any, NoReturn

import pytest

from app.api import sse
from app.api.waiting import Hub
from app.events import Events
from app.provider import failures
from app.provider.base import Cancelled, OnEvent
from app.provider.failures import ProviderFailure
from tests.cli.conftest import Asks, Site
from tests.cli.shell import Canned, Result, on_terminal, process
from tests.cli.streams import DELTA, frame, streams
from tests.cli.worker import working
from tests.factories import until
from tests.fakes.providers import ScriptedProvider
from tests.fakes.strict_provider import Reply, text, tool_use

GONE = "01994c1e-0000-7000-8000-000000000001"
USAGE = {
    "calls": 1, "input_tokens": 1, "output_tokens": 1, "cache_read_tokens": 0,
    "cache_write_tokens": 0, "cost_micro_dollars": 0,
}  # fmt: skip


def runs_of(site: Site, session: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = site.ann.get(f"/v1/sessions/{session}/runs").json["items"]
    return items


def sessions_of(site: Site) -> list[str]:
    return [each["id"] for each in site.ann.get("/v1/sessions").json["items"]]


@pytest.fixture
def says(site: Site, on_site: Asks) -> Asks:
    """A command line that is answered by these replies."""

    def call(*arguments: str, replies: list[Reply | ProviderFailure], **more: Any) -> Result:
        with working(site.runtime, ScriptedProvider(*replies)):
            return on_site("chat", *arguments, **more)

    return call


def test_a_message_is_answered_in_a_session(says: Asks, session: str) -> None:
    ended = says(
        "--session", session[:13], "How", "are", "you?", replies=[Reply(blocks=[text("Fine.\n")])]
    )

    assert (ended.code, ended.out) == (0, "Fine.\n")
    assert "(1 call, 100 tokens in, 10 out, " in ended.err


def test_what_is_said_is_what_the_model_is_sent(site: Site, on_site: Asks, agent: str) -> None:
    provider = ScriptedProvider(Reply(blocks=[text("Yes.")]))

    with working(site.runtime, provider):
        ended = on_site("chat", "--agent", agent, stdin="Räte 日本\n")

    (session,) = sessions_of(site)
    assert ended.err.startswith(f"Session {session}\n")
    assert provider.sent[0]["messages"][-1]["content"][0]["text"] == "Räte 日本\n"
    assert runs_of(site, session)[0]["status"] == "succeeded"


def test_tools_are_told_beside_the_answer(says: Asks, session: str) -> None:
    replies = [
        Reply(blocks=[text("Let me look."), tool_use("ls"), tool_use("read_file", file_path="/x")]),
        Reply(blocks=[text("There is nothing.")]),
    ]

    ended = says("--session", session, "look", replies=replies)

    assert (ended.code, ended.out) == (0, "Let me look.\nThere is nothing.\n")
    for line in ("[ls] started", "[ls] done", "[read_file] failed"):
        assert f"{line}\n" in ended.err
    assert "(2 calls, " in ended.err


def test_a_helper_is_told_with_where_it_works(
    site: Site, on_site: Asks, says: Asks, session: str, agent: str
) -> None:
    helper = {"name": "scout", "description": "Looks.", "system_prompt": "You look."}
    site.ann.patch(f"/v1/agents/{agent}", json={"subagents": [helper]})
    replies = [
        Reply(blocks=[tool_use("task", helper="scout", prompt="Look.")]),
        Reply(blocks=[text("Nothing here.")]),
        Reply(blocks=[text("It saw nothing.")]),
    ]

    ended = says("--session", session, "look", replies=replies)

    (below,) = site.ann.get(f"/v1/sessions?parent={session}").json["items"]
    assert (ended.code, ended.out) == (0, "It saw nothing.\n")
    assert f"[scout] works in session {below['id']}\n" in ended.err
    assert f"[scout] succeeded in session {below['id']}\n" in ended.err
    assert below["id"] in on_site("sessions", "list", "--parent", session).out
    assert "scout" in on_site("sessions", "show", below["id"][:20]).out
    (run,) = runs_of(site, below["id"])
    assert run["parent_run_id"] in on_site("runs", "show", run["id"]).out


def test_an_injection_that_failed_is_told(
    site: Site, on_site: Asks, says: Asks, session: str, agent: str
) -> None:
    hook = {"type": "http", "name": "crm", "before_url": "https://127.0.0.1/"}
    site.ann.patch(f"/v1/agents/{agent}", json={"injections": [hook]})

    ended = says("--session", session, "hi", replies=[Reply(blocks=[text("Hello.")])])

    assert (ended.code, ended.out) == (0, "Hello.\n")
    assert "[crm] was left out: address_refused\n" in ended.err
    (run,) = runs_of(site, session)
    assert (
        "injection:crm (unavailable: address_refused)"
        in on_site("runs", "calls", run["id"], "1").out
    )


@pytest.mark.parametrize("odd", ["\x1b[2J", "\x9b2J", "\u202egpj.exe", "\r"])
def test_control_characters_of_an_answer_are_made_visible(
    says: Asks, session: str, odd: str
) -> None:
    ended = says("--session", session, "hi", replies=[Reply(blocks=[text(f"a{odd}b\n\tc")])])

    assert odd not in ended.out
    assert ended.out.startswith("a\\")
    assert ended.out.endswith("b\n\tc\n")


def test_json_is_one_document_with_the_run_and_its_messages(says: Asks, session: str) -> None:
    replies = [Reply(blocks=[tool_use("ls")]), Reply(blocks=[text("\x1bDone.")])]

    ended = says("--session", session, "look", "--json", replies=replies)

    assert (ended.code, ended.err) == (0, "")
    assert "\x1b" not in ended.out
    document = ended.json
    assert document["session_id"] == session
    assert document["run"]["status"] == "succeeded"
    assert [each["seq"] for each in document["messages"]] == document["run"]["messages"]
    assert document["messages"][-1]["content"] == [{"type": "text", "text": "\x1bDone."}]


def test_an_answer_of_which_no_event_is_kept_is_shown_whole(
    site: Site, on_site: Asks, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As when Redis is away: nothing is told, and the rows are the truth.
    monkeypatch.setattr(Events, "tell", lambda *_: None)
    monkeypatch.setattr(sse, "_LOOK_EVERY", 0)
    replies = [Reply(blocks=[text("Look."), tool_use("ls")]), Reply(blocks=[text("Nothing.")])]

    with working(site.runtime, ScriptedProvider(*replies)):
        ended = on_site("chat", "--session", session, "look")

    assert ended.code == 0
    assert ended.out == "Look.\n[tool_use ls] {}\nNothing.\n"


def test_without_a_place_to_follow_it_the_answer_is_waited_for(
    site: Site, on_site: Asks, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hub, "follow", lambda _: False)

    with working(site.runtime, ScriptedProvider(Reply(blocks=[text("Late.")]))):
        ended = on_site("chat", "--session", session, "look")

    assert (ended.code, ended.out) == (0, "Late.\n")


def test_a_run_that_fails_is_told_in_one_line(says: Asks, session: str) -> None:
    ended = says("--session", session, "hi", replies=[ProviderFailure("It broke.")])

    assert (ended.code, ended.out) == (1, "")
    assert " failed: It broke. (provider_failed)\n" in ended.err


def test_a_quota_that_is_used_up_exits_with_its_own_code(
    site: Site, says: Asks, session: str
) -> None:
    body = {"tokens": 1, "micro_dollars": None}
    assert site.ann.put("/v1/quota", json=body).status_code == 200

    ended = says("--session", session, "hi", replies=[])

    assert ended.code == 4
    assert "quota_exceeded" in ended.err


def test_an_answer_that_was_cut_says_so(says: Asks, session: str) -> None:
    cut = Reply(blocks=[text("And then")], stop_reason="max_tokens")

    ended = says("--session", session, "hi", replies=[cut])

    assert ended.out == "And then\n"
    assert "max_tokens" in ended.err


def test_a_session_with_an_open_run_names_it(site: Site, on_site: Asks, session: str) -> None:
    open_run = site.ann.post(f"/v1/sessions/{session}/runs", json={"message": "hi"}).json["id"]

    ended = on_site("chat", "--session", session, "hello")

    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)
    assert open_run in ended.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("hi",),
        ("--session", "s", "--agent", "a", "hi"),
        ("--session", "s"),
        ("--session", "s", " "),
        ("--session", "s", "--max-turns", "0", "hi"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(
    asks: Asks, arguments: tuple[str, ...]
) -> None:
    ended = asks("chat", *arguments)

    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)


def test_an_answer_whose_middle_is_gone_is_told_from_its_beginning(
    server: Canned, asks: Asks
) -> None:
    run = {"id": "r", "messages": [1, 2], "usage": USAGE, "stop_reason": "end_turn"}
    content = [{"type": "text", "text": "All of it."}]
    said = {"seq": 2, "role": "assistant", "content": content}
    server.answers_json(run | {"status": "queued"}, status=202)
    server.does(streams(frame("message.delta", DELTA, "1-1"), b"event: reset\ndata: {}\n\n"))
    server.answers_json(run | {"status": "succeeded"}, {"items": [{"seq": 1}, said], "next": None})

    ended = asks("chat", "--session", GONE, "hi")

    assert (ended.code, ended.out) == (0, "a\nAll of it.\n")
    assert ended.err.startswith("Some of this was missed. It is, as a whole:\n")


@pytest.mark.parametrize("document", [{}, [], {"id": "r", "status": "succeeded"}])
def test_an_answer_of_another_shape_is_one_line(server: Canned, asks: Asks, document: Any) -> None:
    server.answers_json(document)

    ended = asks("chat", "--session", GONE, "hi", "--json")

    assert (ended.code, ended.out, ended.err.count("\n")) == (1, "", 1)


class Stalling:
    """Says a few words, and nothing more until it is cancelled."""

    name = "stalling"

    def prepare(self) -> None: ...

    def complete(
        self, body: Any, *, deadline: float, on_event: OnEvent, cancelled: Cancelled
    ) -> NoReturn:
        delta = {"type": "text_delta", "text": "So far"}
        on_event({"type": "content_block_delta", "index": 0, "delta": delta})
        until(cancelled)
        raise failures.Cancelled

    def close(self) -> None: ...


def test_ctrl_c_cancels_the_run(site: Site, on_site: Asks, session: str) -> None:
    with working(site.runtime, Stalling()):
        running = process("chat", "--session", session, "hi", stdout=PIPE, stderr=PIPE)
        assert running.stdout is not None
        assert running.stdout.read(6) == b"So far"

        running.send_signal(signal.SIGINT)
        out, err = running.communicate()

    (run,) = runs_of(site, session)
    assert run["status"] == "cancelled"
    assert (running.returncode, out) == (1, b"\n")
    assert err.startswith(b"Cancelling")
    assert err.endswith(f"Run {run['id']} was cancelled.\n".encode())


def test_a_conversation_on_a_terminal(site: Site, on_site: Asks, agent: str) -> None:
    replies = [
        Reply(blocks=[text("Hello.")]),
        ProviderFailure("It broke."),
        Reply(blocks=[tool_use("ls")]),
        Reply(blocks=[text("Bye.")]),
    ]

    with working(site.runtime, ScriptedProvider(*replies)):
        typed = [("> ", "hi"), ("> ", "what?"), ("> ", " "), ("> ", "and now?"), ("> ", "\x04")]
        ended = on_terminal("chat", "--agent", agent, typed=typed)

    (session,) = sessions_of(site)
    assert ended.code == 0
    assert len(runs_of(site, session)) == 3
    for line in ("Hello.", "failed: It broke. (provider_failed)", "[ls] done", "Bye."):
        assert f"{line}\n" in ended.out
    assert "| waiting  0 s" in ended.out
