"""Session files of Claude Code: branches, pieces, compactions, subagents."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile

import pytest

from app.importers.reader import read
from app.importers.values import ParentLink, SourceFile
from tests.unit.importers.sources import (
    answered,
    blocks,
    call,
    faults,
    read_lines,
    record,
    result,
    said,
    shape,
    source,
    text,
    texts,
    typed,
)

MAIN = "claude-code/15-subagent/main.jsonl"
AGENT = "claude-code/15-subagent/main/subagents/agent-a21e2f5.jsonl"
BOUNDARY = {"type": "system", "subtype": "compact_boundary", "sessionId": "s", "parentUuid": None}
USAGE = {"input_tokens": 3, "cache_creation_input_tokens": 40, "cache_read_input_tokens": 500}


def test_the_pieces_of_an_answer_are_one_message():
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", text("one"), of="m"),
        said("c", "b", call("t"), of="m"),
        answered("d", "c", "t"),
    )
    assert shape(imported) == [("user", ["hi"]), ("assistant", ["one", "t"]), ("user", ["t"])]
    assert imported.report["repaired"] == {"records_joined_to_messages": 1}


def test_a_block_that_was_recorded_twice_comes_once():
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", text("one"), of="m"),
        said("c", "b", text("one"), text("two"), of="m"),
    )
    assert texts(imported) == ["hi", "one", "two"]


@pytest.mark.parametrize("second_parent", ["b", "c"], ids=["own call", "chained"])
def test_parallel_calls_are_whole_in_both_layouts(second_parent):
    """Results hang on one another, or each on its own call's record: a walk would miss some."""
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", call("t1"), of="m"),
        said("c", "b", call("t2"), of="m"),
        answered("d", second_parent, "t1"),
        answered("e", "c" if second_parent == "b" else "d", "t2"),
        said("f", "e", text("done"), of="n"),
    )
    assert shape(imported)[1:3] == [("assistant", ["t1", "t2"]), ("user", ["t1", "t2"])]
    assert imported.report["branch"]["messages_on_other_branches"] == 0


def test_the_branch_that_ends_last_is_taken():
    [imported] = read([source("claude-code/18-rewind-fork.jsonl")])
    assert texts(imported)[-2] == "Branch 2 start"
    assert "Branch 1 start" not in texts(imported)
    assert imported.report["branch"] == {"other_branches": 1, "messages_on_other_branches": 3}


def test_a_missing_parent_falls_back_to_the_order_of_the_file():
    [imported] = read_lines(
        typed("a", None, "one"),
        said("b", "a", text("two"), of="m"),
        typed("c", "in another file", "three"),
        said("d", "c", text("four"), of="n"),
    )
    assert texts(imported) == ["one", "two", "three", "four"]


def test_records_without_links_are_read_in_the_order_of_the_file():
    [imported] = read([source("claude-code/16-golden-branches.jsonl")])
    assert len(blocks(imported, "tool_use")) == 4
    assert imported.report["kept_not_understood"]["record:sparkle-thing"] == 1
    assert imported.title == "Golden fixture session"


def test_a_compaction_leaves_a_summary_that_covers_what_was_before():
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", text("hello"), of="m"),
        {**BOUNDARY, "uuid": "c", "logicalParentUuid": "b"},
        typed("d", "c", "What was said so far.", isCompactSummary=True),
        typed("e", "d", "go on"),
    )
    assert (imported.summary.text, imported.summary.covers) == ("What was said so far.", 2)
    assert texts(imported) == ["hi", "hello", "go on"]
    assert faults(imported) == []


def test_an_open_call_before_a_compaction_is_closed_before_it():
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", call("t"), of="m"),
        {**BOUNDARY, "uuid": "c", "logicalParentUuid": "b"},
        typed("d", "c", "So far.", isCompactSummary=True),
        typed("e", "d", "go on"),
    )
    assert imported.summary.covers == 3
    assert shape(imported)[2:] == [("user", ["t"]), ("user", ["go on"])]
    assert faults(imported) == []


def test_a_summary_of_what_is_not_in_the_file_is_its_first_message():
    [imported] = read_lines(
        {**BOUNDARY, "uuid": "c", "logicalParentUuid": "elsewhere"},
        typed("d", "c", "So far.", isCompactSummary=True),
        said("e", "d", text("on we go"), of="m"),
    )
    assert imported.summary is None
    assert texts(imported) == ["So far.", "on we go"]


