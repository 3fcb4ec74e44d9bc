"""How a model call can fail: a closed set of codes, and what each means for trying again.

ProviderFailure         provider_failed
├── RequestRefused      provider_refused_request   the provider found the request invalid
│   ├── ThinkingRefused provider_refused_thinking  kept thinking no longer fits what precedes it
│   └── PromptTooLong   provider_prompt_too_long
├── KeyRefused          provider_refused_key
├── BillingRefused      provider_billing
├── UnknownToProvider   provider_not_found         usually the model
├── RateLimited         provider_rate_limited      it named a time to come back
├── LimitReached        provider_limit_reached     it named none
├── Overloaded          provider_overloaded
├── ServerError         provider_error
├── ServerTimeout       provider_timeout           the provider's own time limit
├── Unreachable         provider_unreachable       nothing was sent
├── ConnectionLost      provider_connection_lost   sent, and then no whole answer
├── StreamBroken        provider_stream_broken     an answer that ends early or is no answer
├── DeadlinePassed      deadline_passed            hango's own time limit
└── Cancelled           cancelled

The provider's texts quote prompts. They are looked at here to tell failures apart, and go no
further: a failure holds numbers, identifiers and our own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar

from app.domain.ids import identifier
from app.domain.responses import Usage
from app.errors import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen of a call before it failed."""

    status: int | None = None  # of the HTTP answer
    error_type: str | None = None
    error_code: str | None = None
    request_id: str | None = None
    retry_after: float | None = None  # seconds, as the provider asked for
    should_retry: bool | None = None  # the provider's own word on it
    outcome_unknown: bool = False  # it may have been carried out, and paid for
    started: bool = False  # a part of the answer had come, and was paid for
    response_id: str | None = None
    usage: Usage | None = None  # as far as the provider had reported it


NOTHING_SEEN = Seen()
UNKNOWN_OUTCOME = Seen(outcome_unknown=True)


class ProviderFailure(Failure):
    """A model call that gave no whole answer. `str()` is its code."""

    status, code, title = 502, "provider_failed", "The model provider failed"
    transient: ClassVar[bool] = False  # the same request may succeed a little later

    def __init__(self, detail: str | None = None, *, seen: Seen = NOTHING_SEEN) -> None:
        super().__init__(detail)
        self.seen = seen

    @property
    def retryable(self) -> bool:
        """Whether sending it again may help and cannot pay for the same answer twice."""
        if self.seen.started or self.seen.outcome_unknown:
            return False
        return self.transient if self.seen.should_retry is None else self.seen.should_retry


class RequestRefused(ProviderFailure):
    """The provider found the request invalid: it will never succeed as it is."""

    code, title = "provider_refused_request", "The model provider refused the request"


class ThinkingRefused(RequestRefused):
    """Thinking in the request is bound to another conversation than the one in front of it."""

    code, title = "provider_refused_thinking", "The model provider refused earlier thinking"


class PromptTooLong(RequestRefused):
    """The request is above the model's window, or above the provider's size limit."""

    status, code, title = 422, "provider_prompt_too_long", "The request is too long for the model"


class KeyRefused(ProviderFailure):
    """The provider's key is wrong, revoked, or may not do this."""

    code, title = "provider_refused_key", "The model provider refused hango's key"


class BillingRefused(ProviderFailure):
    """The account at the provider cannot pay."""

    code, title = "provider_billing", "The account at the model provider cannot pay"


class UnknownToProvider(ProviderFailure):
    """What the request names is not there; usually the model."""

    code, title = "provider_not_found", "The model provider does not know this model"


class RateLimited(ProviderFailure):
    """Too many requests; the provider said when to come back."""

    status, code, title = 503, "provider_rate_limited", "The model provider limits the rate"
    transient = True


class LimitReached(ProviderFailure):
    """A limit of the account that waiting a little does not lift, such as a spending cap."""

    status, code, title = 503, "provider_limit_reached", "A limit at the model provider is reached"


class Overloaded(ProviderFailure):
    """The provider has more to do than it can."""

    status, code, title = 503, "provider_overloaded", "The model provider is overloaded"
    transient = True


class ServerError(ProviderFailure):
    """A fault of the provider's own."""

    code, title = "provider_error", "The model provider had a fault"
    transient = True


class ServerTimeout(ProviderFailure):
    """The provider gave up on its own time limit."""

    status, code, title = 504, "provider_timeout", "The model provider took too long"
    transient = True


class Unreachable(ProviderFailure):
    """No connection: nothing was sent."""

    code, title = "provider_unreachable", "The model provider cannot be reached"
    transient = True


class ConnectionLost(ProviderFailure):
    """The connection ended after the request was sent, so nobody knows what became of it."""

    code, title = "provider_connection_lost", "The connection to the model provider was lost"


class StreamBroken(ProviderFailure):
    """What came is not a whole answer: it ends early, or is not what the Messages API sends."""

    code, title = "provider_stream_broken", "The model provider's answer is not whole"


