"""The options of every command: which server, how long, in which form."""

from __future__ import annotations

from typing import Any

import click


class Given:
    """What was typed; None where it was not. The options may stand before or after a command."""

    url: str | None = None
    key: str | None = None
    profile: str | None = None
    timeout: float | None = None
    as_json: bool | None = None


def connection_options() -> list[click.Parameter]:
    """The options that say which server."""
    return [
        _option("--url", metavar="URL", help="The server, http://host:port."),
        _option("--key", metavar="KEY", help="An API key, hk_…."),
        _option("--profile", metavar="NAME", help="A profile that `hango login` wrote."),
        _option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True, max=86_400),
            metavar="SECONDS",
            help="Longest wait for an answer.",
        ),
    ]


def json_option() -> click.Parameter:
    """The option for programs."""
    return _option("--json", "as_json", is_flag=True, default=None, help="Print one JSON document.")


def _option(*names: str, **attributes: Any) -> click.Option:
    return click.Option(list(names), expose_value=False, callback=_remember, **attributes)


def _remember(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
    # Nearer to the command's name counts more: its own option replaces the group's.
    if value is not None and parameter.name is not None:
        setattr(ctx.ensure_object(Given), parameter.name, value)