def test_summary_records_are_titles_and_only_of_this_session():
    own = {"type": "summary", "summary": "Mine", "leafUuid": "a"}
    other = {"type": "summary", "summary": "Another session's", "leafUuid": "z"}
    [imported] = read_lines(own, other, typed("a", None, "hi"))
    assert imported.title == "Mine"
    assert texts(imported) == ["hi"]


def test_errors_shown_as_answers_are_left_out():
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", text("API Error"), of="m", isApiErrorMessage=True),
        said("c", "b", text("No answer"), of="n", message={"model": "<synthetic>"}),
    )
    assert texts(imported) == ["hi"]
    assert imported.report["dropped"] == {"error_shown_as_answer": 2}


def test_thinking_without_a_signature_or_of_another_provider_is_dropped():
    def thinks(signature: str) -> dict[str, str]:
        return {"type": "thinking", "thinking": "hm", "signature": signature}

    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", thinks(""), thinks("c2ln"), text("one"), of="m"),
        typed("c", "b", "and"),
        said("d", "c", thinks("c2ln"), text("two"), of="n", message={"model": "glm-5"}),
    )
    assert [m.blocks[0]["type"] for m in imported.messages] == ["text", "thinking", "text", "text"]
    assert imported.report["dropped"] == {
        "thinking_of_another_provider": 1,
        "thinking_without_signature": 1,
    }


def test_usage_is_one_record_for_each_answer_and_final_only_with_a_stop_reason():
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", text("one"), of="m", message={"usage": {**USAGE, "output_tokens": 1}}),
        said("c", "b", call("t"), of="m", message={"usage": {**USAGE, "output_tokens": 9}}),
        answered("d", "c", "t"),
        said(
            "e",
            "d",
            text("end"),
            of="n",
            message={"usage": {**USAGE, "output_tokens": 7}, "stop_reason": "end_turn"},
        ),
    )
    assert [(use.message, use.output_tokens) for use in imported.usage] == [(1, None), (3, 7)]
    assert imported.report["first_call_input_tokens"] == 543


def test_what_the_recorder_added_is_told_from_what_the_user_typed():
    def attachment(uuid: str, parent: str, **fields: str) -> dict[str, object]:
        base = {"type": "attachment", "uuid": uuid, "parentUuid": parent, "sessionId": "s"}
        return {**base, "attachment": fields}

    [imported] = read_lines(
        typed("a", None, "hi"),
        attachment("b", "a", type="skill_listing", content="- skill"),
        attachment("c", "b", type="queued_command", prompt="and this"),
        attachment("d", "c", type="hook_success"),
        said("e", "d", text("yes"), of="m"),
    )
    assert imported.messages[0].blocks[2] == text("and this")
    assert "- skill" in imported.messages[0].blocks[1]["text"]
    assert imported.report["kept_not_understood"] == {"approximate_reminder:skill_listing": 1}
    assert imported.report["dropped"] == {"attachment:hook_success": 1}


def test_references_to_tools_that_are_not_known_become_text():
    found = [{"type": "tool_reference", "tool_name": "Grep"}]
    [imported] = read_lines(
        typed("a", None, "hi"),
        said("b", "a", call("t", "ToolSearch"), of="m"),
        record("user", "c", "b", [result("t", found)]),
    )
    [block] = blocks(imported, "tool_result")
    assert block["content"] == [text("[tool reference: Grep]")]
    assert imported.tools == []
    assert imported.report["tools"] == {
        "count": 0,
        "in_the_source": False,
        "names": ["Grep", "ToolSearch"],
    }


def test_sidechains_in_the_file_become_sessions_linked_to_their_calls():
    main, *agents = read([source("claude-code/07-cjk-sidechain.jsonl")])
    calls = {block["id"]: block["input"].get("prompt") for block in blocks(main, "tool_use")}
    assert len(agents) == 2
    for agent in agents:
        assert agent.parent.source_session_id == main.source_session_id
        assert calls[agent.parent.tool_use_id] == texts(agent)[0]
    assert main.report["subagents"]["linked_to_a_call"] == 2


