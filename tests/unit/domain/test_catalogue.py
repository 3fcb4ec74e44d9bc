import pytest

from app.domain.catalogue import Catalogue, catalogue, facts_for

SONNET_4_5 = [
    "claude-sonnet-4-5",
    "claude-sonnet-4-5-20250929",
    "claude-sonnet-4-5@20250929",
    "claude-sonnet-4-5-latest",
    " Claude-Sonnet-4.5 ",
    "anthropic/claude-sonnet-4.5",
    "anthropic:claude-sonnet-4-5",
    "openrouter/anthropic/claude-sonnet-4.5:beta",
    "anthropic.claude-sonnet-4-5-20250929-v1:0",
    "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "arn:aws:bedrock:us-east-1:1:inference-profile/global.anthropic.claude-sonnet-4-5-v1:0",
    "projects/p/locations/l/publishers/anthropic/models/claude-sonnet-4-5@20250929",
    "claude-sonnet-4-5[1m]",
]


@pytest.mark.parametrize("name", SONNET_4_5)
def test_a_model_is_found_under_every_name_that_providers_give_it(name: str) -> None:
    assert facts_for(name).id == "claude-sonnet-4-5"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-sonnet-4-0", "claude-sonnet-4"),
        ("claude-4-sonnet", "claude-sonnet-4"),
        ("claude-3-5-sonnet-v2@20241022", "claude-3-5-sonnet"),
        ("claude-3.7-sonnet:thinking", "claude-3-7-sonnet"),
        ("claude-haiku-3-5", "claude-3-5-haiku"),
        ("anthropic.claude-3-haiku-20240307-v1:0:48k", "claude-3-haiku"),
        ("claude-mythos-preview", "claude-mythos-preview"),
        ("claude-fable-5-1", "claude-fable-5-1"),
    ],
)
def test_older_spellings_lead_to_the_same_row(name: str, found: str) -> None:
    assert facts_for(name).id == found


@pytest.mark.parametrize("name", ["claude-opus-9", "gpt-5", "", "my-claude-opus-5", "claude-", "é"])
def test_an_unknown_model_gets_what_is_safe_to_assume(name: str) -> None:
    facts = facts_for(name)

    assert (facts.id, facts.known) == (name, False)
    assert (facts.window, facts.max_output, facts.min_cache_tokens) == (200_000, 32_000, 4096)
    assert facts.thinking_modes == ()
    assert not any((facts.prefill, facts.forced_tools, facts.system_messages))
    assert facts.preserved_thinking
    assert (facts.image_tier, facts.image_limits_tier) == ("high", "standard")
    assert facts.tokenizer_family == "claude-4.7"


def test_every_row_is_found_under_its_own_id() -> None:
    assert [facts_for(row.id) for row in catalogue()] == list(catalogue())


def test_the_tokenizer_changes_with_opus_4_7() -> None:
    old = {row.id for row in catalogue() if row.tokenizer_family == "claude-4.6"}

    assert {"claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5"} <= old
    assert not old & {"claude-opus-4-7", "claude-sonnet-5", "claude-haiku-5-5"}


def test_only_models_up_to_4_5_take_a_prefill() -> None:
    prefill = {row.id for row in catalogue() if row.prefill}

    assert "claude-haiku-4-5" in prefill
    assert not prefill & {"claude-opus-4-6", "claude-sonnet-4-6", "claude-opus-4-7"}


@pytest.mark.parametrize(
    ("model", "auto", "forced"),
    [("claude-opus-5", 286, 406), ("claude-opus-4-7", 675, 804), ("claude-opus-4-1", 313, 315)],
)
def test_the_tool_prompt_is_the_documented_one(model: str, auto: int, forced: int) -> None:
    prompt = facts_for(model).tool_prompt

    assert (prompt.auto, prompt.any) == (auto, forced)
    assert prompt.as_of
    assert prompt.source


def test_another_catalogue_can_be_read() -> None:
    row = """"window": 10, "max_output": 5, "min_cache_tokens": 1, "tokenizer_family": "claude-4.6",
      "image_tier": "standard", "thinking_modes": [], "thinking_by_default": false, "prefill": true,
      "forced_tools": true, "system_messages": false, "preserved_thinking": false,
      "tool_prompt": "p" """
    other = Catalogue(
        f"""{{"as_of": "2026-12", "sources": [],
        "tool_prompts": {{"p": {{"auto": 1, "any": 2, "as_of": "2026-12", "source": "own"}}}},
        "models": [{{"id": "claude-local-1", {row}}}], "unknown": {{{row}}}}}""".encode()
    )

    assert other.facts_for("anthropic/claude-local-1").window == 10
