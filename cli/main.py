"""The `hango` command: which subcommands there are, and how every ending is told.

A subcommand's module is loaded when it is used, so `hango --help` costs what click costs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from cli.exits import Exit, Stop
from cli.options import connection_options

# Where each command lives, and its line in the help.
COMMANDS = {
    "up": ("cli.operate.up:up", "Start a whole hango on this machine."),
    "login": ("cli.login:login", "Remember a server and a key."),
    "import": ("cli.imports:import_files", "Make sessions from transcripts."),
    "context": ("cli.context:context", "See what the next model call will send."),
    "chat": ("cli.chat.commands:chat", "Talk to an agent."),
    "sessions": ("cli.sessions:sessions", "Conversations."),
    "messages": ("cli.messages:messages", "What was said in a session."),
    "runs": ("cli.runs:runs", "What agents did about messages, call by call."),
    "agents": ("cli.agents:agents", "Named configurations: prompt, model, tools."),
    "tools": ("cli.tools:tools", "Tools from outside, and which agents have them."),
    "mcp": ("cli.mcp:mcp", "MCP servers whose tools agents can have."),
    "usage": ("cli.usage:usage", "What model calls used and cost."),
    "quota": ("cli.quota:quota", "What your tenant may use, and what is left."),
    "keys": ("cli.keys:keys", "API keys."),
    "users": ("cli.users:users", "People in your tenant."),
    "admin": ("cli.operate.admin:admin", "Tenants, users, keys."),
    "db": ("cli.operate.db:db", "The database schema."),
    "secrets": ("cli.operate.secrets:secrets", "The keys that stored secrets need."),
}


class _ReaderGone(Exception):
    """Nobody reads stdout any more."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for."""

    # The signatures are click's.

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names, in the order of the table: the way from nothing to a context."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import one command; None where there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and tell a reader that went away from a failure; click does not."""
        try:
            ended = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            raise _ReaderGone from None
        return ended

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with the close matches of what was typed."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.NoSuchCommand(name, possibilities=COMMANDS, ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002
        formatter: click.HelpFormatter,
    ) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, about) for name, (_, about) in COMMANDS.items()])


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"hango {_version()}")
        ctx.exit()


def _version() -> str:
    # Loaded here, since it is heavier than all the rest and nothing else needs it.
    metadata = import_module("importlib.metadata")
    try:
        return str(metadata.version("hango"))
    except metadata.PackageNotFoundError:
        return "of a checkout that is not installed"


@click.command(
    cls=LazyGroup,
    params=[
        *connection_options(),
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Print the version.",
        ),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done, 1 failed, 2 usage, 3 not found or not allowed, 4 quota or rate "
    "limit, 5 timed out.",
)
def hango() -> None:
    """Self-hosted harness for LLM agents that shows what the next model call will send."""


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the exit code. Every failure is one line on stderr."""
    try:
        # Click gives back the code of an early exit (--help), else what the command returned.
        ended: Any = hango.main(list(arguments), prog_name="hango", standalone_mode=False)
        sys.stdout.flush()
        return int(ended or Exit.DONE)
    except Stop as stop:
        return _fail(stop.line, stop.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stderr.write(error.format_message() + "\n")
        return Exit.USAGE
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "hango"
        return _fail(f"{error.format_message()} See `{path} --help`.", Exit.USAGE)
    except click.ClickException as error:
        return _fail(error.format_message(), Exit.FAILED)
    except click.Abort:
        return _fail("Stopped; nothing more was done.", Exit.FAILED)
    except (_ReaderGone, BrokenPipeError):
        # Whoever read stdout has enough. What is still buffered has nowhere to go, and the
        # interpreter must not complain about it when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE


def _fail(text: str, exit_code: int) -> int:
    from cli.output import note  # noqa: PLC0415 (what goes well needs none of it)

    note(f"hango: {text}")
    return exit_code


def main() -> None:
    """The console script. Whatever a stream cannot encode is escaped rather than fatal."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
