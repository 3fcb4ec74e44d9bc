from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import Canned, Result, on_terminal

Asks = Callable[..., Result]

IDS = [
    "01994c1e-aaaa-7000-8000-000000000001",
    "01994c1e-bbbb-7000-8000-000000000002",
    "01994c1f-cccc-7000-8000-000000000003",
]


def page(*items: dict[str, Any], next: str | None = None) -> dict[str, Any]:  # noqa: A002
    return {"items": list(items), "next": next}


def session(session_id: str, **more: Any) -> dict[str, Any]:
    return {
        "id": session_id,
        "agent_id": "a",
        "title": "Rates",
        "archived": False,
        "message_count": 12,
        "message_tokens": 3456,
        "created_at": "2026-11-30T15:31:59.123456Z",
        "updated_at": "2026-11-30T15:32:00Z",
        **more,
    }


def test_a_list_is_a_table(server: Canned, asks: Asks) -> None:
    server.answers_json(page(session(IDS[0]), session(IDS[1], title="日本 [bold]")))

    result = asks("sessions", "list")

    assert result == Result(
        0,
        "ID                                    TITLE        MESSAGES  TOKENS  CHANGED (UTC)\n"
        f"{IDS[0]}  Rates              12   3,456  2026-11-30 15:32\n"
        f"{IDS[1]}  日本 [bold]        12   3,456  2026-11-30 15:32\n",
        "",
    )
    assert server.requests[0].target == "/v1/sessions?archived=false&limit=50"


def test_a_list_says_that_it_goes_on(server: Canned, asks: Asks) -> None:
    server.answers_json(page(session(IDS[0]), next="c+/="))

    result = asks("sessions", "list", "--limit", "1")

    assert (result.code, result.out.count("\n")) == (0, 2)
    assert result.err == "There are more: add --all, or a larger --limit.\n"
    assert asks("sessions", "list", "--limit", "1", "--json").json["next"] == "c+/="


def test_all_pages_are_one_list(server: Canned, asks: Asks) -> None:
    server.answers_json(
        page(session(IDS[0]), next="c+/="), page(session(IDS[1]), next="d"), page(session(IDS[2]))
    )

    result = asks("sessions", "list", "--all", "--agent", "a/1", "--archived", "--json")

    assert [each["id"] for each in result.json["items"]] == IDS
    assert result.json["next"] is None
    assert [each.target for each in server.requests] == [
        "/v1/sessions?agent_id=a%2F1&archived=true&limit=200",
        "/v1/sessions?agent_id=a%2F1&archived=true&limit=200&after=c%2B%2F%3D",
        "/v1/sessions?agent_id=a%2F1&archived=true&limit=200&after=d",
    ]


def test_a_limit_over_several_pages_is_kept(server: Canned, asks: Asks) -> None:
    items = [session(IDS[0])] * 200
    server.answers_json(page(*items, next="c"), page(*items[:50], next="d"))

    result = asks("sessions", "list", "--limit", "250", "--json")

    assert len(result.json["items"]) == 250
    assert server.requests[1].target.endswith("limit=50&after=c")


def test_a_session_is_found_by_how_its_id_begins(server: Canned, asks: Asks) -> None:
    server.answers_json(page(*map(session, IDS)), session(IDS[2]))

    assert asks("sessions", "show", "01994C1F").code == 0
    assert server.requests[1].target == f"/v1/sessions/{IDS[2]}"


@pytest.mark.parametrize(
    ("start", "code", "said"),
    [("01994c1e", 2, "2 sessions begin with"), ("ffff", 3, "No session begins with ffff")],
)
def test_a_beginning_that_is_not_one_session(
    server: Canned, asks: Asks, start: str, code: int, said: str
) -> None:
    server.answers_json(page(*map(session, IDS)))

    result = asks("sessions", "delete", start, "--yes")

    assert (result.code, len(server.requests)) == (code, 1)
    assert said in result.err


def test_a_full_id_is_asked_for_at_once(server: Canned, asks: Asks) -> None:
    server.answers_json(session(IDS[0]))

    asks("sessions", "show", IDS[0])

    assert [each.target for each in server.requests] == [f"/v1/sessions/{IDS[0]}"]


@pytest.mark.parametrize(
    ("arguments", "method", "target", "body"),
    [
        (
            ["sessions", "create", "--agent", "a", "--title", "T"],
            "POST", "/v1/sessions", {"agent_id": "a", "title": "T"},
        ),
        (["sessions", "create", "--agent", "a"], "POST", "/v1/sessions", {"agent_id": "a"}),
        (["sessions", "rename", IDS[0], "N"], "PATCH", f"/v1/sessions/{IDS[0]}", {"title": "N"}),
        (["sessions", "archive", IDS[0]], "PATCH", f"/v1/sessions/{IDS[0]}", {"archived": True}),
        (
            ["sessions", "archive", IDS[0], "--undo"],
            "PATCH", f"/v1/sessions/{IDS[0]}", {"archived": False},
        ),
        (
            ["agents", "create", "--name", "n", "--model", "m", "--system-prompt", "", "--shared"],
            "POST", "/v1/agents",
            {"name": "n", "model": "m", "system_prompt": "", "shared": True},
        ),
        (
            ["messages", "append", "--session", IDS[0], "[bold] hi", "--role", "assistant"],
            "POST", f"/v1/sessions/{IDS[0]}/messages",
            {"role": "assistant", "content": "[bold] hi"},
        ),
        (
            ["messages", "append", "--session", IDS[0], ""],
            "POST", f"/v1/sessions/{IDS[0]}/messages", {"role": "user", "content": ""},
        ),
    ],
)  # fmt: skip
def test_what_is_typed_is_what_is_sent(
    server: Canned, asks: Asks, arguments: list[str], method: str, target: str, body: object
) -> None:
    server.answers_json({**session(IDS[0]), "items": []}, status=201)

    result = asks(*arguments)

    assert (result.code, result.err) == (0, "")
    sent = server.requests[0]
    assert (sent.method, sent.target, sent.json) == (method, target, body)


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ('{"content":"a","content":"b"}', '{"content":"a","content":"b"}'),
        (' [{"role":"user","content":1e400}]', '{"messages": [{"role":"user","content":1e400}]}'),
        ('{"messages":[]}', '{"messages":[]}'),
    ],
)  # fmt: skip
def test_json_of_stdin_is_judged_by_the_server_as_it_is(
    server: Canned, asks: Asks, given: str, sent: str
) -> None:
    server.answers_json({"items": []}, status=201)

    result = asks("messages", "append", "--session", IDS[0], stdin=given)

    assert (result.code, server.requests[0].body.decode()) == (0, sent)


