"""The handler that stops the chain instead of calling a model: what inspect is made of."""

from __future__ import annotations

from app.domain.requests import ModelRequest


def capture(request: ModelRequest) -> ModelRequest:
    """Answer with the request itself, as it would have left."""
    return request
