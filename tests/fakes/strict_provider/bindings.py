"""Thinking is bound to the conversation in front of it: signatures, and what breaks them.

A signature holds four hashes (prefix, nearest earlier thinking that was sent, the block's own
content, model) and a MAC over them, so that the stand-in can tell a forged one from one that is
good elsewhere.

A block is good when its prefix is the one it was made under and, where earlier thinking is in
the request, the nearest is the one that was there. So thinking may be left out at the start, at
the end, or altogether; not in the middle, and what was once left out may not come back.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hmac
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from tests.fakes.strict_provider.canonical import THINKING, Body, Place, chained, places, plain

Mode = Literal["strict", "silent"]
Verdict = Literal["good", "forged", "other_model", "other_prefix"]

_HASH = 12  # bytes kept of each
_NONE = bytes(_HASH)
_FIELD = {"thinking": "signature", "redacted_thinking": "data"}


class Checked(NamedTuple):
    """A request as the model gets it, and what was left out of it."""

    body: dict[str, Any]
    dropped: list[dict[str, str]]  # entries of `input_transformations`
    failing: Place | None  # the first block that is not good, and stays because nobody may drop it
    forged: Place | None


class Binder:
    """Signs and checks for one account."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    def signed(self, blocks: list[dict[str, Any]], body: Body) -> list[dict[str, Any]]:
        """An answer to `body` with its thinking signed."""
        prefix, earlier = _ends(body)
        result = []
        for block in blocks:
            if block["type"] in THINKING:
                signature = self._sign(block, prefix, earlier, body["model"])
                block = {**block, _FIELD[block["type"]]: signature}
                earlier = _identity(block)
            else:
                prefix = chained(prefix, "assistant", plain(block))
            result.append(block)
        return result

    def check(self, body: Body, *, preserved: bool, drop: bool) -> Checked:
        """Judge every thinking block; leave out what the API leaves out.

        `preserved`: the model's thinking is bound to its prefix. `drop`: mismatches are left out
        rather than refused.
        """
        forged = failing = None
        dropped: list[tuple[Place, str]] = []
        for place, verdict in self._verdicts(body, preserved=preserved):
            if verdict == "forged":
                forged = forged or place
            elif verdict == "other_model":
                dropped.append((place, "model_binding_mismatch"))
            elif verdict == "other_prefix" or failing:
                failing = failing or place
                dropped.append((place, "prefix_binding_mismatch"))
        if failing and not drop:
            return Checked(dict(body), [], failing, forged)
        entries = [
            {"type": "thinking_dropped", "path": place.path, "reason": reason}
            for place, reason in dropped
        ]
        return Checked(_without(body, [place for place, _ in dropped]), entries, None, forged)

    def _verdicts(self, body: Body, *, preserved: bool) -> Iterator[tuple[Place, Verdict]]:
        earlier = _NONE
        for place, prefix in _prefixes(body):
            if place.value["type"] not in THINKING:
                continue
            signed = self._open(place.value)
            if signed is None or signed.content != _content(place.value):
                yield place, "forged"
            elif signed.model != _short(str(body["model"])):
                yield place, "other_model"
            elif preserved and not _is_good(signed, prefix, earlier):
                yield place, "other_prefix"
            else:
                yield place, "good"
            earlier = _identity(place.value)

    def _sign(self, block: Mapping[str, Any], prefix: bytes, earlier: bytes, model: str) -> str:
        payload = prefix[:_HASH] + earlier + _content(block) + _short(model)
        return base64.b64encode(payload + self._mac(payload)).decode()

    def _open(self, block: Mapping[str, Any]) -> _Signed | None:
        try:
            raw = base64.b64decode(block[_FIELD[block["type"]]], validate=True)
        except (binascii.Error, ValueError, TypeError, KeyError):
            return None
        payload, mac = raw[: 4 * _HASH], raw[4 * _HASH :]
        if len(payload) < 4 * _HASH or not hmac.compare_digest(mac, self._mac(payload)):
            return None
        return _Signed(*(payload[n * _HASH : (n + 1) * _HASH] for n in range(4)))

    def _mac(self, payload: bytes) -> bytes:
        return hmac.digest(self._secret, payload, "sha256")


class _Signed(NamedTuple):
    prefix: bytes
    earlier: bytes
    content: bytes
    model: bytes


def _is_good(signed: _Signed, prefix: bytes, earlier: bytes) -> bool:
    return signed.prefix == prefix[:_HASH] and earlier in (_NONE, signed.earlier)


def _prefixes(body: Body) -> Iterator[tuple[Place, bytes]]:
    """Each block with the hash of what stands in front of it, thinking left out."""
    prefix = _head(body)
    for place in places(body):
        yield place, prefix
        if place.value["type"] not in THINKING:
            prefix = chained(prefix, place.role, plain(place.value))


def _ends(body: Body) -> tuple[bytes, bytes]:
    """The hash of the whole request, and the last thinking block in it."""
    prefix, earlier = _head(body), _NONE
    for place in places(body):
        if place.value["type"] in THINKING:
            earlier = _identity(place.value)
        else:
            prefix = chained(prefix, place.role, plain(place.value))
    return prefix, earlier


def _head(body: Body) -> bytes:
    """System and the *set* of tools."""
    system = body.get("system") or []
    blocks = [{"type": "text", "text": system}] if isinstance(system, str) else system
    tools = sorted(plain(tool) for tool in body.get("tools") or ())
    return chained(b"", "system", *map(plain, blocks), "tools", *tools)


def _identity(block: Mapping[str, Any]) -> bytes:
    return _short(str(block[_FIELD[block["type"]]]))


def _content(block: Mapping[str, Any]) -> bytes:
    return _short(str(block.get("thinking", "")))


def _short(words: str) -> bytes:
    return sha256(words.encode("utf-8", "surrogatepass")).digest()[:_HASH]


def _without(body: Body, gone: list[Place]) -> dict[str, Any]:
    if not gone:
        return dict(body)
    left = copy.deepcopy(dict(body))
    for place in reversed(gone):
        del left["messages"][place.message]["content"][place.block]
    left["messages"] = [message for message in left["messages"] if message["content"]]
    return left
