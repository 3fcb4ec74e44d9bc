"""`hango tools` and `hango mcp` against hango itself, with servers outside on loopback."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.settings import Secret, Settings
from cli.exits import Exit
from tests.cli.conftest import Site, serving
from tests.cli.shell import Result
from tests.conftest import Process, web_process
from tests.fakes.mcp_server import RunningMcp, demo, mcp_server

Asks = Callable[..., Result]

SCHEMA = '{"type": "object", "properties": {"city": {"type": "string"}}}'
CANARY = "canary-19ab"


@pytest.fixture(scope="module")
def process(settings: Settings) -> Iterator[Process]:
    """One that may call this machine, and seals secrets."""
    key = Secret(base64.b64encode(b"k" * 32).decode())
    with web_process(replace(settings, outbound_allow="127.0.0.1", secret_key=key)) as made:
        yield made


@pytest.fixture(scope="module")
def served(process: Process) -> Iterator[str]:
    with serving(process.app) as url:
        yield url


@pytest.fixture(scope="module")
def server() -> Iterator[RunningMcp]:
    with mcp_server() as running:
        yield running


@pytest.fixture
def told(on_site: Asks) -> Callable[..., Any]:
    """A command that must go well; its JSON."""

    def call(*arguments: str, **more: Any) -> Any:
        ended = on_site(*arguments, "--json", **more)
        assert ended.code == 0, ended.err
        assert CANARY not in ended.out + ended.err
        return ended.json

    return call


def test_an_http_tool_is_set_given_changed_and_removed(
    told: Callable[..., Any], on_site: Asks, agent: str, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text(f"Bearer {CANARY}\n")
    about = ("tools", "set-http", "weather", "http://127.0.0.1:1/now")

    told(*about, "--description", "The weather.", "--schema", SCHEMA,
          "--header", f"Authorization=@{token}", "--header", "X-Version=2")  # fmt: skip
    changed = told(*about, "--method", "GET", "--remove-header", "x-version")

    assert changed["description"] == "The weather."
    assert (changed["method"], changed["version"]) == ("GET", 2)
    assert changed["headers_set"] == ["Authorization"]
    assert [each["name"] for each in told("tools", "list")["items"]] == ["weather"]
    assert told("tools", "give", agent, "weather", "read_file")["tools"] == [
        "weather",
        "read_file",
    ]
    assert told("tools", "take", agent, "read_file")["tools"] == ["weather"]
    shown = on_site("tools", "show", "weather")
    assert "GET http://127.0.0.1:1/now" in shown.out
    assert on_site("tools", "list").out.splitlines()[1].split()[:2] == ["weather", "http"]
    assert told("tools", "remove", "weather", "--yes") == {"removed": "weather"}
    assert on_site("tools", "show", "weather").code == Exit.NOT_FOUND


def test_a_server_is_added_refreshed_and_removed(
    told: Callable[..., Any], on_site: Asks, site: Site, agent: str, server: RunningMcp
) -> None:
    added = told("mcp", "add", "demo", server.url, "--header", "X=@-", stdin=CANARY)
    assert added["server"]["headers_set"] == ["X"]
    told("tools", "give", agent, "mcp__demo")

    again = told("mcp", "add", "demo", server.url, "--allow", "add")

    assert again["server"]["headers_set"] == ["X"]  # kept, though it was not named again
    assert again["changes"]["added"] == []
    assert server.headers[-1]["x"] == CANARY
    printed = on_site("mcp", "show", "demo").out
    assert "mcp__demo__add" in printed
    assert "mcp__demo__hang" not in printed
    assert on_site("mcp", "list").out.splitlines()[1].split()[:2] == ["demo", "1"]
    assert told("mcp", "remove", "demo", "--yes") == {"removed": "demo"}
    session = told("sessions", "create", "--agent", agent)["id"]
    context = on_site("context", "show", "--session", session)
    assert "no such tool is registered any more: mcp__demo" in context.out
    del site


def test_a_refresh_tells_what_changed(told: Callable[..., Any], on_site: Asks) -> None:
    changing = demo()
    with mcp_server(changing) as running:
        told("mcp", "add", "demo", running.url)
        changing.remove_tool("hang")
        ended = on_site("mcp", "refresh", "demo")

    assert ended.code == 0, ended.err
    assert ended.err == "removed: hang\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("tools", "set-http", "weather", "https://h.example/"), "A new tool needs --description."),
        (
            ("tools", "set-http", "w", "https://h.example/", "--description", "x", "--schema", "{"),
            "--schema is not JSON.",
        ),
        (("mcp", "add", "demo", "https://h.example/", "--header", CANARY), "Write NAME=VALUE"),
        (("tools", "take", "<agent>", "weather"), "The agent does not name weather."),
        (("tools", "give", "<agent>", "wether"), "No tool of this name is registered."),
        (("mcp", "add", "demo", "https://10.0.0.1/"), "HANGO_OUTBOUND_ALLOW"),
    ],
)
def test_what_is_wrong_is_said(
    on_site: Asks, agent: str, arguments: tuple[str, ...], said: str
) -> None:
    ended = on_site(*(agent if each == "<agent>" else each for each in arguments))

    assert ended.code != 0
    assert said in ended.err
    assert CANARY not in ended.err