class DeadlinePassed(ProviderFailure):
    """The call took longer than hango gave it."""

    status, code, title = 504, "deadline_passed", "The model call took too long"


class Cancelled(ProviderFailure):
    """Somebody asked hango to stop the call."""

    status, code, title = 409, "cancelled", "The model call was cancelled"


# Messages API, Errors. The type says it, also within a stream; the status is for what has none.
_BY_TYPE: Mapping[str, type[ProviderFailure]] = {
    "invalid_request_error": RequestRefused,
    "authentication_error": KeyRefused,
    "permission_error": KeyRefused,
    "billing_error": BillingRefused,
    "not_found_error": UnknownToProvider,
    "request_too_large": PromptTooLong,
    "rate_limit_error": RateLimited,
    "api_error": ServerError,
    "conflict_error": ServerError,
    "timeout_error": ServerTimeout,
    "overloaded_error": Overloaded,
}
_BY_STATUS: Mapping[int, type[ProviderFailure]] = {
    400: RequestRefused,
    401: KeyRefused,
    402: BillingRefused,
    403: KeyRefused,
    404: UnknownToProvider,
    408: ServerTimeout,
    409: ServerError,
    413: PromptTooLong,
    422: RequestRefused,
    429: RateLimited,
    503: Overloaded,
    504: ServerTimeout,
    529: Overloaded,
}

# No code tells these 400s apart; the words are the provider's, and of gateways that speak its API.
_TOO_LONG = re.compile(
    r"prompt is too long|exceeds? (?:the )?(?:model'?s )?(?:maximum )?context|context[_ ]length"
    r"|context window|input is too long|too many (?:input )?tokens|maximum prompt length"
    r"|上下文(?:长度|窗口)|输入(?:内容)?(?:过长|太长)|超(?:过|出)(?:了)?(?:模型)?(?:的)?最大(?:上下文|输入|token)"
    r"|コンテキスト(?:長|ウィンドウ)|入力が長すぎ|컨텍스트 (?:길이|창)|longueur du contexte"
    r"|longitud (?:del|de) contexto|Kontextlänge",
    re.IGNORECASE,
)
_THINKING = re.compile(
    r"invalid [`'\"]?signature[`'\"]? in [`'\"]?thinking|bound to a different conversation"
    r"|thinking[`'\"]? or [`'\"]?redacted_thinking[`'\"]? blocks .* cannot be modified",
    re.IGNORECASE | re.DOTALL,
)


def from_answer(status: int, headers: Mapping[str, str], body: object) -> ProviderFailure:
    """The failure that an error answer means. `body` is the parsed JSON, or anything else."""
    seen = Seen(
        status=status,
        error_type=_error_field(body, "type"),
        error_code=_error_field(body, "details", "error_code"),
        request_id=identifier(headers.get("request-id")),
        retry_after=_retry_after(headers),
        should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
    )
    return _failure(seen, body)


def from_event(body: object, request_id: str | None, *, started: bool) -> ProviderFailure:
    """The failure that an `error` event within a stream means."""
    return _failure(
        Seen(
            error_type=_error_field(body, "type"),
            error_code=_error_field(body, "details", "error_code"),
            request_id=request_id,
            started=started,
        ),
        body,
    )


def _failure(seen: Seen, body: object) -> ProviderFailure:
    kind = _BY_TYPE.get(seen.error_type or "") or _BY_STATUS.get(seen.status or 0)
    if kind is None:
        kind = ServerError if (seen.status or 0) >= 500 else ProviderFailure
    if kind is RequestRefused:
        kind = _refusal(_message(body))
    if kind is RateLimited and seen.retry_after is None and seen.status is not None:
        # A spending cap is a 429 too. It differs in that it names no time to come back.
        kind = LimitReached
    return kind(_detail(seen), seen=seen)


def _refusal(message: str) -> type[RequestRefused]:
    if _THINKING.search(message):
        return ThinkingRefused
    return PromptTooLong if _TOO_LONG.search(message) else RequestRefused


def _detail(seen: Seen) -> str:
    said = " ".join(
        str(word) for word in (seen.status, seen.error_type, seen.error_code) if word is not None
    )
    return f"The provider answered {said or 'with an error'}."


def _error_field(body: object, *path: str) -> str | None:
    return identifier(_within(body, "error", *path))


def _message(body: object) -> str:
    found = _within(body, "error", "message")
    return found[:20_000] if isinstance(found, str) else ""


def _within(value: object, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by `retry-after-ms` or `retry-after` (seconds or a date, RFC 9110)."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    given = headers.get("retry-after")
    return _number(given) if given is None or _number(given) is not None else _seconds_until(given)


def _number(text: str | None) -> float | None:
    """Not less than 0; None where `text` is no plain number."""
    if text is None or not re.fullmatch(r"\s*-?\d{1,12}(\.\d{0,9})?\s*", text):
        return None
    return max(0.0, float(text))


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