def test_a_subagents_own_file_is_linked_by_its_id():
    main, agent = read([source(AGENT), source(MAIN)])
    [started] = [block["id"] for block in blocks(main, "tool_use")]
    assert agent.parent == ParentLink(main.source_session_id, started, "a21e2f5")
    assert agent.source_session_id != main.source_session_id


def test_a_subagents_file_alone_is_a_session():
    [agent] = read([source(AGENT)])
    assert agent.parent.tool_use_id is None
    assert faults(agent) == []


def test_agents_that_claude_code_runs_for_itself_are_not_listed():
    compaction = source("claude-code/21-compaction-agent.jsonl")
    session = source("claude-code/01-compacted-middle.jsonl")
    [imported] = read([session, compaction])
    assert imported.parent is None
    assert imported.report["subagents"]["internal_left_out"] == 1
    [alone] = read([compaction])
    assert faults(alone) == []


def _zipped(*names: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, source(name).data)
        archive.writestr("notes.txt", "nothing to import")
    return packed.getvalue()


def _tarred(*names: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(source(name).data)
            archive.addfile(entry, io.BytesIO(source(name).data))
    return packed.getvalue()


@pytest.mark.parametrize("packed", [_zipped, _tarred])
def test_an_archive_of_a_session_is_the_session(packed):
    expected = [each.fingerprint for each in read([source(MAIN), source(AGENT)])]
    found = read([SourceFile("session", packed(MAIN, AGENT))])
    assert [each.fingerprint for each in found] == expected


def test_a_grown_file_is_the_same_session_with_another_last_record():
    data = source("claude-code/03-image-paste.jsonl").data
    lines = data.splitlines(keepends=True)
    [before] = read([SourceFile("a", b"".join(lines[:-4]))])
    [after] = read([SourceFile("a", data)])
    assert before.source_session_id == after.source_session_id
    assert before.last_record_id != after.last_record_id
    assert before.fingerprint != after.fingerprint


def test_the_same_words_in_another_session_are_another_import():
    [one] = read_lines(typed("a", None, "hi"))
    [other] = read_lines(typed("a", None, "hi", sessionId="another"))
    assert one.content_hash == other.content_hash
    assert one.fingerprint != other.fingerprint


def test_bookkeeping_that_is_added_changes_nothing():
    data = source("claude-code/03-image-paste.jsonl").data
    note = json.dumps({"type": "last-prompt", "sessionId": "s"}).encode()
    [before], [after] = read([SourceFile("a", data)]), read([SourceFile("a", data + note)])
    assert before.fingerprint == after.fingerprint


def test_records_that_a_resumed_session_copied_come_once():
    first = [typed("a", None, "hi"), said("b", "a", text("yes"), of="m")]
    more = [typed("c", "b", "and"), said("d", "c", text("no"), of="n")]
    [imported] = read_lines(*first, *first, *more)
    assert texts(imported) == ["hi", "yes", "and", "no"]
    assert imported.report["dropped"] == {"repeated_records": 2}


def test_a_broken_copy_of_a_record_gives_way_to_a_whole_one_and_no_other():
    broken = typed("a", None, "hi")
    broken["message"] = "error"
    [imported] = read_lines(broken, typed("a", None, "hi"), typed("a", None, "changed"))
    assert texts(imported) == ["hi"]


def test_stream_json_knows_its_subagents_by_the_call():
    def line(kind: str, content: list[object], **more: object) -> dict[str, object]:
        message = {"role": kind, "content": content, "id": str(content)[:20]}
        return {"type": kind, "session_id": "s", "message": message, **more}

    main, agent = read_lines(
        {"type": "system", "subtype": "init", "session_id": "s", "tools": ["Task"]},
        line("user", [text("hi")]),
        line("assistant", [call("t", "Task", prompt="look")]),
        line("user", [text("look")], parent_tool_use_id="t"),
        line("assistant", [text("seen")], parent_tool_use_id="t"),
        line("user", [result("t")]),
    )
    assert main.format == "claude-code-stream-json"
    assert shape(main) == [("user", ["hi"]), ("assistant", ["t"]), ("user", ["t"])]
    assert (texts(agent), agent.parent.tool_use_id) == (["look", "seen"], "t")
