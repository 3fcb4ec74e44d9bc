"""Guard: the one control point that knows whether a request fits."""

from __future__ import annotations

import msgspec

from app.chain.counts import Counted, count
from app.chain.final_tools import with_final_tools
from app.chain.middleware import CallNext, Middleware, Reply
from app.chain.middlewares.context_overrides import overrides_of
from app.domain.catalogue import facts_for
from app.domain.ports import Estimator
from app.domain.requests import ModelRequest, RunState
from app.guard.budget import TARGET, TRIGGER, Budget, budget_for


class Decision(msgspec.Struct, frozen=True):
    """What the guard found: the budget, what the request costs, and whether that is too much."""

    budget: Budget
    counted: Counted

    @property
    def would_compact(self) -> bool:
        """Whether the next call would first make the history shorter."""
        return self.counted.total > self.budget.trigger


class Guard(Middleware):
    """Measures the request that is about to leave, with the tools that will really be sent."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def wrap_model_call(self, request: ModelRequest, call_next: CallNext) -> Reply:
        sent = with_final_tools(request, overrides_of(request.state))
        decision = Decision(budget_of(request.state), count(sent, self._estimator))
        request.state.put(decision)
        return call_next(request)


def budget_of(state: RunState) -> Budget:
    """The budget of the run's agent: its model's window, and its own trigger and target."""
    strategy = state.agent.strategy
    return budget_for(
        facts_for(state.agent.model).window,
        state.agent.max_tokens,
        trigger=float(strategy.get("trigger", TRIGGER)),
        target=float(strategy.get("target", TARGET)),
    )
