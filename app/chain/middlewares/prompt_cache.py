"""PromptCache: marks how far the provider may keep a request."""

from __future__ import annotations

from dataclasses import replace

from app.chain.final_tools import with_final_tools
from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.context_overrides import overrides_of
from app.domain.requests import ModelRequest


class PromptCache(Middleware):
    """Marks the last system block that stays as it is, or the last tool where there is none.

    The provider's prefix order is tools, system, messages (Messages API, prompt caching), so a
    mark on the system prompt covers every tool as well. Stands after Guard and after the system
    overrides: the mark lands on something that is really sent.
    """

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        return call_next(_marked(request))


def _marked(request: ModelRequest) -> ModelRequest:
    steady = [each.part for each in request.system if not each.volatile]
    if steady:
        blocks = (replace(b, cache=True) if b.part == steady[-1] else b for b in request.system)
        return replace(request, system=tuple(blocks))
    final = with_final_tools(request, overrides_of(request.state)).tools
    if not final:
        return request
    marked = {final[-1].part}
    tools = (replace(t, cache=True) if t.part in marked else t for t in request.tools)
    return replace(request, tools=tuple(tools))
