"""Reads settings from the environment, by the fields of the class that holds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from datetime import timedelta
from typing import Any, get_type_hints

from environs import Env, EnvValidationError


class BadSettings(Exception):
    """A variable is missing or malformed; the text names every one in one line."""


class Secret(str):
    """A text that never shows itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


Check = Callable[[Any], Any]  # raises environs' ValidationError, whose text follows the name


def setting(variable: str, about: str, check: Check | None = None) -> dict[str, Any]:
    """The name and meaning of a setting, for docs/configuration.md, and what it has to be."""
    return {"variable": variable, "about": about, "check": check}


def read(kind: type[Any]) -> dict[str, Any]:
    """A value for each field of this dataclass; each is a `setting`.

    Raises:
        BadSettings: names every missing or malformed variable at once.
    """
    env = Env(eager=False)
    readers: dict[type, Callable[..., Any]] = {
        int: env.int,
        bool: env.bool,
        str: env.str,
        timedelta: env.timedelta,
        Secret: env.str,
    }
    values: dict[str, Any] = {}
    types = get_type_hints(kind)
    for each in fields(kind):
        options = {} if each.default is MISSING else {"default": each.default}
        if check := each.metadata["check"]:
            options["validate"] = check
        found = readers[types[each.name]](each.metadata["variable"], **options)
        values[each.name] = Secret(found) if types[each.name] is Secret and found else found
    try:
        env.seal()
    except EnvValidationError as error:
        raise BadSettings(f"Bad configuration: {_one_line(error)}") from None
    return values


def _one_line(error: EnvValidationError) -> str:
    faults = error.error_messages
    if not isinstance(faults, Mapping):
        return " ".join(faults)
    return "; ".join(f"{name}: {' '.join(texts)}" for name, texts in faults.items())
