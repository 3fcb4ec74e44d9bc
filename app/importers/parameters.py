"""Which settings of the source the model takes: what it refuses is left out and counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from app.domain.catalogue import facts_for
from app.domain.validity import check_request
from app.importers.report import Tally

USUAL_MAX_TOKENS = 4096  # assumed where the source does not say
_PROBE = [{"role": "user", "content": "?"}]


def takeable(
    settings: Mapping[str, Any],
    model: str | None,
    max_tokens: int | None,
    tools: Sequence[Mapping[str, Any]],
    tally: Tally,
) -> dict[str, Any]:
    """The settings that a request to the model may carry together, in their order.

    A model that the source does not name is judged as an unknown one, which takes least.
    """
    facts = facts_for(model or "unknown")
    limit = min(max_tokens or USUAL_MAX_TOKENS, facts.max_output)
    body: dict[str, Any] = {"model": model or "unknown", "max_tokens": limit, "messages": _PROBE}
    body |= {"tools": list(tools)} if tools else {}
    known = check_request(body, facts)
    taken: dict[str, Any] = {}
    for name, value in settings.items():
        if all(fault in known for fault in check_request({**body, **taken, name: value}, facts)):
            taken[name] = value
        else:
            tally.drop(f"not_taken_by_the_model:{name}")
    return taken
