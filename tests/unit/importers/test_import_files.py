"""Every recorded file: what holds for all formats."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

from app.errors import ImportRefused
from app.importers.reader import read
from app.importers.values import SourceFile
from tests.unit.importers.sources import FILES, LINES, ROOT, blocks, faults, read_data, source


@pytest.mark.parametrize("name", FILES)
def test_a_file_becomes_histories_that_can_be_sent(name):
    for imported in read([source(name)]):
        assert imported.messages
        assert faults(imported) == []


@pytest.mark.parametrize("name", FILES)
def test_the_same_file_twice_is_the_same(name):
    first, again = read([source(name)]), read([source(name)])
    assert [each.fingerprint for each in first] == [each.fingerprint for each in again]
    assert len({each.fingerprint for each in first}) == len(first)


@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("tenths", range(1, 10))
def test_a_file_cut_off_anywhere_imports(name, tenths):
    lines = (ROOT / name).read_bytes().splitlines(keepends=True)
    lines = lines[: max(len(lines) * tenths // 10, 1)]
    if not any(b'"role":' in line for line in lines):
        with pytest.raises(ImportRefused):
            read_data(b"".join(lines))
        return
    for imported in read_data(b"".join(lines)):
        assert faults(imported) == []


@pytest.mark.parametrize("name", LINES)
def test_a_last_line_cut_in_the_middle_is_counted(name):
    data = (ROOT / name).read_bytes().rstrip()
    kept = data[: data.rindex(b"\n") + 20]
    first = read_data(kept)[0]
    assert faults(first) == []
    if first.format.startswith("claude-code") and first.parent is None:
        assert first.report["dropped"]["bad_lines"] == 1


@pytest.mark.parametrize("name", FILES)
def test_the_report_is_json_without_content(name):
    for imported in read([source(name)]):
        report = json.dumps(imported.report)
        assert not re.search(r"@|\bsk-|Bearer|x-api-key|/Users/|/home/", report)
        for block in blocks(imported, "text"):
            assert len(block["text"]) < 30 or block["text"] not in report


def _dumb_counts(name: str) -> Counter[str]:
    """Calls and results of a JSON Lines file, each id once, by looking at nothing else."""
    found: dict[str, set[str]] = {"tool_use": set(), "tool_result": set(), "failed": set()}
    for line in (ROOT / name).read_text().splitlines():
        message = (json.loads(line) if line.startswith("{") else {}).get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else []:
            if isinstance(block, dict) and block.get("type") in found:
                found[block["type"]].add(block.get("id") or block["tool_use_id"])
                if block.get("is_error"):
                    found["failed"].add(block["tool_use_id"])
    return Counter({kind: len(ids) for kind, ids in found.items()})


@pytest.mark.parametrize("name", [name for name in LINES if "claude-code" in name])
def test_calls_and_results_agree_with_a_dumber_reader(name):
    found = read([source(name)])
    added = sum(each.report["repaired"].get("missing_result_added", 0) for each in found)
    orphans = sum(each.report["repaired"].get("orphan_result_made_text", 0) for each in found)
    dumb = _dumb_counts(name)
    assert sum(len(blocks(each, "tool_use")) for each in found) == dumb["tool_use"]
    assert (
        sum(len(blocks(each, "tool_result")) for each in found)
        == dumb["tool_result"] + added - orphans
    )
    assert sum(each.report["failed_results"] for each in found) == dumb["failed"] + added


@pytest.mark.parametrize(
    ("name", "messages", "calls"),
    [
        ("openai-chat/01-github-agent.json", [28], [58]),
        ("openai-chat/02-tau-bench-airline.json", [61, 17, 57], [20, 0, 14]),
        ("litellm/01-openhands-call.json", [13], [6]),
        ("agent-trajectory/01-swe-agent.traj.json", [23], [11]),
        ("langfuse/01-claude-agent.json", [4], [2]),
        ("langfuse/02-langgraph-python.json", [4], [1]),
        ("langsmith/01-openai-stream-runs.json", [2], [0]),
        ("langsmith/02-langchain-messages.json", [6], [2]),
        ("chatgpt-export/01-tree.json", [38], [11]),
        ("claude-ai-export/01.json", [4], [0]),
        ("inspect-ai/01-images-tools.json", [2], [0]),
        ("gateway-capture/01-tool-loop.jsonl", [7, 8], [2, 2]),
    ],
)
def test_messages_and_calls_of_the_other_formats(name, messages, calls):
    found = read([source(name)])
    assert [len(each.messages) for each in found] == messages
    assert [len(blocks(each, "tool_use")) for each in found] == calls


def test_the_name_of_a_file_means_nothing():
    data = (ROOT / "openai-chat/01-github-agent.json").read_bytes()
    [imported] = read([SourceFile("session.jsonl", data)])
    assert imported.format == "openai-chat"


def test_a_format_that_is_asked_for_is_the_only_one_tried():
    with pytest.raises(ImportRefused, match="import_refused") as refused:
        read([source("openai-chat/01-github-agent.json")], "claude-code")
    assert "claude-code" in refused.value.detail
    with pytest.raises(ImportRefused) as refused:
        read([source("openai-chat/01-github-agent.json")], "word-document")
    assert "openai-chat" in refused.value.detail
