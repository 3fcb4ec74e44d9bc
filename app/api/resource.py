"""A blueprint for one resource: flask-smorest's, with strict bodies and typed decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from flask_smorest import Blueprint
from marshmallow import Schema

from app.api.bodies import StrictParser

View = TypeVar("View", bound=Callable[..., Any])


class Decorator(Protocol):
    """Takes a view and gives one of the same type."""

    def __call__(self, view: View, /) -> View:
        """The view, decorated."""


class Resource(Blueprint):  # type: ignore[misc]  # flask-smorest has no types
    """The routes of one resource under /v1."""

    ARGUMENTS_PARSER = StrictParser()

    def __init__(self, name: str, description: str) -> None:
        super().__init__(name, __name__, url_prefix="/v1", description=description)

    def get(self, rule: str) -> Decorator:
        """Answer GET."""
        return self._at(rule, "GET")

    def post(self, rule: str) -> Decorator:
        """Answer POST."""
        return self._at(rule, "POST")

    def put(self, rule: str) -> Decorator:
        """Answer PUT."""
        return self._at(rule, "PUT")

    def patch(self, rule: str) -> Decorator:
        """Answer PATCH."""
        return self._at(rule, "PATCH")

    def delete(self, rule: str) -> Decorator:
        """Answer DELETE."""
        return self._at(rule, "DELETE")

    def takes(self, schema: type[Schema] | Schema) -> Decorator:
        """Hand the view the JSON body, as this schema loads it."""
        return self.arguments(schema)  # type: ignore[no-any-return]

    def asks(self, schema: type[Schema] | Schema) -> Decorator:
        """Hand the view the query, as this schema loads it."""
        return self.arguments(schema, location="query")  # type: ignore[no-any-return]

    def gives(
        self, status: int, schema: type[Schema] | Schema | None = None, **about: Any
    ) -> Decorator:
        """Answer with this status, and with what the view returns as this schema dumps it."""
        return self.response(status, schema, **about)  # type: ignore[no-any-return]

    def gives_text(self, status: int, content_type: str) -> Decorator:
        """Say in the OpenAPI document that the same answer can be had as text of this type."""
        return self.alt_response(  # type: ignore[no-any-return]
            status, schema={"type": "string"}, content_type=content_type, success=True
        )

    def notes(self, **about: Any) -> Decorator:
        """Add to the OpenAPI document what the other decorators cannot know."""
        return self.doc(**about)  # type: ignore[no-any-return]

    def _at(self, rule: str, method: str) -> Decorator:
        return self.route(rule, methods=[method])  # type: ignore[no-any-return]
