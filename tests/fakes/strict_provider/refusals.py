"""How the API words a refusal: the body's shape, and fragments that public reports quote.

A program must never read these words. They are here so that one that does is found out: each
also quotes the request, as the real ones may.
"""

from __future__ import annotations

from typing import Any

from app.errors import Fault

INVALID = "invalid_request_error"

_WORDS = {
    "cache_mark_empty_text": "cache_control cannot be set for empty text blocks",
    "cache_marks_too_many": "A maximum of 4 blocks with cache_control may be provided.",
    "cache_ttl_order": "a ttl='1h' cache_control block must not come after a ttl='5m' one",
    "content_empty": "all messages must have non-empty content except for the optional final "
    "assistant message",
    "field_unknown": "Extra inputs are not permitted",
    "first_not_user": 'first message must use the "user" role',
    "image_media_type": "image was specified using another media type than it appears to be",
    "max_tokens_too_large": "above the maximum allowed number of output tokens",
    "messages_empty": "at least one message is required",
    "prefill_trailing_space": "final assistant content cannot end with trailing whitespace",
    "prefill_unsupported": "This model does not support assistant message prefill. "
    "The conversation must end with a user message.",
    "role_unknown": "Input should be 'user', 'assistant' or 'system'",
    "sampling_params": "Extra inputs are not permitted",
    "server_result_orphan": "must have a corresponding `server_tool_use` block before it",
    "stop_sequence_blank": "each stop sequence must contain non-whitespace",
    "text_empty": "text content blocks must be non-empty",
    "thinking_first": "Expected `thinking` or `redacted_thinking`",
    "thinking_forced_tool": "Thinking may not be enabled when tool_choice forces tool use.",
    "thinking_last": "final block cannot be `thinking`",
    "thinking_mode": "this thinking type is not supported for this model",
    "thinking_prefix": "Invalid `signature` in `thinking` block. The block is bound to a different "
    "conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` "
    'to "drop_block".',
    "thinking_signature": "Invalid `signature` in `thinking` block",
    "tool_choice_forced": 'type "tool" and "any" are not supported for this model.',
    "tool_choice_no_tools": "tool_choice may only be specified while providing tools",
    "tool_error_not_text": "all content must be type `text` if `is_error` is true",
    "tool_input_not_object": "Input should be a valid dictionary",
    "tool_name_format": "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
    "tool_name_twice": "Tool names must be unique.",
    "tool_result_orphan": "unexpected `tool_use_id` found in `tool_result` blocks",
    "tool_result_twice": "each tool_use must have a single result. Found multiple `tool_result` "
    "blocks with id",
    "tool_schema_top": "input_schema does not support oneOf, allOf, or anyOf at the top level",
    "tool_schema_type": "Input should be 'object'",
    "tool_use_id_twice": "`tool_use` ids must be unique",
    "tool_use_unanswered": "`tool_use` ids were found without `tool_result` blocks immediately "
    "after",
}


class Refused(Exception):
    """The request is answered with an error. `code` is hango's name of the rule."""

    def __init__(self, status: int, kind: str, code: str, message: str) -> None:
        super().__init__(code)
        self.status = status
        self.kind = kind
        self.code = code
        self.message = message


def refused(code: str, at: str = "", message: str = "") -> Refused:
    """A 400 for a broken rule of the validity table."""
    words = message or _WORDS.get(code, f"Input is not valid ({code})")
    return Refused(400, INVALID, code, f"{at}: {words}" if at else words)


def of_fault(fault: Fault) -> Refused:
    """The refusal that the API gives where hango's validator finds `fault`."""
    if fault.code == "body_too_large":
        return Refused(413, "request_too_large", fault.code, "Request exceeds the maximum size")
    return refused(fault.code, fault.at)


def error_body(kind: str, message: str, request_id: str, **details: Any) -> dict[str, Any]:
    """An error as the API writes it."""
    error: dict[str, Any] = {"type": kind, "message": message}
    if details:
        error["details"] = details
    return {"type": "error", "error": error, "request_id": request_id}
