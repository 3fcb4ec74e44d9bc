"""The table of an ablation, as clients read it."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.ablation import Estimate, Step, estimate
from app.domain.ablation_standing import Standing, state_of
from app.services.ablation_plans import Planned
from app.services.ablations import Shown


def plan(session_id: UUID, planned: Planned) -> dict[str, Any]:
    """One that was planned, and not begun."""
    standing = Standing(planned.table, {}, {})
    return {
        "session_id": session_id,
        "model": planned.model,
        "estimate": _estimate(planned.estimate),
        **_rows(standing),
    }


def ablation(shown: Shown) -> dict[str, Any]:
    """One that was begun."""
    stored, standing = shown.ablation, shown.standing
    code = stored.error_code
    return {
        "id": stored.id,
        "session_id": stored.session_id,
        "status": stored.status,
        "model": stored.model,
        "created_at": stored.created_at,
        "finished_at": stored.finished_at,
        "cancel_requested_at": stored.cancel_requested_at,
        "max_cost": _money(stored.max_cost_micro_dollars),
        "estimate": _estimate(estimate(stored.table)),
        "cost": _money(standing.spent),
        "progress": {"done": standing.done, "total": len(stored.table.own)},
        "noise": stored.table.noise,
        "error": None if code is None else {"code": code, "message": stored.error_detail},
        **_rows(standing),
    }


def _rows(standing: Standing) -> dict[str, list[dict[str, Any]]]:
    steps = standing.table.steps
    return {
        "baselines": [_row(standing, each) for each in steps if each.part is None],
        "parts": [_row(standing, each) for each in steps if each.part is not None],
    }


def _row(standing: Standing, step: Step) -> dict[str, Any]:
    steps = standing.table.steps
    own = step if step.same_as is None else steps[step.same_as]
    call, found = standing.call_of(step), own.found if step.part is not None else None
    return {
        "part": step.part,
        "state": state_of(standing, step),
        "tokens": {"before": steps[0].tokens, "after": step.tokens},
        "added": step.added,
        "same_as": own.part if own is not step else None,
        "try_id": own.try_id,
        "change": found and found.change,
        "similarity": found and found.similarity,
        "beyond_noise": found and found.beyond_noise,
        "cost": call if call and call.has_cost else None,
        "latency_ms": call and call.latency_ms,
        "error": _error(standing, step),
    }


def _error(standing: Standing, step: Step) -> dict[str, Any] | None:
    if step.refused is not None:
        return {"code": step.refused.code, "message": step.refused.message}
    trial = standing.try_of(step)
    if trial is None or trial.error_code is None:
        return None
    return {"code": trial.error_code, "message": trial.error_detail}


def _estimate(figures: Estimate) -> dict[str, Any]:
    return {
        "tries": figures.tries,
        "likely": _money(figures.likely),
        "most": _money(figures.most),
        "needed": _money(figures.needed),
    }


def _money(micro_dollars: int | None) -> dict[str, int] | None:
    return None if micro_dollars is None else {"micro_dollars": micro_dollars}
