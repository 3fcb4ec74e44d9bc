"""Values of unknown shape, read as the shape that is hoped for: what is none is empty."""

from __future__ import annotations

from typing import Any


def dict_of(value: Any, *path: str) -> dict[str, Any]:
    """The object at `path` inside `value`; empty where there is none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def list_of(value: Any) -> list[Any]:
    """The list; empty where it is none."""
    return value if isinstance(value, list) else []


def dicts_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [item for item in list_of(value) if isinstance(item, dict)]


def text_of(value: Any) -> str | None:
    """The text, unless it is none or empty."""
    return value if isinstance(value, str) and value else None
