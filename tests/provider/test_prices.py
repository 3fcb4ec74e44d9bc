"""What calls cost, by the public list."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib import metadata
from typing import Any

import pytest

from app.domain.catalogue import catalogue
from app.provider.prices import FREE, Price, price

AT = datetime(2026, 11, 30, tzinfo=UTC)
CACHED = {
    "input_tokens": 7,
    "cache_read_input_tokens": 9000,
    "cache_creation_input_tokens": 1000,
    "output_tokens": 5,
}
FOR_AN_HOUR = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1000}


def cost(model: str, usage: dict[str, Any]) -> int:
    found = price("anthropic", model, usage, AT)
    assert found is not None
    return found.micro_dollars


def test_cached_tokens_have_their_own_prices() -> None:
    # 7 x $4 + 9,000 x $0.20 + 1,000 x $5 + 5 x $20, per million
    assert cost("claude-opus-5-5", CACHED) == 28 + 1_800 + 5_000 + 100


def test_a_write_for_an_hour_costs_more() -> None:
    # 1,000 x $8 instead of $5
    assert cost("claude-opus-5-5", {**CACHED, "cache_creation": FOR_AN_HOUR}) == 9_928


def test_a_large_input_costs_more_where_the_list_says_so() -> None:
    small, large = (
        cost("claude-haiku-5-5", {"input_tokens": n, "output_tokens": 0})
        for n in (100_000, 200_000)
    )

    assert (small, large) == (10_000, 100_000)


def test_what_a_compaction_within_the_call_used_is_added() -> None:
    iteration = {"input_tokens": 1_000, "output_tokens": 0}
    usage = {**iteration, "iterations": [{**iteration, "type": "compaction"}, iteration]}

    assert cost("claude-opus-5-5", usage) == 8_000


def test_the_price_names_its_list() -> None:
    found = price("anthropic", "claude-opus-5-5", CACHED, AT)

    assert found == Price(6_928, f"genai-prices/{metadata.version('genai-prices')}")


@pytest.mark.parametrize("usage", [CACHED, {}, {"input_tokens": None}])
def test_a_model_without_a_price_is_unknown_and_not_free(usage: dict[str, Any]) -> None:
    assert price("anthropic", "claude-of-tomorrow", usage, AT) is None


def test_the_stand_in_is_free() -> None:
    assert price("offline", "hango-offline", CACHED, AT) == FREE


@pytest.mark.parametrize("usage", [{}, {"input_tokens": None}, {"input_tokens": "many"}])
def test_usage_that_says_nothing_breaks_nothing(usage: dict[str, Any]) -> None:
    found = price("anthropic", "claude-opus-5-5", usage, AT)

    assert found is None or found.micro_dollars == 0


def test_most_models_of_the_catalogue_have_a_price() -> None:
    priced = [facts.id for facts in catalogue() if price("anthropic", facts.id, CACHED, AT)]

    assert {"claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5"} <= set(priced)
