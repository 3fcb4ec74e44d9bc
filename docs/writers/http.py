"""docs/reference/openapi.json and api.md: the routes, from the application itself."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from functools import cache
from typing import Any

from flask import Flask

from app.api.access import ACCESS, Who
from app.runtime import build_runtime
from app.settings import Secret, Settings
from app.web import create_app
from docs.writers.markdown import cell, filled, table

_VARIABLE = re.compile(r"<(?:\w+:)?(\w+)>")
_METHODS = ("get", "post", "put", "patch", "delete")
_WHO = {
    Who.ANYONE: "anyone",
    Who.SIGNED_IN: "the admin page's cookie",
    Who.MEMBER: "a key",
    Who.ADMIN: "an admin's key",
}


@cache
def application() -> Flask:
    """hango without its servers: they are asked for nothing, so that none has to be there."""
    nowhere = Settings(
        database_url=Secret("postgresql://nobody@127.0.0.1:1/nowhere"),
        redis_url=Secret("redis://127.0.0.1:1"),
    )
    return create_app(build_runtime(nowhere))


@cache
def document() -> dict[str, Any]:
    """The OpenAPI document."""
    answer = application().test_client().get("/v1/openapi.json")
    found: dict[str, Any] = json.loads(answer.data)
    return found


def openapi() -> str:
    """The document as a file: indented, so that a change shows where it is."""
    return json.dumps(document(), indent=1, ensure_ascii=False) + "\n"


def page() -> str:
    """The routes as tables, one for each resource."""
    rows: dict[str, list[list[str]]] = defaultdict(list)
    for path, item in document()["paths"].items():
        for method in _METHODS:
            if method in item:
                group = item[method]["tags"][0]
                rows[group].append(_row(method.upper(), path, item[method]))
    abouts = {each["name"]: each.get("description", "") for each in document().get("tags", [])}
    sections = [_section(name, abouts.get(name, ""), found) for name, found in rows.items()]
    beside = table(("route", "for", "what it does"), _beside())
    return filled("api.md", sections="\n".join(sections), beside=beside)


def _row(method: str, path: str, operation: dict[str, Any]) -> list[str]:
    who = _WHO[ACCESS[_endpoints()[method, path]]]
    return [f"`{method} {path}`", who, cell(operation["summary"])]


def _section(name: str, about: str, rows: list[list[str]]) -> str:
    return f"## {name}\n\n{about}\n\n{table(('route', 'for', 'what it does'), rows)}\n"


@cache
def _endpoints() -> dict[tuple[str, str], str]:
    """By method and path, written as OpenAPI does: the name of the view."""
    return {
        (method, _VARIABLE.sub(r"{\1}", rule.rule)): rule.endpoint
        for rule in application().url_map.iter_rules()
        for method in rule.methods or ()
    }


def _beside() -> list[list[str]]:
    """The routes that the OpenAPI document leaves out: operations, and the document itself."""
    documented = set(document()["paths"])
    views = application().view_functions
    return [
        [f"`{method} {path}`", _WHO[ACCESS[endpoint]], cell(views[endpoint].__doc__ or "")]
        for (method, path), endpoint in _endpoints().items()
        if method == "GET" and path not in documented
    ]
