from __future__ import annotations

from app.chain.stack import Reads, default_chain
from app.domain.overrides import NO_OVERRIDES
from app.tokens.estimator import estimator_for
from tests.history import Pages, Shelf, Thoughts


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
