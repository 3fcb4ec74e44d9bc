import base64
import json
import random
import string
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.catalogue import catalogue, facts_for
from app.domain.ports import Estimator
from app.tokens.calibration import calibration_for
from app.tokens.estimator import estimator_for
from app.tokens.images import image_tokens, largest_image_tokens
from app.tokens.ranks import ranks

OLD, NEW = estimator_for("claude-sonnet-4-5"), estimator_for("claude-opus-5-5")

WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city, now.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def image(data: bytes, kind: str = "png") -> dict[str, Any]:
    source = {"type": "base64", "media_type": f"image/{kind}"}
    return {"type": "image", "source": source | {"data": base64.b64encode(data).decode()}}


def png(width: int, height: int, size: int = 100) -> bytes:
    """The start of a PNG of these pixels, filled up to `size` bytes."""
    header = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
    start = header + width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return start + random.Random(1).randbytes(max(0, size - len(start)))


def cost(block: Any, estimator: Estimator = NEW) -> int:
    """What a block adds to a message."""
    return estimator.message("user", [block]).tokens - estimator.message("user", []).tokens


def is_rough(block: Any) -> bool:
    return NEW.message("user", [block]).rough


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-sonnet-4-6", "cl100k-classes/1:claude-4.6"),
        ("claude-3-haiku-20240307", "cl100k-classes/1:claude-4.6"),
        ("claude-opus-4-8", "cl100k-classes/1:claude-4.7"),
        ("anthropic/claude-haiku-5.5", "cl100k-classes/1:claude-4.7"),
        ("a-model-of-tomorrow", "cl100k-classes/1:claude-4.7"),
        ("claude-opus-4-7", "cl100k-classes/1:claude-opus-4-7"),
    ],
)
def test_the_estimator_is_that_of_the_models_family(model: str, expected: str) -> None:
    assert estimator_for(model).id == expected


def test_each_models_images_are_counted_by_its_own_tier() -> None:
    tiers = {row.id: calibration_for(row.id).image_tier for row in catalogue()}

    assert tiers == {row.id: row.image_tier for row in catalogue()}


@pytest.mark.parametrize(
    ("estimator", "words", "code", "call"), [(OLD, 14, 18, 96), (NEW, 18, 23, 100)]
)
def test_counts_are_frozen(estimator: Estimator, words: int, code: int, call: int) -> None:
    arguments = {"path": "src/main.py", "limit": 20, "lines": [1, 2]}
    block = {"type": "tool_use", "id": "t1", "name": "read_file", "input": arguments}
    sentence = "You answer in one short sentence, and never guess a name."

    assert estimator.system_block(sentence).tokens == words
    assert estimator.system_block("def area(w, h):\n    return w * h  # in pixels\n").tokens == code
    assert estimator.message("assistant", [block]).tokens == call


@pytest.mark.parametrize("estimator", [OLD, NEW])
def test_the_smallest_request_costs_its_text_and_a_frame(estimator: Estimator) -> None:
    model = "claude-sonnet-4-5" if estimator is OLD else "claude-opus-5-5"
    frame = {OLD.id: 7, NEW.id: 8}[estimator.id]
    words = estimator.system_block("How are you today?").tokens
    message = estimator.message("user", [text("How are you today?")]).tokens

    total = message + estimator.framing(model, has_tools=False, tool_choice=None)

    assert abs(total - words - frame) <= 1


@pytest.mark.parametrize(
    ("choice", "prompt"),
    [
        (None, 286),
        ({"type": "auto"}, 286),
        ({"type": "none"}, 286),
        ({"type": "any"}, 406),
        ({"type": "tool", "name": "get_weather"}, 406),
    ],
)
def test_tools_add_the_providers_prompt(choice: dict[str, Any] | None, prompt: int) -> None:
    without = NEW.framing("claude-opus-5", has_tools=False, tool_choice=None)

    assert NEW.framing("claude-opus-5", has_tools=True, tool_choice=choice) == without + prompt


def test_markers_of_other_models_are_text() -> None:
    loaded = ranks()
    assert loaded is not None
    marker = "<|endoftext|> <|im_start|> <|fim_prefix|>"

    assert len(loaded.encoding.encode_ordinary(marker)) > 15
    assert cost(text(marker)) > 15
    assert NEW.system_block(marker).tokens > 15
    assert NEW.tool({**WEATHER, "description": marker}).tokens > NEW.tool(WEATHER).tokens


@pytest.mark.parametrize(
    "long",
    [character * 1_000_000 for character in "a ^\n=\t"]
    + ["漢" * 300_000, " " * 1_000_000 + "a", "\ud800" * 100_000]
    + ["".join(random.Random(2).choices(string.ascii_letters, k=1_000_000))],
    ids=lambda long: f"{long[0]!a} to {long[-1]!a}",
)
def test_endless_runs_are_counted(long: str) -> None:
    count = NEW.message("user", [text(long)])

    assert not count.rough
    assert len(long) / 150 < count.tokens < 4 * len(long)


