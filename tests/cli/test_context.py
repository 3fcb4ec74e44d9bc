from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from cli.text import columns
from tests.cli.shell import Canned, Result, on_terminal

Asks = Callable[..., Result]

SESSION = "01994c1e-0000-7000-8000-000000000001"


def part(part_id: str, tokens: int = 10, /, **marks: Any) -> dict[str, Any]:
    return {
        "id": part_id,
        "kind": part_id.partition(":")[0],
        "label": part_id.rpartition(":")[2],
        "preview": f"what {part_id} says",
        "tokens": tokens,
        "included": True,
        "override": "none",
        "cached_prefix": False,
        "sha256": "0" * 64,
        "contributor": "agent",
        **marks,
    }


def group(*parts: dict[str, Any], before: int | None = None, **more: Any) -> dict[str, Any]:
    after = sum(each["tokens"] for each in parts if each["included"])
    return {"parts": list(parts), "tokens": {"before": before or after, "after": after}, **more}


def snapshot(
    system: dict[str, Any] | None = None,
    tools: dict[str, Any] | None = None,
    messages: dict[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    return {
        "session_id": SESSION,
        "agent_id": "01994c1e-0000-7000-8000-000000000002",
        "model": "claude-sonnet-5-5",
        "transparent": True,
        "groups": {
            "system": system or group(part("system:agent", 640)),
            "tools": tools or group(),
            "messages": messages or group(part("message:1", role="user")),
        },
        "totals": {
            "before": 92442,
            "after": 43937,
            "framing": 303,
            "counted": "estimate",
            "estimator": "cl100k-classes/1:claude-4.7",
            "window": 200000,
            "reserved_output": 16384,
            "remaining": 139679,
        },
        "would_compact": False,
        "overrides": {"active": 0, "stale": 0},
        "cache": cached("system:agent", 640),
        **more,
    }


def cached(part_id: str | None, tokens: int, *, effective: bool = True) -> dict[str, Any]:
    return {
        "breakpoint": part_id,
        "prefix_tokens": tokens,
        "minimum_tokens": 1024,
        "effective": effective,
    }


@pytest.fixture
def shows(server: Canned, asks: Asks) -> Callable[..., Result]:
    def show(document: dict[str, Any], *arguments: str) -> Result:
        server.answers = []
        server.answers_json(document)
        return asks("context", "show", "--session", SESSION, *arguments)

    return show


def test_the_table_lists_each_group_with_its_totals(shows: Callable[..., Result]) -> None:
    result = shows(
        snapshot(
            system=group(
                part("system:agent", 640, cached_prefix=True),
                part("system:todo", 172, included=False, override="exclude"),
                before=812,
            ),
            tools=group(part("tool:read_file", 1420)),
        )
    )

    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"claude-sonnet-5-5  session {SESSION}",
        "     PART            LABEL      PREVIEW                   TOKENS  FLAGS",
        "system  2 parts, 640 (before overrides 812) tokens",
        "[x]  system:agent    agent      what system:agent says       640  cached",
        "[ ]  system:todo     todo       what system:todo says        172  excluded",
        "tools  1 part, 1,420 tokens",
        "[x]  tool:read_file  read_file  what tool:read_file says   1,420",
        "messages  1 part, 10 tokens",
        "[x]  message:1       1          what message:1 says           10",
        "",
        "total    43,937 (before overrides 92,442) tokens, 303 of them framing",
        "window   43,937 of 200,000 used (22.0 %), 16,384 reserved for the answer, "
        "139,679 remaining",
        "counted  by estimate (cl100k-classes/1:claude-4.7)",
        "cache    640 tokens up to system:agent",
    ]


@pytest.mark.parametrize(
    ("marks", "flag"),
    [
        ({"override": "exclude", "included": False}, "excluded"),
        ({"override": "replace", "tokens_before": 4800}, "replaced 4,800→10"),
        ({"override": "replace"}, "replaced"),
        ({"cached_prefix": True}, "cached"),
        ({"stale": True}, "stale"),
        ({"base_changed": True}, "original changed"),
        ({"synthetic": True}, "synthetic"),
        ({"compacted": True, "included": False}, "compacted"),
        ({"truncated": True}, "truncated"),
        ({"thinking_dropped": True}, "thinking dropped"),
        ({"rough": True}, "rough count"),
        ({"paired_with": ["message:6", "message:7"]}, "with message:6, message:7"),
    ],
)
def test_every_mark_of_a_part_is_told(
    shows: Callable[..., Result], marks: dict[str, Any], flag: str
) -> None:
    result = shows(snapshot(messages=group(part("message:5", **marks))))

    row = next(line for line in result.out.splitlines() if "message:5 " in line)
    assert row.endswith(f"10  {flag}")
    assert row.startswith("[x]" if marks.get("included", True) else "[ ]")


@pytest.mark.parametrize(
    ("more", "warning"),
    [
        ({"would_compact": True}, "first compact older messages"),
        ({"overrides": {"active": 3, "stale": 2}}, "2 of the overrides are stale"),
        (
            {"overrides": {"active": 3, "stale": 0, "suspended": "tool_result_orphan"}},
            "overrides are left out, since they break the request: tool_result_orphan. Change",
        ),
        (
            {"overrides": {"suspended": "empty", "suspended_at": "message:[/x]"}},
            "the request: empty at message:[/x]. ",
        ),
        ({"overrides": {"active": 3, "stale": 0, "base_changed": 2}}, "2 of the replaced parts"),
        ({"sendable": False}, "no message to send yet"),
        ({"model_known": False}, "not in the catalogue"),
        ({"transparent": False}, "Injections were gathered"),
        (
            {"injections": [{"name": "crm", "part": "p", "state": "not_gathered"}]},
            "Not gathered, though the call will be: crm. Add --injections.",
        ),
        (
            {"injections": [{"name": "crm", "part": "p", "state": "failed", "code": "too_slow"}]},
            "The injection crm failed: too_slow.",
        ),
    ],
)
def test_what_needs_a_look_is_said(
    shows: Callable[..., Result], more: dict[str, Any], warning: str
) -> None:
    assert warning not in shows(snapshot()).out

    result = shows(snapshot(**more))

    assert warning in result.out.splitlines()[-1]
    assert result.out.splitlines()[-1].startswith("! ")


def test_a_page_says_what_it_leaves_out(shows: Callable[..., Result], server: Canned) -> None:
    page = group(part("message:900"), page={"before": 900, "total": 10000})

    result = shows(snapshot(messages=page), "--messages-limit", "1", "--messages-before", "901")

    assert server.requests[0].target.endswith("/context?messages_limit=1&messages_before=901")
    assert "messages  1 of 10,000 parts" in result.out
    assert "--messages-before 900" in result.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("cache", "line"),
    [
        (cached(None, 0, effective=False), "no breakpoint: nothing of this request is kept"),
        (
            cached("system:agent", 640, effective=False),
            "640 tokens up to system:agent, too few to be kept: this model needs 1,024",
        ),
    ],
)
def test_what_the_provider_cannot_keep_is_said(
    shows: Callable[..., Result], cache: dict[str, Any], line: str
) -> None:
    assert f"cache    {line}\n" in shows(snapshot(cache=cache)).out


