"""docs/reference/cli.md: every command with its options and examples, from the click tree."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from cli.commands import ApiCommand
from cli.exits import BY_STATUS, Exit
from cli.main import hango
from cli.options import connection_options, json_option
from docs.writers.markdown import cell, filled, table


def page() -> str:
    """The whole text."""
    return filled(
        "cli.md",
        shared=_options([*connection_options(), json_option()], click.Context(hango)),
        commands="\n".join(_section(context) for context in commands()),
        exits=table(("code", "means", "HTTP status"), _exits()),
    )


def commands(context: click.Context | None = None) -> Iterator[click.Context]:
    """Every command that can be run, as a context that knows its whole name."""
    here = context or click.Context(hango, info_name="hango")
    if not isinstance(here.command, click.Group):
        yield here
        return
    for name in here.command.list_commands(here):
        command = here.command.get_command(here, name)
        if command is not None:
            yield from commands(click.Context(command, parent=here, info_name=name))


def examples(command: click.Command) -> list[str]:
    """The command lines of a command's help."""
    return command.example.splitlines() if isinstance(command, ApiCommand) else []


def _section(context: click.Context) -> str:
    command = context.command
    pieces = [f"## {context.command_path}", _fenced("text", [_usage(context)])]
    pieces += [inspect.cleandoc(command.help or "")]
    if own := _own(command):
        pieces.append(_options(own, context))
    if isinstance(command, ApiCommand):
        pieces.append(_fenced("sh", examples(command)))
    else:
        pieces.append("Runs beside the server: it reads the server's variables, and asks no API.")
    return "\n\n".join(pieces) + "\n"


def _usage(context: click.Context) -> str:
    return " ".join([context.command_path, *context.command.collect_usage_pieces(context)])


def _own(command: click.Command) -> list[click.Parameter]:
    """The parameters that only this command has."""
    shared = {each.name for each in (*connection_options(), json_option())}
    if not isinstance(command, ApiCommand):
        shared = set()
    return [each for each in command.params if each.name not in shared]


def _options(parameters: list[click.Parameter], context: click.Context) -> str:
    rows = [_argument(each, context) for each in parameters if isinstance(each, click.Argument)]
    for each in parameters:
        if record := each.get_help_record(context):
            rows.append([f"`{cell(record[0])}`", cell(record[1])])
    return table(("argument or option", "meaning"), [row for row in rows if row[1]] or rows)


def _argument(argument: click.Argument, context: click.Context) -> list[str]:
    needed = "required" if argument.required else "optional"
    return [f"`{argument.make_metavar(context)}`", f"{needed}"]


def _fenced(language: str, lines: list[str]) -> str:
    return "\n".join([f"```{language}", *lines, "```"])


def _exits() -> Iterator[list[str]]:
    for code in Exit:
        statuses = sorted(status for status, found in BY_STATUS.items() if found == code)
        shown = ", ".join(map(str, statuses)) or ("any other" if code is Exit.FAILED else "")
        yield [str(int(code)), code.name.lower().replace("_", " "), shown]
