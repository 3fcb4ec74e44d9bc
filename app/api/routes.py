"""Every resource, and its routes."""

from __future__ import annotations

from flask import Flask

from app.api import (
    ablations,
    access,
    admin_page,
    agents,
    attachments,
    audit,
    context,
    files,
    imports,
    keys,
    mcp_servers,
    me,
    memory,
    messages,
    operations,
    overrides,
    pages,
    problems,
    quota,
    runs,
    sessions,
    skills,
    tenant,
    tools,
    tries,
    usage,
    users,
    web_session,
)
from app.api.paths import RestOfPath

RESOURCES = (
    me, web_session, agents, sessions, messages, context, runs, tries, ablations, overrides, memory,
    skills, tools, mcp_servers, files, attachments, imports, usage, quota, keys, users, tenant,
    audit,
)  # fmt: skip


def add(app: Flask) -> None:
    """Give the application every route that hango has, and an answer for all others.

    Raises:
        EndpointWithoutAccess: an endpoint has no row in app/api/access.py.
    """
    app.url_map.merge_slashes = False  # a path names a file exactly: nothing is cleaned up
    app.url_map.converters["rest"] = RestOfPath
    app.register_blueprint(operations.blueprint)
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(admin_page.blueprint)
    document = pages.Document(app)
    for module in RESOURCES:
        document.add(module.blueprint)
    problems.register(app)  # after flask-smorest, whose own handler it replaces
    access.check_table(app)
