"""ToolAllowlist: the last slot, and so the final word on which tools are sent."""

from __future__ import annotations

from app.chain.final_tools import with_final_tools
from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.context_overrides import overrides_of
from app.domain.requests import ModelRequest


class ToolAllowlist(Middleware):
    """Leaves out excluded tools and those that the skills in use do not leave.

    Nothing behind it can add one back.
    """

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        return call_next(with_final_tools(request, overrides_of(request.state)))