def test_a_lone_surrogate_costs_what_a_replacement_character_costs() -> None:
    assert cost(text("bad \ud83d end")) == cost(text("bad \ufffd end"))


@pytest.mark.parametrize("estimator", [OLD, NEW])
def test_an_image_costs_its_patches_and_not_its_bytes(estimator: Estimator) -> None:
    block = image(png(1600, 1200, 2_500_000))
    in_result = {"type": "tool_result", "tool_use_id": "t", "content": [block]}

    tier = calibration_for("claude-sonnet-4-5" if estimator is OLD else "x").image_tier
    assert cost(block, estimator) == image_tokens(1600, 1200, tier) + 3
    assert 0 < cost(in_result, estimator) - cost(block, estimator) < 20
    assert not estimator.message("user", [block]).rough


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        {"type": "image", "source": {"type": "file", "file_id": "file_1"}},
        image(b"no image at all" * 100_000),
        image(png(0, 0)),
        {"type": "image"},
        {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        {"type": "document", "source": {"type": "base64", "data": "A" * 2_500_000}},
        {"type": "video", "source": {"type": "base64", "data": "QUJD" * 600_000}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64," + "QUJD" * 99_999}},
    ],
    ids=lambda block: str(block)[:60],
)
def test_media_that_cannot_be_measured_are_guessed_within_reason(block: dict[str, Any]) -> None:
    assert is_rough(block)
    assert 100 <= cost(block) <= 5_000


def test_an_argument_of_text_is_counted_without_its_quotes() -> None:
    def call(value: Any) -> int:
        block = {"type": "tool_use", "id": "t", "name": "write", "input": {"content": value}}
        return cost(block, OLD)

    lines = 'say "hi"\n' * 50

    assert call(lines) - call("") == pytest.approx(cost(text(lines), OLD), abs=1)
    assert call([lines]) > call(lines)


def test_a_result_costs_its_text_however_it_is_wrapped() -> None:
    plain = {"type": "tool_result", "tool_use_id": "t", "content": "ok, done"}

    assert cost(plain) == cost({**plain, "content": [text("ok, done")]})
    assert cost(plain) > cost(text("ok, done"))
    assert not is_rough(plain)


def test_ids_marks_and_citations_cost_nothing() -> None:
    citation = {"type": "char_location", "cited_text": "word " * 100}
    marked = {**text("Hi"), "cache_control": {"type": "ephemeral"}, "citations": [citation]}

    assert cost(marked) == cost(text("Hi"))
    assert NEW.tool({**WEATHER, "cache_control": {"type": "ephemeral"}}) == NEW.tool(WEATHER)


def test_shown_thinking_costs_its_text_and_hidden_thinking_its_length() -> None:
    words = "First I look at the tests, then at the code that they cover. " * 20
    shown = {"type": "thinking", "thinking": words, "signature": "s" * 1800}
    omitted = {"type": "thinking", "thinking": "", "signature": "s" * 8392}
    redacted = {"type": "redacted_thinking", "data": "s" * 8392}

    assert cost(shown) == cost(text(words))
    assert not is_rough(shown)
    assert 1500 < cost(omitted) < 2600  # 2,079 were billed for a signature of this length
    assert cost(omitted) == cost(redacted)
    assert is_rough(omitted)


def test_a_text_document_costs_its_text_and_a_little() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "A line of text.\n" * 40}
    document = {"type": "document", "source": source}
    parts = {"type": "content", "content": [text(source["data"])]}

    assert 20 <= cost(document) - cost(text(source["data"])) <= 50
    assert cost({**document, "source": parts}) == cost(document)
    assert cost({**document, "title": "Lines of text"}) > cost(document)
    assert not is_rough(document)


def test_citations_make_a_document_dearer_and_rough() -> None:
    document = {"type": "document", "source": {"type": "text", "data": "A line."}}
    cited = {**document, "citations": {"enabled": True}}

    assert cost(cited) > cost(document) + 300
    assert is_rough(cited)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "search_result", "source": "s", "title": "t", "content": [text("found " * 30)]},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": [{"type": "web_search_result", "url": "u", "encrypted_content": "x" * 900}],
        },
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {"type": "web_search_tool_result_error", "error_code": "too_many_requests"},
        },
        {
            "type": "code_execution_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {"type": "code_execution_result", "stdout": "1\n" * 30, "content": []},
        },
        {"type": "container_upload", "file_id": "file_011CNha8iCJcU1wXNR6q4V8w"},
        {"type": "something_new", "payload": {"deep": ["value"] * 30}},
        {"no": "type"},
        "a string among blocks",
    ],
    ids=lambda block: str(block)[:60],
)
def test_what_nobody_can_see_through_is_counted_and_marked(block: Any) -> None:
    assert cost(block) > 0
    assert is_rough(block)