HOSTILE = [
    "[/INST]",
    "[bold]x",
    "see [/a/b]",
    ":memo: {x} %s \\n",
    "\x1b[2J\x1b]0;owned\x07\x1b]8;;http://evil\x1b\\click",
    "\x9b31m \x7f \r overwritten",
    "\u202ereversed\u2066",
    "line\nbreak\ttab\u2028",
    "日本語 👨‍👩‍👧‍👦 🇩🇪 e\u0301",
    "שלום עולם",
    "half \ud83d",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_content_is_text_wherever_it_stands(shows: Callable[..., Result], text: str) -> None:
    odd = part(f"system:memory:/{text}", label=text, preview=text, contributor=text)

    plain = shows(snapshot())
    result = shows(snapshot(system=group(odd), cache=cached(text, 1)))

    assert result.code == 0
    assert len(result.out.splitlines()) == len(plain.out.splitlines())
    assert not set(result.out) & set("\x1b\x07\x9b\x7f\r\u202e\u2066\u2028\ud83d")
    if text.isprintable() or "👨" in text:
        assert result.out.count(text) == 4


@pytest.mark.parametrize("text", HOSTILE)
def test_json_is_the_whole_answer_and_nothing_else(shows: Callable[..., Result], text: str) -> None:
    document = snapshot(system=group(part("system:agent", preview=text)))

    result = shows(document, "--json")

    assert (result.code, result.err) == (0, "")
    assert result.json == document
    assert result.out.count("\n") == 1
    assert not set(result.out) & set("\x1b\x07\x9b\x7f\r\u202e\u2066\u2028\ud83d")


@pytest.mark.parametrize(
    "text", ["", "no newline", "two\nlines\n", "\x1b[31mred\x00\r\n", *HOSTILE]
)
def test_a_part_goes_to_a_pipe_as_it_is(shows: Callable[..., Result], text: str) -> None:
    answer = {"session_id": SESSION, "part": part("message:1"), "content": [], "text": text}

    result = shows(answer, "--full", "message:1")

    assert (result.code, result.out) == (0, text)


def test_a_part_on_a_terminal_can_be_looked_at(server: Canned, asks: Asks) -> None:
    server.answers_json({"part": part("message:1"), "text": "one\n\x1b[2Jtwo\ttab"})

    result = on_terminal("context", "show", "--session", SESSION, "--full", "message:1")

    assert result == Result(0, "one\n\\x1b[2Jtwo    tab\n".replace("    ", "\t"), "")


def test_a_table_fits_the_terminal(server: Canned, asks: Asks) -> None:
    long = part("system:memory:/memories/AGENTS.md", preview="日本語の長い文章 " * 20)
    server.answers_json(snapshot(messages=group(long, part("message:2", preview="x" * 200))))

    result = on_terminal("context", "show", "--session", SESSION, width=100)

    rows = [re.sub(r"\x1b\[\d*m", "", line) for line in result.out.splitlines()]
    listed = [row for row in rows if row.startswith(("[x]", "[ ]"))]
    assert result.code == 0
    assert len(listed) == 3
    assert all(columns(row) <= 100 for row in listed)
    assert any("system:memory:/memories/AGENTS.md" in row for row in listed)


def test_a_pipe_gets_previews_whole(shows: Callable[..., Result]) -> None:
    preview = "words " * 33 + "."

    assert preview in shows(snapshot(messages=group(part("message:1", preview=preview)))).out


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_that_want_them(
    server: Canned, asks: Asks, environment: dict[str, str], coloured: bool
) -> None:
    server.answers_json(snapshot())

    result = on_terminal("context", "show", "--session", SESSION, environment=environment)

    assert ("\x1b[" in result.out) is coloured


def test_a_pipe_gets_no_colours(shows: Callable[..., Result]) -> None:
    assert "\x1b" not in shows(snapshot()).out


def test_an_answer_of_another_shape_is_one_line(shows: Callable[..., Result]) -> None:
    result = shows({"groups": []})

    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "--json" in result.err
