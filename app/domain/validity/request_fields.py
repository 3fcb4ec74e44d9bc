"""The fields of `POST /v1/messages` as a table (API version 2026-10-21, SDK 2.14.0)."""

from __future__ import annotations

from typing import Any

from app.domain.validity.shapes import (
    BOOLEAN,
    CACHE_CONTROL,
    LIST,
    OBJECT,
    TEXT,
    TEXT_OR_LIST,
    Kind,
    Shape,
    is_integer,
    nullable,
    one_of,
)

MAX_USER_ID_CHARACTERS = 256

# Known to the API with the header of their beta only.
BETA_FIELDS = frozenset(
    {
        "billing_policy",
        "compaction",
        "context_management",
        "fallback_credit_token",
        "fallbacks",
        "mcp_servers",
        "thread",
    }
)

_EFFORTS = ("low", "medium", "high", "xhigh", "max")


def _is_metadata(value: Any) -> bool:
    if not isinstance(value, dict) or value.keys() - {"user_id"}:
        return False
    user = value.get("user_id")
    return user is None or (isinstance(user, str) and len(user) <= MAX_USER_ID_CHARACTERS)


def _is_output_config(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() <= {"effort", "format", "task_budget"}
        and value.get("effort") in (None, *_EFFORTS)
        and _is_format(value.get("format"))
    )


def _is_format(value: Any) -> bool:
    return value is None or (
        isinstance(value, dict)
        and value.get("type") == "json_schema"
        and isinstance(value.get("schema"), dict)
        and value.keys() <= {"type", "schema"}
    )


_NO_SAMPLING = dict.fromkeys(("temperature", "top_p", "top_k"), "sampling_params")
_CONTAINER = Kind("an id or an object", lambda value: isinstance(value, (str, dict)))
_MODEL = Kind("a model's name", lambda value: isinstance(value, str) and value != "")
_TOKENS = Kind("a whole number, not below 0", lambda value: is_integer(value) and value >= 0)
_METADATA = Kind(f"a user_id of at most {MAX_USER_ID_CHARACTERS} characters", _is_metadata)
_OUTPUT_CONFIG = Kind("an effort, a format", _is_output_config)

REQUEST = Shape(
    required={"model": _MODEL, "max_tokens": _TOKENS, "messages": LIST},
    optional={
        "system": TEXT_OR_LIST,
        "tools": LIST,
        "tool_choice": OBJECT,
        "thinking": OBJECT,
        "cache_control": CACHE_CONTROL,
        "container": nullable(_CONTAINER),
        "diagnostics": nullable(OBJECT),
        "inference_geo": nullable(TEXT),
        "metadata": _METADATA,
        "output_config": _OUTPUT_CONFIG,
        "service_tier": one_of("auto", "standard_only"),
        "speed": nullable(one_of("standard", "fast")),
        "stop_sequences": LIST,
        "stream": BOOLEAN,
        "user_profile_id": TEXT,
        "workspace_id": TEXT,
    },
    refused=_NO_SAMPLING,
)
