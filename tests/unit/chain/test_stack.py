from __future__ import annotations

import pytest

from app.chain.capture import capture
from app.chain.stack import Reads, default_chain
from app.domain.overrides import NO_OVERRIDES, Override, OverrideSet
from app.domain.ports import History
from app.domain.requests import RunState
from app.errors import DatabaseUnavailable
from app.tokens.estimator import estimator_for
from tests.history import NOWHERE, Pages, Shelf, Thoughts, an_agent


class NothingSaved:
    def for_run(self, agent_id, session_id):
        return NO_OVERRIDES


def test_the_order_of_the_stack_is_the_documented_one():
    estimator = estimator_for("claude-sonnet-4-5")
    reads = Reads(Shelf(), NothingSaved(), Thoughts(), Pages([], estimator))
    chain = default_chain(reads, estimator)

    names = [type(each).__name__ for each in chain.stack]

    assert names == [
        "Todo",
        "Filesystem",
        "Subagents",
        "Memory",
        "Skills",
        "OutsideTools",
        # Last of the contributors: no cache mark covers what is another at each call.
        "Injections",
        # An interrupted call is answered before anybody may leave messages out.
        "PatchToolCalls",
        # Right before the guard, so that the budget sees the filtered history.
        "ContextOverrides",
        "Guard",
        # The mark lands on a block that is really sent.
        "PromptCache",
        # Last: nothing adds an excluded tool back.
        "ToolAllowlist",
    ]


class CannotBeRead:
    def for_run(self, agent_id, session_id):
        raise DatabaseUnavailable


def test_a_store_that_cannot_be_read_fails_the_call_instead_of_ignoring_the_overrides():
    estimator = estimator_for("claude-sonnet-4-5")
    chain = default_chain(
        Reads(Shelf(), CannotBeRead(), Thoughts(), Pages([], estimator)), estimator
    )
    state = RunState(an_agent(), NOWHERE, History(None, []))

    with pytest.raises(DatabaseUnavailable):
        chain.before_run(state)


def test_a_run_keeps_the_overrides_that_it_began_with():
    estimator = estimator_for("claude-sonnet-4-5")
    saved = [OverrideSet([Override("tool:grep", "exclude")]), NO_OVERRIDES]

    class Changing:
        def for_run(self, agent_id, session_id):
            return saved.pop(0)

    chain = default_chain(Reads(Shelf(), Changing(), Thoughts(), Pages([], estimator)), estimator)
    state = RunState(an_agent(), NOWHERE, History(None, []))
    chain.before_run(state)

    names = [[t.name for t in chain.model_call(state, capture).tools] for _ in range(2)]

    assert names[0] == names[1]
    assert "grep" not in names[0]
