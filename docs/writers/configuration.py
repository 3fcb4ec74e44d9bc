"""docs/configuration.md: every variable, from the settings' own metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import MISSING, Field, fields
from datetime import timedelta
from typing import Any, NamedTuple, get_type_hints

from app.launch import Launch
from app.settings import Secret, Settings
from cli.configuration import DATA_DIR_VARIABLE, KEY_VARIABLE, URL_VARIABLE
from docs.writers.markdown import cell, filled, table


class Variable(NamedTuple):
    """One row: a variable of the environment."""

    name: str
    kind: str
    default: str
    about: str


# Of the programs that are no server: their modules read these few, and say so beside them.
CLIENT = (
    Variable(URL_VARIABLE, "URL", "", "The server that commands speak to."),
    Variable(KEY_VARIABLE, "secret", "", "The API key that they show."),
    Variable(
        DATA_DIR_VARIABLE,
        "folder",
        "`.hango`",
        "Where `connection.json` lies. Without it, `.hango` is looked for here and in the folders "
        "above.",
    ),
    Variable("XDG_CONFIG_HOME", "folder", "`~/.config`", "Where `hango login` keeps profiles."),
    Variable("NO_COLOR", "any text", "", "No colours."),
)
TESTS = (
    Variable(
        "HANGO_TEST_DATABASE_URL",
        "URL",
        "",
        "`make test`: a superuser of a PostgreSQL to test on. Default: an embedded one.",
    ),
    Variable(
        "HANGO_TEST_REDIS_URL",
        "URL",
        "",
        "`make test`: a Redis to test on; it is emptied. Default: an embedded Valkey.",
    ),
)


def page() -> str:
    """The whole text."""
    return filled(
        "configuration.md",
        server=_rows(_of(Settings)),
        launch=_rows(_of(Launch)),
        client=_rows(CLIENT),
        tests=_rows(TESTS),
    )


def variables() -> set[str]:
    """The names of all variables on the page."""
    return {each.name for each in (*_of(Settings), *_of(Launch), *CLIENT, *TESTS)}


def _of(settings: type[Settings | Launch]) -> Iterator[Variable]:
    types = get_type_hints(settings)
    for each in fields(settings):
        about = each.metadata["about"].removeprefix("`hango up`: ")
        kind = _KINDS[types[each.name]]
        yield Variable(each.metadata["variable"], kind, _default(each), _sentence(about))


_KINDS = {
    bool: "true or false",
    int: "number",
    str: "text",
    timedelta: "time span",
    Secret: "secret",
}


def _default(each: Field[Any]) -> str:
    if each.default is MISSING:
        return "required"
    if isinstance(each.default, timedelta):
        return f"`{int(each.default.total_seconds())}s`"
    if isinstance(each.default, bool):
        return f"`{str(each.default).lower()}`"
    return f"`{each.default}`" if each.default != "" else ""


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _rows(found: Iterable[Variable]) -> str:
    rows = [[f"`{each.name}`", each.kind, each.default, cell(each.about)] for each in found]
    return table(("variable", "kind", "default", "meaning"), rows)
