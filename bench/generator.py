"""Sessions of any length, the same ones on every machine with the same Python.

Anthropic-style messages of 0.2 to 2 kB in a cycle of six: a user's text, an assistant's text with
a call, its result, a second call, its result, an assistant's text. Of the texts 45 % are prose and
25 % code, both cut from Python's own files; 15 % JSON, 8 % logs, 4 % Chinese, 3 % base64.
"""

from __future__ import annotations

import base64
import json
import os
import pydoc_data.topics
import random
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import count, islice
from pathlib import Path
from typing import Any

Message = dict[str, Any]

SEED = 7

# The first 16 hex digits of the SHA-256 over a session's compact JSON, as Python 3.11.7's own files
# make it. With another Python the prose and the code differ a little, and with them the hash.
KNOWN = {100: "4b271cc0399e404d", 1_000: "0e3597d7260f8af5", 10_000: "a7266b932e9b0b2c"}

_SOURCES = (
    "argparse.py", "ast.py", "asyncio/base_events.py", "collections/__init__.py", "dataclasses.py",
    "datetime.py", "difflib.py", "email/message.py", "http/client.py", "inspect.py",
    "json/decoder.py", "logging/__init__.py", "pathlib.py", "pickle.py", "shutil.py",
    "subprocess.py", "tarfile.py", "typing.py", "unittest/mock.py", "zipfile.py",
)  # fmt: skip

# Frequent Chinese characters.
_CJK = (
    "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而"
    "方后多定行学法所民得经十三之进着等部度家电力里如水化高自二理起小物现实加量都两体制机当使点从业本去把性好"
    "应开它合还因由其些然前外天政四日那社义事平形相全表间样与关各重新线内数正心反你明看原又么利比或但质气第向"
    "道命此变条只没结解问意建月公无系军很情者最立代想已通并提直题党程展五果料象员革位入常文总次品式活设及管特"
    "件长求老头基资边流路级少图山统接知较将组见计别她手角期根论运农指几九区强放决西被干做必战先回则任取据处理"
    "世车"
)

_TOOLS = ("read_file", "grep", "bash", "fetch")
_CYCLE = 6


def session(size: int, seed: int = SEED) -> list[Message]:
    """The first `size` messages, numbered by `seq` from 1."""
    return list(islice(_messages(random.Random(seed)), size))


def compact(messages: Sequence[Message]) -> bytes:
    """The JSON that the hashes are made over."""
    return json.dumps(messages, ensure_ascii=False, separators=(",", ":")).encode()


def digest(messages: Sequence[Message]) -> str:
    """How KNOWN names a session."""
    return sha256(compact(messages)).hexdigest()[:16]


def texts_of(message: Message) -> Iterator[str]:
    """The strings of a message that a model reads."""
    for block in message["content"]:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_use":
            yield block["name"]
            yield json.dumps(block["input"], ensure_ascii=False, separators=(",", ":"))
        else:
            yield from (each["text"] for each in block["content"])


def _messages(chance: random.Random) -> Iterator[Message]:
    """Draws in a fixed order: size, kind, then what the message itself needs."""
    call = ""
    for place in count():
        size = int(200 * 10 ** chance.random())
        kind = chance.choice(_KINDS)
        phase = place % _CYCLE
        if phase in (1, 3):
            call = f"toolu_{chance.getrandbits(64):016x}"
            before = [_text(_prose(chance, size // 2))] if phase == 1 else []
            blocks = [*before, _tool_use(chance, call, size)]
        elif phase in (2, 4):
            content = [_text(kind(chance, size))]
            blocks = [{"type": "tool_result", "tool_use_id": call, "content": content}]
        else:
            blocks = [_text(kind(chance, size))]
        role = "assistant" if phase in (1, 3, 5) else "user"
        yield {"role": role, "content": blocks, "seq": place + 1}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _tool_use(chance: random.Random, call: str, size: int) -> dict[str, Any]:
    name = chance.choice(_TOOLS)
    path = f"/src/{chance.randrange(99)}/file_{chance.randrange(999)}.py"
    query = _code(chance, max(40, size // 3))
    return {"type": "tool_use", "id": call, "name": name, "input": {"path": path, "query": query}}


def _cut(chance: random.Random, text: str, size: int) -> str:
    start = chance.randrange(len(text) - size - 1)
    return text[start : start + size]


def _prose(chance: random.Random, size: int) -> str:
    return _cut(chance, _all_prose(), size)


def _code(chance: random.Random, size: int) -> str:
    return _cut(chance, _all_code(), size)


@cache
def _all_prose() -> str:
    topics = pydoc_data.topics.topics
    return "\n".join(topics[name] for name in sorted(topics))


@cache
def _all_code() -> str:
    library = Path(os.__file__).parent
    return "\n".join((library / name).read_text(encoding="utf-8") for name in _SOURCES)


def _json(chance: random.Random, size: int) -> str:
    rows: list[str] = []
    while sum(map(len, rows)) < size:
        row = {
            "id": chance.randrange(10**6),
            "name": chance.choice(["alpha", "bravo", "charlie", "delta"]),
            "score": round(chance.random(), 6),
            "tags": [chance.choice(["red", "green", "blue"]) for _ in range(3)],
            "ok": chance.random() < 0.5,
        }
        rows.append(json.dumps(row))
    return "[\n" + ",\n".join(rows)[:size] + "\n]"


def _log(chance: random.Random, size: int) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) < size:
        lines.append(_log_line(chance))
    return "\n".join(lines)[:size]


def _log_line(chance: random.Random) -> str:
    draw = chance.randrange
    return (
        f"2026-0{draw(1, 10)}-{draw(1, 29):02d}T{draw(24):02d}:{draw(60):02d}:{draw(60):02d}"
        f".{draw(1000):03d}Z {chance.choice(['INFO', 'WARN', 'ERROR'])} worker-{draw(9)}"
        f" request_id={chance.getrandbits(32):08x} path=/v1/items/{draw(10**5)}"
        f" status={chance.choice([200, 201, 404, 500])} dur_ms={chance.random() * 900:.2f}"
    )


def _cjk(chance: random.Random, size: int) -> str:
    return "".join(
        chance.choice(_CJK) if chance.random() > 0.08 else "，" for _ in range(size // 3)
    )


def _base64(chance: random.Random, size: int) -> str:
    return base64.b64encode(chance.randbytes(size * 3 // 4)).decode()[:size]


_KINDS = (
    *[_prose] * 45, *[_code] * 25, *[_json] * 15, *[_log] * 8, *[_cjk] * 4, *[_base64] * 3,
)  # fmt: skip
