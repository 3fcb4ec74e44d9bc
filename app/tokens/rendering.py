"""What of a request becomes text for the model, and what costs tokens beside text.

A rendering is independent of a tokenizer family's figures, so that the same code serves the
estimate and the fit of the figures (bench/fit_estimator.py).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from app.domain.catalogue import ImageTier
from app.domain.images import image_header
from app.tokens.calibration import Overhead
from app.tokens.documents import read_pdf
from app.tokens.images import image_tokens, largest_image_tokens, typical_image_tokens

# Encrypted content holds its text and some more: hidden tokens were seen to grow with the
# characters beyond these.
_OPAQUE_FRAME = 200
_LARGEST_DEPTH = 32  # of blocks within blocks; deeper ones are counted as their text

# In a block of unknown type, what looks like the bytes of a file. It is counted as a large
# picture: as text it would be out of all proportion.
_FILE_CHARACTERS = 4096
_FILE = re.compile(r"(?:data:[^,]{0,200},)?[A-Za-z0-9+/_\-\r\n]+={0,2}\s*")


class Rendering:
    """Texts, and costs beside them. `rough` where one of them is a guess."""

    def __init__(self, tier: ImageTier) -> None:
        self.tier = tier
        self.texts: list[str] = []
        self.overheads: Counter[Overhead] = Counter()
        self.tokens = 0  # known without a family's figures
        self.rough = False

    def blocks(self, content: Any, depth: int = 0) -> None:
        """Add a text, or a list of content blocks."""
        if isinstance(content, str):
            self.texts.append(content)
        elif isinstance(content, Sequence) and not isinstance(content, (bytes, bytearray)):
            for block in content:
                self.block(block, depth)
        elif content is not None:
            self.block(content, depth)

    def block(self, block: Any, depth: int = 0) -> None:
        """Add one content block of the Messages API; one of unknown type by its JSON."""
        kind = block.get("type") if isinstance(block, Mapping) else None
        add = _ADD.get(kind) if isinstance(kind, str) and depth < _LARGEST_DEPTH else None
        if add is None and isinstance(kind, str) and kind.endswith("_tool_result"):
            add = Rendering._server_tool_result
        if add is None:
            self._unknown(block)
        else:
            add(self, block, depth)

    def tool(self, definition: Mapping[str, Any]) -> None:
        """Add a tool definition as the provider writes it into the prompt, closely enough."""
        self.overheads["tool"] += 1
        described = {
            "description": definition.get("description", ""),
            "name": definition.get("name"),
            "parameters": definition.get("input_schema"),
        }
        if examples := definition.get("input_examples"):
            described["input_examples"] = examples
        self.texts.append(json_text(described))

    def _text(self, block: Mapping[str, Any], _depth: int) -> None:
        # Citations are sent back free of charge.
        self._as_text(block.get("text"))

    def _image(self, block: Mapping[str, Any], _depth: int) -> None:
        source = block.get("source")
        header = image_header(source.get("data")) if isinstance(source, Mapping) else None
        self.overheads["image"] += 1
        if header is not None and header.size is not None:
            self.tokens += image_tokens(*header.size, self.tier)
        else:
            self.rough = True
            self.tokens += typical_image_tokens(self.tier)

    def _document(self, block: Mapping[str, Any], depth: int) -> None:
        self.overheads["document"] += 1
        self._as_text(block.get("title"))
        self._as_text(block.get("context"))
        citations = block.get("citations")
        if isinstance(citations, Mapping) and citations.get("enabled"):
            self.overheads["citations"] += 1
            self.rough = True
        source = block.get("source")
        self._source(source if isinstance(source, Mapping) else {}, depth)

    def _source(self, source: Mapping[str, Any], depth: int) -> None:
        kind = source.get("type")
        if kind == "text":
            self._as_text(source.get("data"))
        elif kind == "content":
            self.blocks(source.get("content"), depth + 1)
        else:  # a PDF in base64; by URL or file id nothing of it is known
            self.rough = True
            pdf = read_pdf(source.get("data"))
            self.texts.append(pdf.text)
            self.overheads["pdf_page"] += pdf.pages
            self.overheads["unread_byte"] += pdf.unread_characters

    def _search_result(self, block: Mapping[str, Any], depth: int) -> None:
        self.overheads["document"] += 1
        self.rough = True
        self._as_text(block.get("title"))
        self._as_text(block.get("source"))
        self.blocks(block.get("content"), depth + 1)

    def _thinking(self, block: Mapping[str, Any], _depth: int) -> None:
        """The text where it is whole, the hidden text where a summary or nothing is shown."""
        text, signature = block.get("thinking"), block.get("signature")
        hidden = _opaque_characters(signature)
        if isinstance(text, str) and len(text) >= hidden / 2:
            self.texts.append(text)
        else:
            self._opaque(hidden)

    def _redacted_thinking(self, block: Mapping[str, Any], _depth: int) -> None:
        self._opaque(_opaque_characters(block.get("data")))

    def _opaque(self, characters: int) -> None:
        self.overheads["opaque_character"] += characters
        self.rough = True

    def _tool_use(self, block: Mapping[str, Any], _depth: int) -> None:
        self.overheads["tool_use"] += 1
        self._as_text(block.get("name"))
        arguments = block.get("input")
        if not isinstance(arguments, Mapping):
            self._as_text(arguments)
            return
        for key, value in arguments.items():
            self.overheads["tool_use_key"] += 1
            self.texts.append(str(key))
            self.texts.append(value if isinstance(value, str) else json_text(value))

    def _tool_result(self, block: Mapping[str, Any], depth: int) -> None:
        self.overheads["tool_result"] += 1
        self.blocks(block.get("content"), depth + 1)

    def _server_tool_result(self, block: Mapping[str, Any], depth: int) -> None:
        self.rough = True
        self._tool_result(block, depth)

    def _web_search_result(self, block: Mapping[str, Any], _depth: int) -> None:
        self._as_text(block.get("title"))
        self._as_text(block.get("url"))
        self._opaque(_opaque_characters(block.get("encrypted_content")))

    def _web_fetch_result(self, block: Mapping[str, Any], depth: int) -> None:
        self._as_text(block.get("url"))
        self.blocks(block.get("content"), depth + 1)

    def _output(self, block: Mapping[str, Any], depth: int) -> None:
        """What a program printed, and the files that it made."""
        self._as_text(block.get("stdout"))
        self._as_text(block.get("stderr"))
        self.blocks(block.get("content"), depth + 1)

    def _compaction(self, block: Mapping[str, Any], _depth: int) -> None:
        self._as_text(block.get("content"))

    def _as_text(self, value: Any) -> None:
        if isinstance(value, str):
            self.texts.append(value)
        elif value is not None:
            self._unknown(value)

    def _unknown(self, value: Any) -> None:
        self.rough = True
        text = json_text(value)
        for file in _files(value) if len(text) > _FILE_CHARACTERS else ():
            text = text.replace(json_text(file)[1:-1], "")
            self.tokens += largest_image_tokens(self.tier)
        self.texts.append(text)


_ADD: Mapping[str, Callable[[Rendering, Mapping[str, Any], int], None]] = {
    "text": Rendering._text,
    "image": Rendering._image,
    "document": Rendering._document,
    "search_result": Rendering._search_result,
    "thinking": Rendering._thinking,
    "redacted_thinking": Rendering._redacted_thinking,
    "tool_use": Rendering._tool_use,
    "server_tool_use": Rendering._tool_use,
    "mcp_tool_use": Rendering._tool_use,
    "tool_result": Rendering._tool_result,
    "mcp_tool_result": Rendering._tool_result,
    "web_search_result": Rendering._web_search_result,
    "web_fetch_result": Rendering._web_fetch_result,
    "code_execution_result": Rendering._output,
    "bash_code_execution_result": Rendering._output,
    "compaction": Rendering._compaction,
}


def json_text(value: Any) -> str:
    """JSON with a blank behind colons and commas; of what JSON cannot hold, its texts."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return " ".join(_leaves(value))


def _leaves(value: Any) -> list[str]:
    """Every key and every plain value, however deep, in no particular order."""
    found, waiting = [], [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Mapping):
            waiting.extend(each.keys())
            waiting.extend(each.values())
        elif isinstance(each, (list, tuple)):
            waiting.extend(each)
        else:
            found.append(str(each))
    return found


def _files(value: Any) -> list[str]:
    """The strings within `value` that look like a file in base64."""
    long = (text for text in _leaves(value) if len(text) > _FILE_CHARACTERS)
    return [text for text in long if _FILE.fullmatch(text)]


def _opaque_characters(encrypted: Any) -> int:
    return max(0, len(encrypted) - _OPAQUE_FRAME) if isinstance(encrypted, str) else 0
