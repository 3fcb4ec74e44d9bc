"""The one shape of all errors."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

MEMBERS = {"type", "title", "status", "code", "request_id", "detail", "errors"}
EXTENSIONS = {
    "quota_exceeded": {"left", "resets_at"},
    "max_cost_too_low": {"max_cost", "needed", "most"},
}


def assert_problem(reply: TestResponse, status: int, code: str | None = None) -> dict[str, Any]:
    """Check the shape, and give the document."""
    assert reply.status_code == status, reply.text
    assert reply.content_type == "application/problem+json"
    problem: dict[str, Any] = reply.json
    assert problem.keys() - MEMBERS == EXTENSIONS.get(problem["code"], set())
    assert problem.keys() >= MEMBERS - {"detail", "errors"}
    assert problem["status"] == status
    assert problem["type"] == f"/docs/errors#{problem['code']}"
    assert problem["request_id"] == reply.headers["X-Request-Id"]
    for fault in problem.get("errors", []):
        assert fault.keys() == {"at", "code", "detail"}
        assert all(isinstance(value, str) and value for value in fault.values())
    if code is not None:
        assert problem["code"] == code
    return problem


def codes(reply: TestResponse) -> list[tuple[str, str]]:
    """Where and why a body was refused."""
    return [(fault["at"], fault["code"]) for fault in reply.json["errors"]]