def test_the_providers_own_tools_have_their_published_cost() -> None:
    bash = {"type": "bash_20250124", "name": "bash"}

    assert (OLD.tool(bash).tokens, NEW.tool(bash).tokens) == (244, 325)
    assert NEW.tool(bash).rough
    assert NEW.tool({"type": "web_search_20260318", "name": "web_search"}).rough


def test_a_deferred_tool_costs_nothing_until_it_is_found() -> None:
    assert NEW.tool({**WEATHER, "defer_loading": True}).tokens == 0
    assert NEW.tool({**WEATHER, "type": "custom"}) == NEW.tool(WEATHER)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=6,
)
KINDS = st.sampled_from(
    [
        "text",
        "image",
        "document",
        "search_result",
        "thinking",
        "redacted_thinking",
        "tool_use",
        "server_tool_use",
        "tool_result",
        "web_search_tool_result",
        "web_search_result",
        "web_fetch_result",
        "code_execution_result",
        "mcp_tool_result",
        "compaction",
        "unheard_of",
    ]
)
FIELDS = st.sampled_from(
    [
        "text",
        "source",
        "data",
        "content",
        "thinking",
        "signature",
        "name",
        "input",
        "title",
        "context",
        "citations",
        "encrypted_content",
        "stdout",
        "url",
        "id",
        "type",
    ]
)
BLOCKS = st.builds(
    lambda kind, fields: {**fields, "type": kind}, KINDS, st.dictionaries(FIELDS, JSON, max_size=6)
)
ANYTHING = BLOCKS | JSON


@settings(max_examples=150, deadline=None)
@given(st.lists(ANYTHING, max_size=4))
def test_no_block_is_too_strange_to_be_counted(blocks: list[Any]) -> None:
    assert NEW.message("user", blocks).tokens >= 0


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(FIELDS | st.just("input_schema"), JSON, max_size=5))
def test_no_tool_is_too_strange_to_be_counted(definition: dict[str, Any]) -> None:
    assert NEW.tool(definition).tokens >= 0


def test_depth_is_no_matter() -> None:
    nested: Any = "bottom"
    for _ in range(100_000):
        nested = [nested]
    results: Any = text("bottom")
    for _ in range(500):
        results = {"type": "tool_result", "content": [results]}

    assert cost({"type": "unheard_of", "value": nested}) > 0
    assert cost({"type": "tool_use", "name": "n", "input": {"key": nested}}) > 0
    assert cost(results) > 0


MESSAGES = st.lists(
    st.tuples(st.sampled_from(["user", "assistant"]), st.text(max_size=50) | st.lists(BLOCKS)),
    max_size=4,
)


@settings(max_examples=100, deadline=None)
@given(
    model=st.sampled_from(["claude-opus-5", "claude-haiku-4-5", "claude-opus-4-7", "unknown"]),
    system=st.lists(st.text(max_size=80), max_size=3),
    described=st.lists(st.text(max_size=80), max_size=3),
    messages=MESSAGES,
    choice=st.sampled_from([None, {"type": "any"}, {"type": "auto"}]),
)
def test_a_request_is_the_sum_of_its_parts(
    model: str,
    system: list[str],
    described: list[str],
    messages: list[tuple[str, Any]],
    choice: dict[str, Any] | None,
) -> None:
    estimator = estimator_for(model)
    tools = [{**WEATHER, "name": f"t{i}", "description": each} for i, each in enumerate(described)]
    body = {
        "model": model,
        "system": [text(each) for each in system],
        "tools": tools,
        "tool_choice": choice,
        "messages": [{"role": role, "content": content} for role, content in messages],
    }

    parts = [estimator.system_block(each) for each in system]
    parts += [estimator.tool(each) for each in tools]
    parts += [
        estimator.message(role, [text(content)] if isinstance(content, str) else content)
        for role, content in messages
    ]
    framing = estimator.framing(model, has_tools=bool(tools), tool_choice=choice)

    assert sum(part.tokens for part in parts) + framing == estimator.request(body)


def test_the_parts_of_a_large_agent_are_all_counted() -> None:
    schema = {"type": "object", "properties": {f"field_{i}": {"type": "string"} for i in range(70)}}
    tools = [{**WEATHER, "name": f"tool_{i}", "input_schema": schema} for i in range(40)]
    assert 1_900 < len(json.dumps(schema)) < 3_000

    assert sum(NEW.tool(tool).tokens for tool in tools) > 10_000


def test_a_system_prompt_may_be_one_text() -> None:
    body = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "Hi"}]}

    alone, as_text = NEW.request(body), NEW.request({**body, "system": "Be brief."})

    assert as_text == NEW.request({**body, "system": [text("Be brief.")]})
    assert as_text == alone + NEW.system_block("Be brief.").tokens


def test_no_unmeasured_image_costs_more_than_the_dearest_one() -> None:
    tier = facts_for("unknown").image_tier

    assert cost({"type": "image"}) <= largest_image_tokens(tier)
