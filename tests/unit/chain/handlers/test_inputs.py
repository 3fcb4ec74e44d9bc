from __future__ import annotations

import inspect

import pytest

from app.chain.handlers.answers import Answers
from app.chain.handlers.files import FileTools
from app.chain.handlers.inputs import checked, checked_input
from app.chain.handlers.search import SearchTools
from app.chain.handlers.todos import TodoTools
from app.chain.prompts import definitions_of
from app.domain.tools import ToolCall, ToolError
from app.tokens.estimator import estimator_for
from tests.fakes.workspace import MemoryWorkspace

BY_NAME = {
    each["name"]: each
    for name in ("todo", "filesystem", "subagents", "skills")
    for each in definitions_of(name)
}


def refused(tool, given):
    with pytest.raises(ToolError) as caught:
        checked_input(BY_NAME[tool], given)
    return str(caught.value)


def test_what_is_right_comes_through_as_it_is():
    given = {"path": "/a", "offset": 3, "limit": 10}

    assert checked_input(BY_NAME["read_file"], given) == given


@pytest.mark.parametrize("value", [3.0, "3", True, None, [3]])
def test_a_number_has_to_be_a_whole_one_and_no_truth_value(value):
    said = refused("read_file", {"path": "/a", "offset": value})

    assert "offset has to be a whole number" in said


@pytest.mark.parametrize("value", [1, 0, "true", None])
def test_a_truth_value_is_not_guessed(value):
    given = {"path": "/a", "old_text": "x", "new_text": "y", "replace_all": value}

    assert "replace_all has to be true or false" in refused("edit_file", given)


def test_everything_that_is_wrong_is_named_at_once():
    said = refused("edit_file", {"old_text": 1, "old_string": "x"})

    assert "there is no input old_string, only path, old_text, new_text, replace_all" in said
    assert "path, new_text is missing" in said
    assert "old_text has to be a text" in said


def test_what_is_wrong_inside_a_list_is_named_by_its_place():
    todos = [{"content": "a", "status": "pending"}, {"content": "b", "status": "done"}, {}]

    said = refused("write_todos", {"todos": todos})

    assert "todos[1].status has to be one of pending, in_progress, completed" in said
    assert "content, status is missing in todos[2]" in said


@pytest.mark.parametrize("given", ["{", None, [], 7])
def test_an_input_that_is_no_object_is_refused(given):
    assert "has to be an object" in refused("ls", given)


def test_what_cannot_be_stored_is_cleaned():
    given = {"path": "/a", "content": "x\0y\ud800z"}

    assert checked_input(BY_NAME["write_file"], given)["content"] == "x\ufffdy\ufffdz"


def test_a_refusal_is_short_whatever_was_sent():
    huge = "x" * 2_000_000

    assert len(refused("ls", {"path": [huge]})) < 200
    assert len(refused("ls", {huge: 1})) < 200
    assert len(refused("write_todos", {"todos": [huge] * 7})) < 400


def test_an_input_of_endless_depth_is_refused():
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    assert "nested too deeply" in refused("write_todos", {"todos": deep})


def test_what_goes_wrong_is_told_to_the_model_and_raised_to_nobody():
    def fail(path="/"):
        raise ToolError("Not today.")

    outcome = checked(BY_NAME["ls"], fail)(ToolCall("t1", "ls", {}))

    assert (outcome.content, outcome.is_error) == ("Not today.", True)


def test_the_tools_take_what_their_definitions_say_with_the_same_defaults():
    workspace = MemoryWorkspace()
    answers = Answers(1000, estimator_for("claude-sonnet-4-5"))
    functions = (
        FileTools(workspace, answers).by_name()
        | SearchTools(workspace, answers).by_name()
        | TodoTools(workspace).by_name()
    )

    for name, function in functions.items():
        schema = BY_NAME[name]["input_schema"]
        taken = inspect.signature(function).parameters
        assert list(taken) == list(schema["properties"]), name
        for each, parameter in taken.items():
            required = each in schema.get("required", ())
            assert (parameter.default is inspect.Parameter.empty) is required, (name, each)
            if "default" in schema["properties"][each]:
                assert parameter.default == schema["properties"][each]["default"]

    assert {each["name"] for each in definitions_of("filesystem")} | {"write_todos"} == set(
        functions
    )
