"""One content block at a time: from what sources hold to what the Messages API takes.

Known blocks keep the fields that the API knows, in the order of the source. Blocks of a type
that hango does not know are kept as they are: the API adds types without a new version.
Sources: the block table of the Messages API reference, and of the Python SDK 2.14.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from app.domain.jsontext import dumps
from app.domain.messages import Block
from app.domain.validity import check_blocks
from app.errors import Fault
from app.importers.documents import parse_text
from app.importers.media import placeholder, tidy_document, tidy_image
from app.importers.names import ToolNames, plain_id
from app.importers.report import Tally, kind
from app.importers.shapes import list_of, text_of

BROKEN_ARGUMENTS = "raw_arguments"  # the key that keeps arguments which are no JSON object

NO_ID = "call"  # of a call without one, until it is made unique

_FIELDS: dict[str, tuple[str, ...]] = {
    "text": ("text", "citations"),
    "image": ("source", "transformations"),
    "document": ("source", "title", "context", "citations"),
    "search_result": ("source", "title", "content", "citations"),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input", "caller", "toolset_name"),
    "tool_result": ("tool_use_id", "content", "is_error", "toolset_name"),
    "server_tool_use": ("id", "name", "input", "caller"),
    "container_upload": ("file_id",),
}
_KNOWN_WHOLE = {  # known, but passed on field by field as the provider gave them
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
}
_USER_ONLY = {"image", "document", "search_result", "tool_result", "container_upload"}
_ASSISTANT_ONLY = {"thinking", "redacted_thinking", "tool_use", "server_tool_use"}
_SYSTEM = {"text", "tool_addition", "tool_removal"}
_IN_RESULTS = {"text", "image", "document", "search_result", "tool_reference", "browser_state"}


@dataclass(frozen=True, slots=True)
class Tidier:
    """Makes the blocks of one conversation sendable, and counts what it changes."""

    tally: Tally
    names: ToolNames
    tools: frozenset[str]  # the names, as renamed, of the tools that will be sent

    def blocks(self, role: str, blocks: Iterable[Any], *, foreign: bool = False) -> list[Block]:
        """The blocks of one message. `foreign`: no Claude model can read its thinking."""
        tidy = (out for block in blocks for out in self._block(role, block, foreign))
        return [
            out for block in tidy for out in self._taken(block, check_blocks(role, [block], ""))
        ]

    def _taken(self, block: Block, faults: Sequence[Fault]) -> Iterator[Block]:
        """The last word: what the provider refuses whatever stands around it is left out."""
        if not faults:
            yield block
            return
        self.tally.drop(f"refused:{faults[0].code}")
        if block["type"] in ("image", "document"):
            yield placeholder(block["type"])

    def _block(self, role: str, block: Any, foreign: bool) -> Iterator[Block]:
        if isinstance(block, str):
            block = {"type": "text", "text": block}
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            self.tally.drop("block_without_type")
            return
        block = self._without_marks(block)
        name = block["type"]
        if name in ("thinking", "redacted_thinking"):
            if self._can_think(block, foreign):
                yield from self._placed(role, self._known(block))
        elif name in _FIELDS:
            yield from self._placed(role, self._known(block))
        elif name == "compaction":  # those with a text were made summaries before
            self.tally.drop("compaction_without_text")
        else:
            if name not in _KNOWN_WHOLE:
                self.tally.keep(f"block:{kind(name)}")
            yield block

    def _placed(self, role: str, block: Block) -> Iterator[Block]:
        name = block["type"]
        allowed = {"user": _ASSISTANT_ONLY, "assistant": _USER_ONLY}.get(role)
        if (name not in _SYSTEM) if allowed is None else (name in allowed):
            self.tally.drop(f"{name}_in_{kind(role)}_message")
            return
        tidy: dict[str, Callable[[Block], Block | None]] = {
            "image": lambda block: tidy_image(block, self.tally),
            "document": lambda block: tidy_document(block, self.tally),
            "tool_use": self._tool_use,
            "tool_result": self._tool_result,
            "text": lambda block: self._text(role, block),
            "search_result": self._search_result,
        }
        done = tidy[name](block) if name in tidy else block
        if done is not None:
            yield done

    def _text(self, role: str, block: Block) -> Block | None:
        text = block.get("text")
        if not isinstance(text, str) or not text.strip():
            self.tally.repair("empty_text_dropped")
            return None
        if role != "assistant" and block.get("citations"):
            self.tally.repair("user_citations_dropped")
        if role != "assistant" or not block.get("citations"):
            block = {key: value for key, value in block.items() if key != "citations"}
        return block

    def _search_result(self, block: Block) -> Block | None:
        content = block.get("content")
        texts = self.blocks("user", list_of(content))
        if not texts:
            self.tally.drop("search_result_without_content")
            return None
        return {**block, "content": texts}

    def _tool_use(self, block: Block) -> Block:
        given = block.get("id")
        block["id"] = self._id(given)
        block["name"] = self.names.of(block.get("name"))
        block["input"] = arguments(block.get("input"), self.tally)
        return block

    def _tool_result(self, block: Block) -> Block:
        given = block.get("tool_use_id")
        block["tool_use_id"] = self._id(given)
        if block.get("is_error") is None:
            block.pop("is_error", None)
        content = block.get("content")
        if isinstance(content, list):
            block["content"] = self._result_content(content)
        elif content is None:
            block.pop("content", None)
        elif not isinstance(content, str):
            self.tally.repair("result_made_text")
            block["content"] = _as_text(content)
        return block

    def _result_content(self, content: Iterable[Any]) -> list[Block]:
        found = (out for item in content for out in self._in_result(item))
        return [out for item in found for out in self._taken(item, _faults_in_result(item))]

    def _in_result(self, item: Any) -> Iterator[Block]:
        name = item.get("type") if isinstance(item, dict) else None
        if isinstance(item, str) or name in ("text", "image", "document", "search_result"):
            yield from self._block("user", item, foreign=False)
        elif name == "tool_reference":
            yield self._reference(self._without_marks(item))
        elif text_of(name) in _IN_RESULTS:
            yield self._without_marks(item)
        else:
            self.tally.repair("result_made_text")
            yield {"type": "text", "text": _as_text(item)}

    def _reference(self, item: Block) -> Block:
        """A reference to a tool that is sent; a text in place of any other."""
        name = self.names.of(item.get("tool_name") or item.get("name"))
        if name in self.tools:
            return {**item, "tool_name": name}
        self.tally.repair("tool_reference_made_text")
        return {"type": "text", "text": f"[tool reference: {name}]"}

    def _can_think(self, block: Block, foreign: bool) -> bool:
        proof = "signature" if block["type"] == "thinking" else "data"
        has_proof = isinstance(block.get(proof), str) and bool(block[proof])
        if foreign:
            self.tally.drop("thinking_of_another_provider")
        elif not has_proof:
            self.tally.drop(f"thinking_without_{proof}")
        return has_proof and not foreign

    def _known(self, block: Block) -> Block:
        fields = _FIELDS[block["type"]]
        known = {key: value for key, value in block.items() if key == "type" or key in fields}
        self.tally.drop("unknown_block_fields", len(block) - len(known))
        if known.get("caller") is None:
            known.pop("caller", None)
        return known

    def _id(self, source: Any) -> str:
        plain = plain_id(source) if isinstance(source, str) and source else NO_ID
        if plain != source:
            self.tally.repair("tool_id_renamed")
        return plain

    def _without_marks(self, block: Block) -> Block:
        if "cache_control" not in block:
            return dict(block)
        self.tally.repair("cache_marks_removed")
        return {key: value for key, value in block.items() if key != "cache_control"}


def arguments(given: Any, tally: Tally) -> dict[str, Any]:
    """The input of a call as an object; what is none is kept as it was, under one key."""
    if isinstance(given, str) and given.strip():
        parsed = parse_text(given)
        given = parsed if isinstance(parsed, dict) else given
    if isinstance(given, dict):
        return given
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}
    tally.repair("broken_arguments_kept")
    return {BROKEN_ARGUMENTS: given}


def _faults_in_result(item: Block) -> Sequence[Fault]:
    result = {"type": "tool_result", "tool_use_id": NO_ID, "content": [item]}
    return check_blocks("user", [result], "")


def _as_text(value: Any) -> str:
    from_object = value.get("text") if isinstance(value, dict) else None
    return from_object if isinstance(from_object, str) else dumps(value)
