"""Data exports of chat products, eval logs and trajectories."""

from __future__ import annotations

import json

from app.importers.reader import read
from tests.unit.importers.sources import blocks, faults, read_data, read_json, shape, source, texts


def node(name, parent, role, *parts, **message):
    """A node of ChatGPT's tree."""
    content = message.pop("content", {"content_type": "text", "parts": list(parts)})
    said = {"author": {"role": role}, "content": content, "recipient": "all", **message}
    return {name: {"id": name, "parent": parent, "children": [], "message": said}}


def chat(*nodes, current):
    mapping = {key: value for each in nodes for key, value in each.items()}
    for key, value in mapping.items():
        if value["parent"] in mapping:
            mapping[value["parent"]]["children"].append(key)
    return {"title": "A chat", "mapping": mapping, "current_node": current, "id": "chat"}


def test_the_visible_branch_of_a_chat_is_imported_and_the_others_counted():
    imported = read_json(
        [
            chat(
                node("a", None, "user", "hi"),
                node("b", "a", "assistant", "first"),
                node("c", "a", "assistant", "second"),
                current="c",
            )
        ]
    )
    assert texts(imported) == ["hi", "second"]
    assert imported.report["branch"] == {"other_branches": 1, "messages_on_other_branches": 1}
    assert (imported.title, imported.source_session_id) == ("A chat", "chat")


def test_code_for_a_tool_and_its_output_are_a_pair():
    code = {"content_type": "code", "text": "1 + 1"}
    output = {"content_type": "execution_output", "text": "2"}
    imported = read_json(
        [
            chat(
                node("a", None, "user", "add"),
                node("b", "a", "assistant", "Sure."),
                node("c", "b", "assistant", content=code, recipient="python"),
                node("d", "c", "tool", content=output),
                node("e", "d", "assistant", "Two."),
                current="e",
            )
        ]
    )
    assert shape(imported) == [
        ("user", ["add"]),
        ("assistant", ["Sure.", "c"]),
        ("user", ["c"]),
        ("assistant", ["Two."]),
    ]
    assert blocks(imported, "tool_use")[0]["input"] == {"code": "1 + 1"}
    assert faults(imported) == []


def test_images_thoughts_and_instructions_of_a_chat_have_their_places():
    image = {"content_type": "image_asset_pointer", "width": 8, "height": 6}
    context = {"content_type": "user_editable_context", "user_instructions": "Be kind."}
    imported = read_json(
        [
            chat(
                node("a", None, "user", content=context),
                node("b", "a", "user", image, "look"),
                node("c", "b", "assistant", content={"content_type": "thoughts", "thoughts": []}),
                node("d", "c", "assistant", "nice"),
                current="d",
            )
        ]
    )
    assert imported.system_blocks == ["Be kind."]
    assert texts(imported) == ["[image 8×6: not in the import]", "look", "nice"]


def test_one_file_of_many_chats_gives_many_sessions():
    chats = [chat(node("a", None, "user", str(n)), current="a") for n in range(3)]
    empty = chat(node("a", None, "user", ""), current="a")
    found = read_data(json.dumps([*chats, empty]))
    assert [texts(each) for each in found] == [["0"], ["1"], ["2"]]
    assert found[0].report["conversations_without_a_message"] == 1


def test_results_in_an_answer_of_claude_ai_split_it():
    content = [
        {"type": "text", "text": "Looking.", "start_timestamp": "x"},
        {"type": "tool_use", "id": "t", "name": "search", "input": {}},
        {"type": "tool_result", "tool_use_id": "t", "content": []},
        {"type": "text", "text": "Found."},
    ]
    notes = {"file_name": "notes.txt", "extracted_content": "a note"}
    imported = read_json(
        {
            "uuid": "c",
            "name": "Search",
            "chat_messages": [
                {"uuid": "1", "sender": "human", "text": "hi", "attachments": [notes]},
                {"uuid": "2", "sender": "assistant", "text": "flat", "content": content},
            ],
        }
    )
    assert [message.role for message in imported.messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert texts(imported) == ["hi", "Looking.", "Found."]
    assert blocks(imported, "document")[0]["source"]["data"] == "a note"
    assert faults(imported) == []


def test_an_eval_log_gives_what_was_sent_with_its_attachments():
    [imported] = read([source("inspect-ai/01-images-tools.json")])
    assert imported.system_blocks[0].strip().startswith("For the following exercise")
    assert blocks(imported, "image")[0]["source"]["media_type"] == "image/png"
    assert imported.title == "images 1 (epoch 1)"


def test_demonstrations_are_no_part_of_a_trajectory():
    imported = read_json(
        {
            "trajectory": [],
            "history": [
                {"role": "system", "content": "s"},
                {"role": "user", "content": "an example", "is_demo": True},
                {"role": "user", "content": "the task"},
            ],
        }
    )
    assert imported.format == "swe-agent"
    assert texts(imported) == ["the task"]
