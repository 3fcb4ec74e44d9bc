"""What the stand-in decides: whether a request is taken, and what it is answered with."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from app.domain.catalogue import ModelFacts, catalogue, facts_for
from app.domain.jsontext import loads_strict
from app.domain.validity import check_request
from app.errors import MalformedBody
from tests.fakes.strict_provider.bindings import Binder, Checked, Mode
from tests.fakes.strict_provider.caching import PromptCache, whole_input
from tests.fakes.strict_provider.canonical import tokens
from tests.fakes.strict_provider.faults import Fault
from tests.fakes.strict_provider.refusals import INVALID, Refused, of_fault, refused
from tests.fakes.strict_provider.replies import Block, Body, Reply, default_reply

BINDING_BETA = "thinking-binding-controls-2026-08-01"
PREFIX = "prefix_binding_mismatch"
VERSIONS = ("2023-06-01", "2026-10-21")
LARGEST_BODY = 32 * 2**20  # bytes

# What hango must never let out: its own keys, trace context, and what belongs to its own clients.
DENIED_HEADERS = ("traceparent", "tracestate", "baggage", "cookie", "forwarded", "idempotency-key")
DENIED_PREFIXES = ("x-hango-", "hango-", "x-forwarded-", "x-b3-", "x-claude-code-")
OWN_KEY = "hk_"

Script = Callable[[Body], Reply | None]
Headers = Mapping[str, str]


class Service:
    """One account of the stand-in: its script, its cache, its signatures."""

    def __init__(self, mode: Mode = "strict", api_key: str | None = None) -> None:
        self.mode = mode
        self.api_key = api_key  # None: any key that is not hango's
        self.replies: deque[Reply] = deque()
        self.script: Script | None = None  # asked when no reply is queued; None: the default
        self.transformations_reported = True
        self.dropped = 0  # blocks of thinking that were sent behind another prefix than their own
        self._faults: dict[str, deque[Fault]] = {}
        self._lasting: dict[str, Fault] = {}
        self._binder = Binder(b"a secret of the stand-in")
        self._cache = PromptCache()
        self._ids = itertools.count(1)
        self._lock = Lock()

    def fail(self, path: str, fault: Fault, times: int | None) -> None:
        """Let the next `times` requests of `path` fail; None: all of them."""
        with self._lock:
            if times is None:
                self._lasting[path] = fault
            else:
                self._faults.setdefault(path, deque()).extend([fault] * times)

    def heal(self) -> None:
        """Forget every fault that is still to come."""
        with self._lock:
            self._faults.clear()
            self._lasting.clear()

    def next_fault(self, path: str) -> Fault | None:
        with self._lock:
            queued = self._faults.get(path)
            return queued.popleft() if queued else self._lasting.get(path)

    def next_id(self, prefix: str) -> str:
        return f"{prefix}_{next(self._ids):024d}"

    def admit(self, headers: Headers) -> None:
        """Check what stands around a body. Raises Refused."""
        for name in headers:
            if name in DENIED_HEADERS or name.startswith(DENIED_PREFIXES):
                raise refused("denied_header", message=f"{name}: this header must not leave hango")
        key = headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")
        if OWN_KEY in key:
            raise refused("denied_key", message="hango's own key must not leave hango")
        if not key or (self.api_key is not None and key != self.api_key):
            raise Refused(401, "authentication_error", "key", "invalid x-api-key")
        if headers.get("anthropic-version") not in VERSIONS:
            raise refused("version", message="anthropic-version: header is required")

    def message(self, raw: bytes, headers: Headers) -> tuple[dict[str, Any], Reply]:
        """The whole answer to a body of /v1/messages. Raises Refused."""
        body = _parsed(raw)
        facts, checked = self._checked(body, headers)
        with self._lock:
            queued = self.replies.popleft() if self.replies else None
        reply = queued or (self.script and self.script(body)) or default_reply(body, facts)
        figures = self._cache.settle(checked.body, facts)
        blocks = self._blocks(reply, checked.body)
        usage = {
            **figures.usage(),
            "output_tokens": sum(tokens(str(block)) for block in blocks),
            "service_tier": "standard",
            **reply.usage,
        }
        message = {
            "id": self.next_id("msg"),
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": blocks,
            "stop_reason": reply.reason,
            "stop_sequence": None,
            "usage": usage,
        }
        if reply.stop_details:
            message["stop_details"] = reply.stop_details
        if checked.dropped and self._reports(body):
            message["input_transformations"] = checked.dropped
        return message, reply

    def count(self, raw: bytes, headers: Headers) -> dict[str, int]:
        """The answer of /v1/messages/count_tokens. Raises Refused."""
        body = _parsed(raw)
        if "max_tokens" in body or "stream" in body:
            raise refused("field_unknown", "max_tokens")
        # Counting checks the structure as answering does; only the length of the answer is open.
        _, checked = self._checked({**body, "max_tokens": 1}, headers, counting=True)
        return {"input_tokens": whole_input(checked.body)}

    def models(self) -> dict[str, Any]:
        """The answer of /v1/models."""
        data = [_model(facts) for facts in catalogue()]
        return {
            "data": data,
            "has_more": False,
            "first_id": data[0]["id"],
            "last_id": data[-1]["id"],
        }

    def model(self, name: str) -> dict[str, Any]:
        """The answer of /v1/models/{id}. Raises Refused."""
        return _model(_known(name))

    def _checked(
        self, body: dict[str, Any], headers: Headers, *, counting: bool = False
    ) -> tuple[ModelFacts, Checked]:
        facts = _known(body.get("model"))
        betas = [beta.strip() for beta in headers.get("anthropic-beta", "").split(",") if beta]
        faults = check_request(body, facts, betas)
        if counting:
            faults = [fault for fault in faults if fault.code != "thinking_budget"]
        if faults:
            raise of_fault(faults[0])
        drop = self._drops(body) if facts.preserved_thinking else False
        checked = self._binder.check(body, preserved=facts.preserved_thinking, drop=drop)
        if checked.forged:
            raise refused("thinking_signature", checked.forged.path)
        if checked.failing:
            raise refused("thinking_prefix", checked.failing.path)
        with self._lock:
            self.dropped += sum(entry["reason"] == PREFIX for entry in checked.dropped)
        total = whole_input(checked.body)
        if total > facts.window:
            words = f"prompt is too long: {total} tokens > {facts.window} maximum"
            raise refused("prompt_too_long", message=words)
        return facts, checked

    def _drops(self, body: Body) -> bool:
        return self.mode == "silent" or self._reports(body)

    def _reports(self, body: Body) -> bool:
        binding = (body.get("thinking") or {}).get("block_binding") or {}
        return binding.get("prefix_mismatch_behavior") == "drop_block"

    def _blocks(self, reply: Reply, body: Body) -> list[Block]:
        omitted = (body.get("thinking") or {}).get("display") == "omitted"
        blocks = []
        for block in reply.blocks:
            if block["type"] == "tool_use" and not block["id"]:
                block = {**block, "id": self.next_id("toolu")}
            if block["type"] == "thinking" and omitted:
                block = {**block, "thinking": ""}
            blocks.append(block)
        return self._binder.signed(blocks, body)


def _parsed(raw: bytes) -> dict[str, Any]:
    if len(raw) > LARGEST_BODY:
        words = "Request exceeds the maximum size"
        raise Refused(413, "request_too_large", "body_too_large", words)
    try:
        body = loads_strict(raw)
    except MalformedBody:
        raise refused("json", message="The request body is not valid JSON") from None
    if not isinstance(body, dict):
        raise refused("json", message="The request body is not an object")
    return body


def _known(model: object) -> ModelFacts:
    facts = facts_for(model) if isinstance(model, str) else None
    if facts is None:
        raise Refused(400, INVALID, "field_missing", "model: Field required")
    if not facts.known:
        raise Refused(404, "not_found_error", "model_unknown", f"model: {model}")
    return facts


def _model(facts: ModelFacts) -> dict[str, Any]:
    return {
        "type": "model",
        "id": facts.id,
        "display_name": facts.id.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "lifecycle": "active",
        "max_input_tokens": facts.window,
        "max_tokens": facts.max_output,
    }
