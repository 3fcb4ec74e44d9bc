from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator

import click
import pytest

import cli.main
from cli.commands import ApiCommand
from tests.cli.shell import Canned, Result, process

Asks = Callable[..., Result]

HEAVY = {
    "anthropic", "app", "celery", "flask", "httpx", "httpx2", "importlib.metadata", "redis",
    "requests", "rich", "sqlalchemy", "tiktoken", "wcwidth",
}  # fmt: skip


# Loaded one by one by the test below: what they import is of the server.
BESIDE_THE_SERVER = ("up", "admin", "db", "secrets")


def walked(command: click.Command, path: str = "hango") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if command is cli.main.hango and name in BESIDE_THE_SERVER:
                continue
            inner = command.get_command(context, name)
            assert inner is not None
            yield from walked(inner, f"{path} {name}")


def loaded_by(code: str) -> set[str]:
    running = process("--version", stdout=subprocess.DEVNULL)  # the fixture's environment, warm
    running.wait()
    probe = subprocess.run(
        [running.args[0], "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True, cwd=cli.main.__file__.rpartition("/cli/")[0],
    )  # fmt: skip
    return set(probe.stdout.split())


def test_help_loads_no_command_and_no_client() -> None:
    modules = loaded_by("from cli.main import run; run(['--help'])")

    assert not HEAVY & modules
    assert not {name for name in modules if name.startswith("cli.")} - {
        "cli.exits", "cli.main", "cli.options",
    }  # fmt: skip
    assert "http.client" not in modules


def test_a_command_of_the_api_loads_nothing_heavy(server: Canned, asks: Asks) -> None:
    server.answers_json({"part": {}, "text": "plain"})

    modules = loaded_by(
        "from cli.main import run\n"
        "run(['context', 'show', '--session', 's', '--full', 'message:1'])"
    )

    assert len(server.requests) == 1
    assert not HEAVY & modules


@pytest.mark.parametrize("name", cli.main.COMMANDS)
def test_every_command_of_the_table_can_be_loaded(name: str) -> None:
    command = cli.main.hango.get_command(click.Context(cli.main.hango), name)

    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help


def test_help_of_the_group_says_what_each_command_says_of_itself(hango: Asks) -> None:
    result = hango("--help")

    assert result.code == 0
    for name, (_, about) in cli.main.COMMANDS.items():
        assert f"  {name} " in result.out
        assert about in result.out


COMMANDS = dict(walked(cli.main.hango))
API_COMMANDS = {path: each for path, each in COMMANDS.items() if isinstance(each, ApiCommand)}


def test_all_that_was_promised_is_there() -> None:
    assert set(API_COMMANDS) == {
        "hango login", "hango import", "hango context show",
        "hango context exclude", "hango context include", "hango context replace",
        "hango context clear", "hango context diff", "hango context history",
        "hango context restore",
        "hango context try", "hango context result", "hango context cancel", "hango context tries",
        "hango agents list", "hango agents show", "hango agents create", "hango agents delete",
        "hango sessions list", "hango sessions show", "hango sessions create",
        "hango sessions rename", "hango sessions archive", "hango sessions delete",
        "hango messages list", "hango messages append",
        "hango chat", "hango runs list", "hango runs show", "hango runs cancel",
        "hango runs calls", "hango runs diff",
        "hango usage", "hango quota show", "hango quota set",
        "hango keys list", "hango keys create", "hango keys revoke",
        "hango users list", "hango users create", "hango users disable",
        "hango context ablate", "hango context ablation", "hango mcp add", "hango mcp list",
        "hango mcp refresh", "hango mcp remove", "hango mcp show", "hango tools give",
        "hango tools list", "hango tools remove", "hango tools set-http", "hango tools show",
        "hango tools take",
    }  # fmt: skip


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_has_help(path: str, hango: Asks) -> None:
    result = hango(*path.split()[1:], "--help")

    assert (result.code, result.err) == (0, "")
    assert COMMANDS[path].help


@pytest.mark.parametrize("path", API_COMMANDS)
def test_every_command_of_the_api_has_an_example_and_json(path: str, hango: Asks) -> None:
    out = hango(*path.split()[1:], "--help").out

    assert f"Example:\n  {path}" in out
    assert "--json" in out
    assert "--url" in out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["agnts"], "No such command 'agnts'. Did you mean 'agents'? See `hango --help`."),
        (["agents", "lst"], "No such command 'lst'. Did you mean 'list'? See `hango agents "),
        (["agents", "list", "--jsn"], "No such option '--jsn'. Did you mean '--json'?"),
        (["context", "show"], "Missing option '--session'. See `hango context show --help`."),
        (["sessions", "list", "--limit", "0"], "Invalid value for '--limit'"),
    ],
)  # fmt: skip
def test_a_usage_error_is_one_line_with_what_to_do(
    arguments: list[str], line: str, hango: Asks
) -> None:
    result = hango(*arguments)

    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("hango: ")
    assert line in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["agents"], ["context"]])
def test_a_group_alone_shows_its_help(arguments: list[str], hango: Asks) -> None:
    result = hango(*arguments)

    assert (result.code, result.out) == (2, "")
    assert "Commands:" in result.err


def test_the_version(hango: Asks) -> None:
    result = hango("--version")

    assert result.code == 0
    assert result.out.startswith("hango ")


def test_options_stand_before_or_after_the_command(server: Canned, hango: Asks) -> None:
    server.answers_json({"items": [], "next": None})

    before = hango("--url", server.url, "--key", "k", "agents", "list")
    after = hango("agents", "list", "--url", server.url, "--key", "k")
    both = hango("--url", "http://127.0.0.1:9", "agents", "list", "--url", server.url, "--key", "k")

    assert [before.code, after.code, both.code] == [0, 0, 0]


def test_a_reader_that_has_enough_is_no_error(server: Canned, asks: Asks) -> None:
    items = [{"id": str(number), "name": "agent " * 20} for number in range(5000)]
    server.answers_json({"items": items, "next": None})

    for arguments in (["agents", "list"], ["agents", "list", "--json"]):
        running = process(*arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.read(1)
        running.stdout.close()
        said = running.stderr.read()
        running.stderr.close()

        assert (running.wait(), said) == (0, b"")


def test_a_closed_stdout_is_no_traceback(server: Canned, asks: Asks) -> None:
    server.answers_json({"items": [], "next": None})

    running = process("agents", "list", stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    assert running.stdout is not None
    running.stdout.close()

    assert b"Traceback" not in running.communicate()[1]
    assert running.returncode == 0


def test_a_stream_that_cannot_write_a_letter_escapes_it(server: Canned, asks: Asks) -> None:
    server.answers_json({"items": [{"id": "1", "name": "日本"}], "next": None})

    running = process(
        "agents", "list",
        stdout=subprocess.PIPE, environment={"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip

    assert b"\\u65e5\\u672c" in running.communicate()[0]
    assert running.returncode == 0
