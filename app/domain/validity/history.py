"""The order of messages: who follows whom, and every tool call with its one answer.

The provider joins neighbours of one role before it looks, so a turn may be several messages: the
results of parallel calls may lie in several rows, and an assistant's turn too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from app.domain.blocks import SERVER
from app.domain.messages import MessageRef, NewMessage
from app.domain.validity.findings import REPAIRED
from app.errors import Fault

_UNANSWERED = "Give each tool_use its tool_result in the next user message, before any text."


class HistoryCheck:
    """Follows a history message by message, in the order of `seq`.

    Holds no more than the present turn, the calls without an answer, and the ids in use: it can
    start at any user message. With `strict` it also finds what the chain repairs in each request.
    """

    def __init__(self, *, strict: bool = False, used: Iterable[str] = ()) -> None:
        """`used`: ids of calls that stand anywhere before, so that none comes twice."""
        self._strict = strict
        self._before = frozenset(call.removeprefix(SERVER) for call in used)
        self._used = set(self._before)
        self._open: dict[str, str] = {}  # calls for the user to answer → where they stand
        self._server: dict[str, str] = {}  # calls that the provider still answers
        self._answered: set[str] = set()  # in this user turn
        self._beside: str | None = None  # where this user turn has something else than results
        self._role = ""  # of the last message
        self._speaker = ""  # of the last message that is not the system's
        self._marks: list[str] = []  # of the last message
        self._at = ""

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The tool_use ids that wait for a tool_result from the user, in their order."""
        return tuple(self._open)

    def feed(
        self,
        role: str,
        tool_use_ids: str = "",
        tool_result_ids: str = "",
        marks: str = "",
        at: str = "",
    ) -> list[Fault]:
        """Take the next message, as its row indexes it. `at` is its path.

        A fault does not spoil what comes after: the check goes on as if it were repaired.
        """
        found = list(self._placement(role, marks.split(), at))
        if role == "assistant":
            found += self._assistant(tool_use_ids.split(), tool_result_ids.split(), at)
        elif role == "user":
            found += self._user(tool_result_ids.split(), marks.split(), at)
        self._role, self._marks, self._at = role, marks.split(), at
        if role != "system":
            self._speaker = role
        return self._wanted(found)

    def finish(self, *, open_end: bool = False) -> list[Fault]:
        """End the history here. With `open_end`, its last calls may still wait for results.

        A call that the provider itself answers may always be open at the end of the assistant's
        turn: sending it again resumes the turn.
        """
        if self._open and (not open_end or self._beside is not None):
            return list(self._unanswered(self._beside or self._at))
        return []

    def _placement(self, role: str, marks: Sequence[str], at: str) -> Iterator[Fault]:
        if not self._role:
            yield from _first(role, marks, at)
            return
        if "compaction" in marks or self._is_behind_compaction(role):
            yield Fault(at, "compaction_place", "A compaction block is the whole first turn.")
        if role == "system" and not self._takes_system:
            yield Fault(at, "system_msg_place", "A system message follows the user's turn.")
        if role == "user" and self._role == "system":
            yield Fault(self._at, "system_msg_place", "The assistant's turn follows it.")
        if role != "assistant" and self._role == "assistant" and "ends_thinking" in self._marks:
            yield Fault(self._at, "thinking_last", "A turn cannot end with thinking.")

    def _is_behind_compaction(self, role: str) -> bool:
        return role == self._role == "assistant" and "compaction" in self._marks

    @property
    def _takes_system(self) -> bool:
        if self._role == "assistant":
            return not self._open and "ends_server_result" in self._marks
        return not self._open

    def _assistant(self, calls: list[str], results: list[str], at: str) -> Iterator[Fault]:
        if self._speaker == "user":
            yield from self._unanswered(at)
            self._open.clear()
            self._beside = None
        for call in calls:
            name = call.removeprefix(SERVER)
            if name in self._used:
                yield Fault(at, "tool_use_id_twice", f"The id {name} is in use; give it another.")
            self._used.add(name)
            (self._server if call.startswith(SERVER) else self._open)[call] = at
        for result in results:
            name = result.removeprefix(SERVER)
            if self._server.pop(result, None) is None and name not in self._before:
                yield Fault(at, "server_result_orphan", f"No server tool was called by {name}.")

    def _user(self, results: list[str], marks: Sequence[str], at: str) -> Iterator[Fault]:
        if self._speaker == "assistant":
            self._answered.clear()
        if results and (self._beside is not None or "results_late" in marks):
            yield Fault(at, "tool_result_not_first", "Results stand before anything else.")
        for result in results:
            if self._open.pop(result, None) is not None:
                self._answered.add(result)
            elif result in self._answered:
                yield Fault(at, "tool_result_twice", f"{result} has its result already.")
            else:
                yield Fault(at, "tool_result_orphan", f"The turn before has no call {result}.")
        if not results or "beside_results" in marks:
            yield from self._other_content(at)

    def _other_content(self, at: str) -> Iterator[Fault]:
        self._beside = at
        if self._server:
            yield Fault(
                at, "text_after_result_server", "A server tool is still running: results only."
            )
            self._server.clear()

    def _unanswered(self, at: str) -> Iterator[Fault]:
        for call, stands_at in self._open.items():
            yield Fault(stands_at or at, "tool_use_unanswered", f"{call}: {_UNANSWERED}")

    def _wanted(self, found: list[Fault]) -> list[Fault]:
        return found if self._strict else [fault for fault in found if fault.code not in REPAIRED]


