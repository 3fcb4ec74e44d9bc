"""What two answers say differently: their texts word by word, their tool calls as a set. Pure.

`before` is the baseline's answer, `after` that of the try that is looked at.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from rapidfuzz.distance import LCSseq

AnswerChange = Literal["same", "text", "tool_calls"]
Content = Sequence[Mapping[str, Any]]

# Words, and each sign of a script that puts no blanks between its words.
_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|\w+|\s+|.", re.DOTALL)
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_WHOLE = re.compile(r".+", re.DOTALL)
# How many pairs of pieces are compared: it costs a bit of memory each, so 50 MB at most.
_MOST_PAIRS = 400_000_000
_MOST_SIMILAR = 0.999  # of texts that are not the same: a rounded 1 would deny the difference


class Hunk(msgspec.Struct, frozen=True):
    """A piece of text that both have, or that stands in one for what stands in the other."""

    op: Literal["equal", "insert", "delete", "replace"]
    before: str
    after: str


class ToolCall(msgspec.Struct, frozen=True):
    """A call that an answer asks for. Its id is new each time and says nothing."""

    name: str
    input: Any


class ToolCallsDiff(msgspec.Struct, frozen=True):
    """Tool calls by name and input, whatever their order."""

    same: int
    before: Sequence[ToolCall]  # those that only this side asks for
    after: Sequence[ToolCall]


class Likeness(msgspec.Struct, frozen=True):
    """How far two answers are alike. Thinking is not compared: it differs each time."""

    change: AnswerChange  # tool calls outweigh the text
    similarity: float  # of the texts, 0 to 1: the share of words in common, in their order


class AnswerDiff(Likeness, frozen=True):
    """What was answered differently."""

    text: Sequence[Hunk]
    tool_calls: ToolCallsDiff


def answers_differ(before: Content, after: Content) -> AnswerDiff:
    """Compare the content blocks of two answers."""
    calls = _tool_calls_differ(before, after)
    old, new = text_of(before), text_of(after)
    like = _likeness(old, new, calls)
    return AnswerDiff(like.change, like.similarity, hunks(old, new), calls)


def likeness(before: Content, after: Content) -> Likeness:
    """The same without the pieces, which cost most."""
    return _likeness(text_of(before), text_of(after), _tool_calls_differ(before, after))


def _likeness(before: str, after: str, calls: ToolCallsDiff) -> Likeness:
    change: AnswerChange = "same" if before == after else "text"
    if calls.before or calls.after:
        change = "tool_calls"
    return Likeness(change, similarity(before, after))


def text_of(content: Content) -> str:
    """What an answer says to people."""
    return "\n\n".join(str(each["text"]) for each in content if each.get("type") == "text")


def similarity(before: str, after: str) -> float:
    """The share of words that two texts have in common, in their order: 0 to 1, three digits.

    1 only for texts that are the same.
    """
    if before == after:
        return 1.0
    old, new = _words(before), _words(after)
    share = 2 * LCSseq.similarity(old, new) / (len(old) + len(new)) if old or new else 1.0
    return min(round(share, 3), _MOST_SIMILAR)


def hunks(before: str, after: str) -> list[Hunk]:
    """The two texts as pieces, which put together give either of them again.

    Pieces are words; in texts of very many words lines, or the whole of them.
    """
    old, new = _pieces(before, after)
    found: list[Hunk] = []
    for each in LCSseq.opcodes(old, new):
        was = "".join(old[each.src_start : each.src_end])
        now = "".join(new[each.dest_start : each.dest_end])
        _add(found, was, now, is_equal=each.tag == "equal")
    return found


def _pieces(before: str, after: str) -> tuple[list[str], list[str]]:
    for pattern in (_WORDS, _LINES, _WHOLE):
        old, new = pattern.findall(before), pattern.findall(after)
        if len(old) * len(new) <= _MOST_PAIRS:
            break
    return old, new


def _add(found: list[Hunk], was: str, now: str, *, is_equal: bool) -> None:
    """Put a piece behind the others; changes next to each other, or nearly, become one."""
    if is_equal:
        found.append(Hunk("equal", was, now))
        return
    # A blank or a comma alone between two changes is no common text that people would see.
    if len(found) > 1 and found[-1].op == "equal" and not re.search(r"\w", found[-1].before):
        between = found.pop()
        was, now = between.before + was, between.after + now
    if found and found[-1].op != "equal":
        last = found.pop()
        was, now = last.before + was, last.after + now
    op: Literal["insert", "delete", "replace"] = "replace" if was and now else "delete"
    found.append(Hunk(op if was else "insert", was, now))


def _words(text: str) -> list[str]:
    return [each for each in _WORDS.findall(text) if not each.isspace()]


def _tool_calls_differ(before: Content, after: Content) -> ToolCallsDiff:
    old, new = [*_tool_calls(before)], [*_tool_calls(after)]
    spare_old, spare_new = Counter(map(_key, old)), Counter(map(_key, new))
    common = spare_old & spare_new
    return ToolCallsDiff(
        common.total(), _beyond(old, Counter(common)), _beyond(new, Counter(common))
    )


def _tool_calls(content: Content) -> Iterator[ToolCall]:
    for each in content:
        if each.get("type") == "tool_use":
            yield ToolCall(str(each.get("name")), each.get("input"))


def _beyond(calls: Iterable[ToolCall], common: Counter[bytes]) -> list[ToolCall]:
    """Those that are not among the common ones, of which each stands for one call."""
    found = []
    for each in calls:
        if common[_key(each)] > 0:
            common[_key(each)] -= 1
        else:
            found.append(each)
    return found


def _key(call: ToolCall) -> bytes:
    """The same for every order of the input's keys."""
    return msgspec.json.encode([call.name, call.input], order="sorted")
