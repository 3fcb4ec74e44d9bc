"""/v1/openapi.json, and the pages that are read from it: /docs and /docs/errors."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any, cast

from flask import Blueprint, Flask, Response, current_app, render_template
from flask_smorest import Api

from app.api.paths import RestOfPath
from app.api.resource import Resource
from app.api.schemas import context, fields
from app.api.schemas.problems import ProblemSchema
from app.api.web_cookie import PLAIN_NAME
from app.errors import Failure

ROOT = Path(__file__).parent
_EXTENSION = "hango-document"
_STYLE = (ROOT / "templates" / "docs.css").read_text(encoding="utf-8")
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_COOKIE = (
    "The admin page's, from POST /v1/web-session; __Host-hango where HANGO_PUBLIC_URL is https. "
    "What changes something needs X-CSRF-Token as well."
)

blueprint = Blueprint("pages", __name__)


class Document(Api):  # type: ignore[misc]  # flask-smorest has no types
    """Collects the routes of all resources into one OpenAPI 3.1 document.

    They are described when somebody reads it: that takes longer than all else of a start.
    """

    ERROR_SCHEMA = ProblemSchema

    def __init__(self, app: Flask) -> None:
        super().__init__(
            app, spec_kwargs={"security": [{"bearer": []}, {"key": []}, {"cookie": []}]}
        )
        app.extensions[_EXTENSION] = self
        self._to_describe: list[Resource] = []
        self._lock = Lock()
        bearer = {"type": "http", "scheme": "bearer", "description": "An API key: hk_…"}
        header = {"type": "apiKey", "in": "header", "name": "x-api-key"}
        self.spec.components.security_scheme("bearer", bearer)
        self.spec.components.security_scheme("key", header)
        cookie = {"type": "apiKey", "in": "cookie", "name": PLAIN_NAME, "description": _COOKIE}
        self.spec.components.security_scheme("cookie", cookie)
        self.register_converter(RestOfPath, lambda _: {"type": "string"})
        self.register_field(fields.Json, None, None)
        for name, schema in context.components():
            self.spec.components.schema(name, schema)

    def add(self, resource: Resource) -> None:
        """Give the application the routes of a resource."""
        self._app.register_blueprint(resource)
        self._to_describe.append(resource)

    def described(self) -> dict[str, Any]:
        """The whole document."""
        with self._lock:
            while self._to_describe:
                resource = self._to_describe.pop(0)
                resource.register_views_in_doc(
                    self, self._app, self.spec, name=resource.name, parameters=None
                )
                self.spec.tag({"name": resource.name, "description": resource.description})
            return cast("dict[str, Any]", self.spec.to_dict())

    def _register_responses(self) -> None:
        """Problems have a content type of their own."""
        content = {"application/problem+json": {"schema": self.ERROR_SCHEMA}}
        shown = {"description": "What went wrong, and what to do.", "content": content}
        self.spec.components.response("DEFAULT_ERROR", shown, lazy=True)
        self.spec.components.response("UNPROCESSABLE_ENTITY", shown, lazy=True)


@blueprint.get("/v1/openapi.json")
def openapi() -> Response:
    """The OpenAPI document."""
    return Response(current_app.json.dumps(_document()), content_type="application/json")


@blueprint.get("/docs")
def docs() -> Response:
    """The document, for people."""
    return _page("docs.html", document=_document(), operations=list(_operations()))


@blueprint.get("/docs/errors")
def error_docs() -> Response:
    """Every code that a problem can have."""
    return _page("errors.html", failures=sorted(_failures(Failure), key=lambda f: f.status))


def _document() -> dict[str, Any]:
    document: Document = current_app.extensions[_EXTENSION]
    return document.described()


def _operations() -> Iterator[dict[str, Any]]:
    for path, item in _document()["paths"].items():
        shared = item.get("parameters", [])
        for method in ("get", "post", "put", "patch", "delete"):
            if method in item:
                about = item[method]
                parameters = [*shared, *about.get("parameters", [])]
                yield {**about, "method": method.upper(), "path": path, "parameters": parameters}


def _failures(kind: type[Failure]) -> Iterator[type[Failure]]:
    for each in kind.__subclasses__():
        yield each
        yield from _failures(each)


def _page(template: str, **values: Any) -> Response:
    response = Response(render_template(template, style=_STYLE, **values))
    response.headers["Content-Security-Policy"] = (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )
    return response
