"""Names of models as sources write them."""

from __future__ import annotations

import re

from app.domain.catalogue import facts_for

_SUFFIX = re.compile(r"(-v\d+)?([:\[].*)?$", re.ASCII | re.DOTALL)  # -v1:0, :beta, [1m]
_FAMILIES = ("claude", "anthropic")


def is_claude(model: object) -> bool:
    """Whether the name is that of a Claude model, behind whatever prefix.

    Decides whether thinking can be sent back and whether token counts are Claude's.
    """
    return isinstance(model, str) and any(name in model.lower() for name in _FAMILIES)


def plain_model(model: object) -> str | None:
    """The model as hango names it: without what a proxy puts around a Claude model's name."""
    if not isinstance(model, str) or not model.strip() or model == "<synthetic>":
        return None
    if not is_claude(model):
        return model.removeprefix("litellm_proxy/")
    start = max(model.find("claude"), 0)
    name = _SUFFIX.sub("", model[start:].replace("@", "-"))
    return name if facts_for(name).id == facts_for(model).id else facts_for(model).id
