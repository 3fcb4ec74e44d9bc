"""What a snapshot says of injections: how each went, and parts for those that failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from app.domain.injections import Injected, Injection, part_of
from app.domain.overrides import OverrideSet
from app.domain.parts import AnyPart, Part
from app.domain.snapshots import InjectionView


def injection_views(
    injections: Iterable[Injection], gathered: Sequence[Injected] | None, overrides: OverrideSet
) -> list[InjectionView]:
    """Each of the agent's injections, in its order."""
    found = {each.name: each for each in gathered or ()}
    return [_view(each.name, found.get(each.name), overrides) for each in injections]


def failed_parts(gathered: Iterable[Injected], overrides: OverrideSet) -> list[AnyPart]:
    """Those that brought nothing but the code of why."""
    return [
        Part(
            id=each.part,
            kind="system",
            label=each.part.removeprefix("system:"),
            preview="",
            tokens=0,
            included=False,
            override=overrides.state_of(each.part),
            cached_prefix=False,
            sha256="",
            contributor="injections",
            origin=f"injection {each.name}",
            unavailable=each.code,
        )
        for each in gathered
        if each.state == "failed"
    ]


def _view(name: str, found: Injected | None, overrides: OverrideSet) -> InjectionView:
    part = part_of(name)
    if overrides.excludes(part):
        return InjectionView(name, part, "excluded")
    if found is None:
        return InjectionView(name, part, "not_gathered")
    return InjectionView(name, part, found.state, found.code)
