"""The OpenAPI document says everything that the URL map holds, and is valid."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.errors import Failure
from tests.api.test_access import BODIES, RULES
from tests.api.test_problems import every_class


@pytest.fixture
def document(client: FlaskClient) -> dict[str, Any]:
    reply = client.get("/v1/openapi.json")
    assert reply.content_type == "application/json"
    return reply.json


def documented(rule: str) -> str:
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule)


def test_every_route_is_in_the_document(app: Flask, document: dict[str, Any]) -> None:
    routes = {
        (documented(rule.rule), method.lower())
        for rule in app.url_map.iter_rules()
        if rule.rule.startswith("/v1/") and rule.endpoint != "pages.openapi"
        for method in rule.methods - {"HEAD", "OPTIONS"}
    }

    shown = {(path, method) for path, item in document["paths"].items() for method in item}

    assert shown - {(path, "parameters") for path in document["paths"]} == routes


def test_every_operation_is_described(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method == "parameters":
                continue
            assert operation["summary"], (method, path)
            assert "default" in operation["responses"], (method, path)
            assert any(status.startswith("2") for status in operation["responses"])


def test_every_body_is_described(document: dict[str, Any]) -> None:
    for rule in RULES:
        if rule.endpoint in BODIES:
            (method,) = rule.methods - {"HEAD", "OPTIONS"}
            operation = document["paths"][documented(rule.rule)][method.lower()]
            assert "application/json" in operation["requestBody"]["content"], rule


# A key's secret is shown once, so it cannot be told again; the others make nothing twice.
NOT_REPEATED = ("/v1/keys", "/v1/web-session", "/preview", "/refresh", "/restore")


def test_what_starts_work_takes_an_idempotency_key(document: dict[str, Any]) -> None:
    for path, item in document["paths"].items():
        if "post" in item and not path.endswith(NOT_REPEATED):
            names = [parameter["name"] for parameter in item["post"].get("parameters", [])]
            assert "Idempotency-Key" in names, path


def test_the_document_is_sound(document: dict[str, Any]) -> None:
    assert document["openapi"] == "3.1.0"
    text = str(document)
    for reference in re.findall(r"#/components/(\w+)/([\w.]+)", text):
        assert reference[1] in document["components"][reference[0]], reference
    for path, item in document["paths"].items():
        named = set(re.findall(r"{(\w+)}", path))
        given = {p["name"] for p in item.get("parameters", []) if p["in"] == "path"}
        assert named == given, path


def test_errors_are_documented_with_their_own_type(document: dict[str, Any]) -> None:
    content = document["components"]["responses"]["DEFAULT_ERROR"]["content"]

    assert content.keys() == {"application/problem+json"}


@pytest.mark.parametrize("path", ["/docs", "/docs/errors"])
def test_the_docs_load_nothing_from_elsewhere(path: str, client: FlaskClient) -> None:
    reply = client.get(path)

    assert reply.status_code == 200
    assert reply.content_type == "text/html; charset=utf-8"
    assert "<script" not in reply.text
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", reply.text)
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
    assert "unsafe" not in reply.headers["Content-Security-Policy"]


def test_the_docs_name_every_operation(client: FlaskClient, document: dict[str, Any]) -> None:
    page = client.get("/docs").text

    for path in document["paths"]:
        assert f"<code>{path}</code>" in page


def test_the_docs_name_every_error(client: FlaskClient) -> None:
    page = client.get("/docs/errors").text

    for kind in every_class(Failure):
        assert f'id="{kind.code}"' in page
