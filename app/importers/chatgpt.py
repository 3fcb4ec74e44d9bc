"""The data export of ChatGPT: trees of messages, of which the visible branch is the chat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.domain.messages import Block
from app.importers.documents import Document
from app.importers.draft import Draft, Turn
from app.importers.media import placeholder
from app.importers.models import plain_model
from app.importers.report import Tally, kind
from app.importers.shapes import dict_of, list_of, text_of

_HIDDEN = ("thoughts", "reasoning_recap")
_CONTEXT = ("user_editable_context", "model_editable_context")


def is_export(document: Document) -> bool:
    """Whether it holds chats as trees."""
    return any(_is_chat(record) for record in document.records)


def drafts(documents: Sequence[Document]) -> list[Draft]:
    """One for each chat."""
    return [_draft(chat) for document in documents for chat in document.records if _is_chat(chat)]


def _is_chat(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("mapping"), dict) and "current_node" in value


def _draft(chat: Mapping[str, Any]) -> Draft:
    tree = {key: node for key, node in chat["mapping"].items() if isinstance(node, dict)}
    path = _path(tree, chat.get("current_node"))
    reader = _Reader(Tally())
    for node in path:
        message = tree[node].get("message")
        if isinstance(message, dict):
            reader.read(message, node)
    beside = [key for key, node in tree.items() if isinstance(node.get("message"), dict)]
    reader.tally.facts["branch"] = {
        "other_branches": sum(max(len(list_of(tree[key].get("children"))) - 1, 0) for key in path),
        "messages_on_other_branches": len(set(beside) - set(path)),
    }
    title, session = chat.get("title"), chat.get("conversation_id") or chat.get("id")
    return Draft(
        format="chatgpt-export",
        turns=reader.turns,
        tally=reader.tally,
        title=text_of(title) or "",
        model=plain_model(reader.model),
        system=reader.system,
        source_session_id=text_of(session),
        last_record_id=path[-1] if path else None,
        has_definitions=False,
    )


def _path(tree: dict[str, dict[str, Any]], node: Any) -> list[str]:
    """From the root to the current node; where none is named, to the last one in the file."""
    at = node if text_of(node) in tree else next(reversed(tree), None)
    path: list[str] = []
    seen: set[str] = set()
    while isinstance(at, str) and at in tree and at not in seen:
        seen.add(at)
        path.append(at)
        at = tree[at].get("parent")
    return path[::-1]


@dataclass(slots=True)
class _Reader:
    """Collects turns; calls have no ids in the export, so that each result answers the last."""

    tally: Tally
    turns: list[Turn] = field(default_factory=list)
    system: list[str] = field(default_factory=list)
    model: str | None = None
    open_call: str | None = None

    def read(self, message: Mapping[str, Any], node: str) -> None:
        """Add one message of the tree."""
        content = dict_of(message.get("content"))
        author = dict_of(message.get("author"))
        role, name = author.get("role"), content.get("content_type")
        self.tally.record(f"{role}:{name}")
        self._note_model(message)
        if text_of(name) in _HIDDEN:
            self.tally.drop("reasoning_of_another_provider")
        elif text_of(name) in _CONTEXT or role == "system":
            self.system += [text for text in _texts(content) if text.strip()]
        elif role == "assistant":
            self._assistant(message, content, node)
        elif role == "tool":
            self._tool(author, content)
        else:
            self.turns.append(Turn(role="user", blocks=list(self._blocks(content))))

    def _assistant(self, message: Mapping[str, Any], content: dict[str, Any], node: str) -> None:
        recipient = message.get("recipient")
        if not isinstance(recipient, str) or recipient == "all":
            blocks = list(self._blocks(content))
        else:
            code = "\n".join(_texts(content))
            blocks = [{"type": "tool_use", "id": node, "name": recipient, "input": {"code": code}}]
            self.open_call = node
        self.turns.append(Turn(role="assistant", blocks=blocks))

    def _tool(self, author: Mapping[str, Any], content: dict[str, Any]) -> None:
        result: Block = {
            "type": "tool_result",
            "tool_use_id": self.open_call or f"call-of-{kind(author.get('name'))}",
            "content": list(self._blocks(content)),
        }
        if content.get("content_type") == "system_error":
            result["is_error"] = True
        self.open_call = None
        self.turns.append(Turn(role="user", blocks=[result]))

    def _blocks(self, content: Mapping[str, Any]) -> Iterator[Block]:
        for part in list_of(content.get("parts")):
            if isinstance(part, dict) and not isinstance(part.get("text"), str):
                self.tally.drop("image_not_in_the_export")
                yield placeholder(f"image {part.get('width')}×{part.get('height')}")
        for text in _texts(content):
            if text.strip():
                yield {"type": "text", "text": text}

    def _note_model(self, message: Mapping[str, Any]) -> None:
        slug = dict_of(message.get("metadata")).get("model_slug")
        if isinstance(slug, str) and dict_of(message.get("author")).get("role") == "assistant":
            self.model = slug
            self.tally.model(slug)


def _texts(content: Mapping[str, Any]) -> list[str]:
    parts = list_of(content.get("parts"))
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    keys = ("text", "result", "user_profile", "user_instructions", "model_set_context")
    texts += [content.get(key) for key in keys]
    return [text for text in texts if isinstance(text, str)]