@pytest.mark.parametrize("given", ["", "hello", "{", b"\xff", "[" * 100_000])
def test_stdin_that_is_no_json_is_a_usage_error(
    server: Canned, asks: Asks, given: str | bytes
) -> None:
    result = asks("messages", "append", "--session", IDS[0], stdin=given)

    assert (result.code, server.requests, result.err.count("\n")) == (2, [], 1)


def test_a_message_from_a_file(server: Canned, asks: Asks, tmp_path: Path) -> None:
    path = tmp_path / "m.md"
    path.write_bytes("\ufeffline\r\n日本\n".encode())
    server.answers_json({"items": [{"seq": 1000, "role": "user", "preview": "p", "tokens": 5}]})

    result = asks("messages", "append", "--session", IDS[0], "--file", str(path))

    assert server.requests[0].json == {"role": "user", "content": "line\r\n日本\n"}
    assert result.out.splitlines()[1] == "1000  user  p             5"


def test_a_file_that_is_no_text_is_a_usage_error(
    server: Canned, asks: Asks, tmp_path: Path
) -> None:
    (tmp_path / "m.bin").write_bytes(b"\xff\xfe")

    result = asks("messages", "append", "--session", IDS[0], "--file", str(tmp_path / "m.bin"))

    assert (result.code, server.requests) == (2, [])
    assert "is not UTF-8 text" in result.err


def test_nothing_to_append_on_a_terminal_is_a_usage_error(server: Canned, asks: Asks) -> None:
    result = on_terminal("messages", "append", "--session", IDS[0], width=200)

    assert result.code == 2
    assert "Give TEXT, --file, or JSON on stdin." in result.out


def test_text_and_file_together_are_a_usage_error(asks: Asks, tmp_path: Path) -> None:
    (tmp_path / "m").write_text("x")

    assert (
        asks("messages", "append", "--session", "s", "t", "--file", str(tmp_path / "m")).code == 2
    )


@pytest.mark.parametrize("kind", ["agents", "sessions"])
def test_deleting_asks_first(server: Canned, asks: Asks, kind: str) -> None:
    server.answers_raw(b"", "application/json", status=204)
    command = [kind, "delete", IDS[0]]

    unanswered = asks(*command)
    assert (unanswered.code, server.requests) == (2, [])
    assert "Add --yes." in unanswered.err

    refused = on_terminal(*command, typed=[("[y/N]", "n")])
    assert (refused.code, server.requests) == (1, [])

    agreed = on_terminal(*command, typed=[("[y/N]", "y")])
    assert agreed.code == 0
    assert [each.method for each in server.requests] == ["DELETE"]

    assert asks(*command, "--yes", "--json").json == {"deleted": IDS[0]}


def test_an_agent_is_shown_with_its_prompt(server: Canned, asks: Asks) -> None:
    server.answers_json({"id": "a1", "name": "[b]", "model": "m", "system_prompt": "One\n\x1b[2J"})

    result = asks("agents", "show", "a1")

    assert result.code == 0
    assert result.out.splitlines()[:3] == [
        "id             a1", "name           [b]", "model          m",
    ]  # fmt: skip
    assert result.out.endswith("\n\nOne\n\\x1b[2J\n")


def test_an_agent_with_several_system_blocks_is_shown_block_by_block(
    server: Canned, asks: Asks
) -> None:
    server.answers_json({"id": "a1", "name": "n", "system_prompt": ["One\n", "Two"]})

    assert asks("agents", "show", "a1").out.endswith("\n\nOne\n\nTwo\n")


def test_a_system_prompt_from_stdin(server: Canned, asks: Asks) -> None:
    server.answers_json({"id": "a"})

    asks("agents", "create", "--name", "n", "--system-file", "-", stdin="Be\nbrief.")

    assert server.requests[0].json == {"name": "n", "system_prompt": "Be\nbrief."}


def test_messages_are_listed(server: Canned, asks: Asks) -> None:
    items = [
        {"seq": seq, "role": "user", "preview": "[/INST] \x1b", "tokens": None, "content": []}
        for seq in (1, 2)
    ]
    server.answers_json(page(*items))

    result = asks("messages", "list", "--session", IDS[0])

    assert result.out.splitlines()[1:] == [
        "  1  user  [/INST] \\x1b       –", "  2  user  [/INST] \\x1b       –",
    ]  # fmt: skip
    assert json.loads(asks("messages", "list", "--session", IDS[0], "--json").out) == page(*items)


def test_an_answer_that_is_no_list_is_one_line(server: Canned, asks: Asks) -> None:
    server.answers_json([1, 2])

    result = asks("agents", "list")

    assert (result.code, result.err.count("\n")) == (1, 1)