def check_history(
    refs: Iterable[MessageRef], *, open_end: bool = False, strict: bool = False
) -> list[Fault]:
    """What keeps these messages from being sent one after the other; `at` is the part's id."""
    check = HistoryCheck(strict=strict)
    faults: list[Fault] = []
    fed = False
    for ref in refs:
        fed = True
        faults += check.feed(ref.role, ref.tool_use_ids, ref.tool_result_ids, ref.marks, ref.part)
    if not fed:
        return [Fault("messages", "messages_empty", "At least one message is needed.")]
    return faults + check.finish(open_end=open_end)


def is_plainly_valid(kept: Sequence[MessageRef], left_out: Sequence[MessageRef]) -> bool:
    """Whether what is left of a valid history is valid for a reason that is cheap to see.

    It starts with the user, calls and results left in pairs (a replacement touches neither), and
    there is no message whose place matters otherwise: the system's, and a provider's own
    compaction.
    """
    calls = {call for each in left_out for call in each.tool_use_ids.split()}
    results = {call for each in left_out for call in each.tool_result_ids.split()}
    return (
        bool(kept)
        and kept[0].role == "user"
        and calls == results
        and "system" not in {each.role for each in kept}
        and not any("compaction" in each.marks for each in kept if each.marks)
    )


def check_appended(
    tail: Iterable[MessageRef], used: Iterable[str], new: Sequence[NewMessage], at: str = "messages"
) -> list[Fault]:
    """What keeps `new` from being appended; `at` is the path of their list.

    `tail` holds the last stored messages, from a user message before the last assistant turn on
    (nothing in a new session), `used` those of the new messages' ids, of calls and of results,
    that calls of the session already have.
    """
    check = HistoryCheck(used=used)
    for ref in tail:
        check.feed(ref.role, ref.tool_use_ids, ref.tool_result_ids, ref.marks)
    faults: list[Fault] = []
    for index, message in enumerate(new):
        faults += check.feed(
            message.role,
            message.tool_use_ids,
            message.tool_result_ids,
            message.marks,
            f"{at}[{index}]",
        )
    return faults + check.finish(open_end=True)


def _first(role: str, marks: Sequence[str], at: str) -> Iterator[Fault]:
    if role == "assistant" and "compaction" not in marks:
        yield Fault(at, "first_not_user", "Start with a user message.")
    if role == "system":
        yield Fault(at, "first_not_user", "A system message needs a user message before it.")
