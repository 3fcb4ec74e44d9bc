"""The built-in tools as a run gets them from the chain."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.chain.capture import capture
from app.chain.final_tools import with_final_tools
from app.chain.handlers.delegation import MAX_DEPTH
from app.chain.handlers.todos import MAX_TODO_CHARACTERS, MAX_TODOS
from app.chain.skills_in_use import SkillsInUse, in_use_after
from app.chain.stack import Reads, Workbench, default_chain
from app.domain.agents import Subagent
from app.domain.overrides import NO_OVERRIDES, Override, OverrideSet
from app.domain.ports import Skill
from app.domain.requests import RunState
from app.domain.tools import ToolCall, ToolOutcome
from app.tokens.estimator import estimator_for
from tests.fakes.workspace import MemoryWorkspace
from tests.history import NOWHERE, Pages, Shelf, Thoughts, an_agent, history, user

ESTIMATOR = estimator_for("claude-sonnet-4-5")
TALK = [user("hi")]
SCOUT = Subagent(name="scout", description="Looks around.", system_prompt="Look.")
REVIEW = Skill("review", "How to review.", "Read it twice.", ("read_file", "grep"), 2)
DEPLOY = Skill("deploy", "How to ship.", "Ship it.", ("write_file",), 1)
PLAIN = Skill("plain", "No tools named.", "Just do it.", None, 1)
SHELF = Shelf(skills=[DEPLOY, PLAIN, REVIEW])


class Saved:
    def __init__(self, *overrides: Override) -> None:
        self._set = OverrideSet(overrides) if overrides else NO_OVERRIDES

    def for_run(self, agent_id: UUID, session_id: UUID) -> OverrideSet:
        return self._set


class Echo:
    """A delegate that answers with what it was asked."""

    def __init__(self, depth: int = 0) -> None:
        self.depth = depth

    def run(self, helper: Subagent, prompt: str, call: ToolCall) -> ToolOutcome:
        return ToolOutcome(f"{helper.name} of {call.id}: {prompt}")


class Run:
    """One run through the real chain, which is asked for its request as often as it is wanted."""

    def __init__(self, *overrides: Override, workbench: Workbench | None = None, **agent) -> None:
        reads = Reads(SHELF, Saved(*overrides), Thoughts(), Pages(TALK, ESTIMATOR))
        self._chain = default_chain(reads, ESTIMATOR, workbench)
        self._state = RunState(an_agent(**agent), NOWHERE, history(TALK, ESTIMATOR))
        self._chain.before_run(self._state)

    def request(self):
        return self._chain.model_call(self._state, capture)

    def names(self) -> set[str]:
        return {tool.name for tool in self.request().tools}

    def call(self, name: str, /, **values) -> ToolOutcome:
        return run_tool(self.request(), name, **values)


def run_tool(request, name: str, /, **values) -> ToolOutcome:
    [handler] = [tool.handler for tool in request.tools if tool.name == name]
    return handler(ToolCall("t1", name, values))


def at_work(workspace=None, delegate=None, **changes) -> Run:
    bench = Workbench(workspace or MemoryWorkspace(), delegate)
    return Run(workbench=bench, subagents=(SCOUT,), **changes)


def test_inspect_and_a_run_send_the_same_tools():
    inspected, running = Run(subagents=(SCOUT,)).request(), at_work().request()

    assert [tool.definition for tool in inspected.tools] == [
        tool.definition for tool in running.tools
    ]
    assert inspected.system == running.system


def test_in_a_run_every_built_in_tool_can_be_carried_out():
    assert all(tool.handler for tool in at_work().request().tools)


def test_a_file_that_is_written_can_be_found_read_and_edited():
    run = at_work()

    run.call("write_file", path="/a.md", content="old\n")
    run.call("edit_file", path="/a.md", old_text="old", new_text="new")

    assert run.call("ls").content == "/a.md  4 bytes"
    assert run.call("glob", pattern="*.md").content == "/a.md"
    assert run.call("grep", text="new").content == "/a.md:1: new"
    assert run.call("read_file", path="/a.md").content.startswith("     1\tnew\n")


DENSE = ["word and code();\n", "漢字の行です。\n", "x = {'a': 1, \"b\": [2, 3]}\n", "\n", "😀" * 99]


@pytest.mark.parametrize("text", DENSE, ids=["words", "han", "code", "newlines", "emoji"])
def test_no_answer_is_longer_than_a_tool_result_may_be(text):
    files = {f"/{n}": text * 20_000 for n in range(3)} | {
        f"/{text[:99].strip()}{n}": "" for n in range(500)
    }
    run = at_work(MemoryWorkspace(files))

    for outcome in (
        run.call("read_file", path="/1", limit=2_000),
        run.call("grep", text=text[0].strip() or " "),
        run.call("glob", pattern="**"),
        run.call("ls"),
    ):
        assert ESTIMATOR.system_block(outcome.content).tokens <= 15_000


def test_a_page_is_filled_as_far_as_it_may_be():
    run = at_work(MemoryWorkspace({"/a": "x = {'a': 1, \"b\": [2, 3]}\n" * 9_000}))

    page = run.call("read_file", path="/a", limit=2_000).content

    assert ESTIMATOR.system_block(page).tokens > 13_000
    assert "Go on with offset=" in page


class TestTodos:
    def test_the_list_is_replaced_and_shown(self):
        workspace = MemoryWorkspace()
        todos = [
            {"content": " Look ", "status": "completed"},
            {"content": "Do", "status": "in_progress"},
        ]

        said = at_work(workspace).call("write_todos", todos=todos).content

        assert said == "The list has 2 items:\n1. [completed] Look\n2. [in_progress] Do"
        assert [(each.content, each.status) for each in workspace.todos] == [
            ("Look", "completed"),
            ("Do", "in_progress"),
        ]

    def test_an_empty_list_is_a_list(self):
        assert at_work().call("write_todos", todos=[]).content == "The list is empty."

    @pytest.mark.parametrize(
        ("todos", "why"),
        [
            ([{"content": "\n ", "status": "pending"}], "todos[0].content is empty"),
            ([{"content": "x" * (MAX_TODO_CHARACTERS + 1), "status": "pending"}], "longer than"),
            ([{"content": "x", "status": "pending"}] * (MAX_TODOS + 1), "at most 100 items"),
            ([{"content": "x", "status": "doing"}], "one of pending, in_progress, completed"),
            ("x", "has to be a list"),
        ],
    )
    def test_what_is_no_list_is_refused_and_the_old_one_stays(self, todos, why):
        workspace = MemoryWorkspace()
        run = at_work(workspace)
        run.call("write_todos", todos=[{"content": "Stay", "status": "pending"}])

        outcome = run.call("write_todos", todos=todos)

        assert outcome.is_error
        assert why in outcome.content
        assert [each.content for each in workspace.todos] == ["Stay"]


class TestSkills:
    def test_a_skill_is_read_in_full_and_tells_which_tools_stay(self):
        assert at_work().call("read_skill", name="review").content == (
            "Skill review, version 2. For it you keep these tools: read_file, grep, read_skill."
            "\n\nRead it twice."
        )
        assert at_work().call("read_skill", name="plain").content == (
            "Skill plain, version 1.\n\nJust do it."
        )

    def test_an_unknown_one_is_answered_with_those_that_there_are(self):
        outcome = at_work().call("read_skill", name="Review")

        assert outcome.is_error
        assert outcome.content.endswith("only deploy, plain, review.")

    def test_in_use_it_narrows_the_tools_from_the_next_call_on(self):
        run = at_work()
        before = run.names()

        run.call("read_skill", name="review")

        assert run.names() == {"read_file", "grep", "read_skill"} < before

    def test_a_second_one_adds_its_own_tools_in_whatever_order(self):
        runs = at_work(), at_work()
        for run, names in zip(runs, (["review", "deploy"], ["deploy", "review"]), strict=True):
            for name in names:
                run.call("read_skill", name=name)

        for run in runs:
            assert run.names() == {"read_file", "grep", "write_file", "read_skill"}

    def test_one_that_names_no_tools_neither_narrows_nor_widens(self):
        run = at_work()
        everything = run.names()

        run.call("read_skill", name="plain")
        assert run.names() == everything
        run.call("read_skill", name="review")
        run.call("read_skill", name="plain")
        assert run.names() == {"read_file", "grep", "read_skill"}

    def test_an_excluded_tool_never_comes_back_by_it(self):
        bench = Workbench(MemoryWorkspace())
        run = Run(Override("tool:grep", "exclude"), workbench=bench)

        run.call("read_skill", name="review")

        assert run.names() == {"read_file", "read_skill"}

    def test_a_tool_that_is_not_there_is_not_brought_in(self):
        run = at_work(middleware={"filesystem": False})

        run.call("read_skill", name="review")

        assert run.names() == {"read_skill"}

    def test_a_forced_choice_of_a_tool_that_is_gone_is_let_go(self):
        run = at_work(tool_choice={"type": "tool", "name": "write_file"})

        run.call("read_skill", name="review")

        assert run.request().tool_choice == {"type": "auto"}

    def test_a_call_stays_what_it_was_when_its_tools_have_run(self):
        run = at_work()
        request = run.request()
        before = with_final_tools(request, NO_OVERRIDES)

        run_tool(request, "read_skill", name="review")

        assert with_final_tools(request, NO_OVERRIDES).tools == before.tools

    def test_another_run_begins_with_all_tools(self):
        at_work().call("read_skill", name="review")

        assert "write_file" in at_work().names()

    def test_turns_with_a_chain_each_share_what_is_in_use(self):
        bench = Workbench(MemoryWorkspace(), skills_in_use=SkillsInUse())

        Run(workbench=bench).call("read_skill", name="review")

        assert Run(workbench=bench).names() == {"read_file", "grep", "read_skill"}

    def test_what_is_in_use_can_be_told_from_a_runs_messages(self):
        def read(call_id, name):
            given = {"name": name} if name else "broken"
            return {"type": "tool_use", "id": call_id, "name": "read_skill", "input": given}

        failed = {"type": "tool_result", "tool_use_id": "b", "is_error": True, "content": "no"}
        messages = [
            [{"type": "text", "text": "review"}, read("a", "review"), read("b", "deploy")],
            [{"type": "tool_result", "tool_use_id": "a", "content": "ok"}, failed],
            [read("c", None), read("d", "gone")],
        ]

        in_use = in_use_after(messages, [REVIEW, DEPLOY, PLAIN])

        assert in_use.narrowing().allowed == {"read_file", "grep", "read_skill"}

    def test_a_skill_of_megabytes_is_cut_and_says_so(self):
        long = Skill("long", "Too long.", "x" * 2_000_000, None, 1)
        reads = Reads(Shelf(skills=[long]), Saved(), Thoughts(), Pages(TALK, ESTIMATOR))
        chain = default_chain(reads, ESTIMATOR)
        state = RunState(an_agent(), NOWHERE, history(TALK, ESTIMATOR))
        chain.before_run(state)
        [tool] = [t for t in chain.model_call(state, capture).tools if t.name == "read_skill"]

        said = tool.handler(ToolCall("t1", "read_skill", {"name": "long"})).content

        assert ESTIMATOR.system_block(said).tokens <= 15_000
        assert said.endswith(" more characters.]")


class TestHelpers:
    def test_its_answer_is_what_the_call_comes_to(self):
        outcome = at_work(delegate=Echo()).call("task", helper="scout", prompt="Go.")

        assert outcome == ToolOutcome("scout of t1: Go.")

    @pytest.mark.parametrize(
        ("delegate", "helper", "prompt", "why"),
        [
            (None, "scout", "Go.", "cannot be run here"),
            (Echo(), "Scout", "Go.", "only scout"),
            (Echo(), "scout", " \n", "prompt is empty"),
            (Echo(MAX_DEPTH), "scout", "Go.", "too many deep"),
        ],
    )
    def test_what_cannot_be_handed_out_is_told(self, delegate, helper, prompt, why):
        outcome = at_work(delegate=delegate).call("task", helper=helper, prompt=prompt)

        assert outcome.is_error
        assert why in outcome.content

    def test_the_deepest_level_that_may_have_helpers_has_them(self):
        run = at_work(delegate=Echo(MAX_DEPTH - 1))

        assert not run.call("task", helper="scout", prompt="Go.").is_error
