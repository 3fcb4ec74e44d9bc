"""The tree of expected failures; each has a status, a stable code and says what to do.

Failure
├── MalformedBody            400  the body is not JSON
├── Unauthorized             401  no key, or not a good one
│   └── NoLongerAllowed      the key was good when the work was accepted
├── QuotaExceeded            402
├── CrossSite                403  another site may have sent it with the cookie of the admin page
├── NotFound                 404  absent, or not yours: nobody can tell which
├── MethodNotAllowed         405
├── Conflict                 409
│   ├── NameTaken
│   ├── InUse
│   ├── IdempotencyRunning
│   ├── RunOpen              the session has a run that has not ended
│   └── WorkLost             another worker has the run or the try, or it was settled
├── Gone                     410
│   └── BaselineGone         what a try is compared with was purged
├── PreconditionFailed       412
├── TooLarge                 413
├── UnsupportedMediaType     415
├── Refused                  422
│   ├── BadBody              the shape is wrong
│   ├── BadParameter         a query parameter or header is wrong
│   ├── BadPart              not a part id
│   ├── HistoryRefused       these messages could never be sent
│   ├── ToolRefused          this tool definition could never be sent
│   ├── UnsupportedByModel   the model takes no such parameter
│   ├── AddressRefused       hango may not call this server
│   ├── ImportRefused        the file cannot become a session
│   ├── OverridesRefused     an override is wrong, or the set leaves nothing that can be sent
│   ├── NothingToSend        no message is left to send
│   ├── BadBaseline          no try that this one can be compared with
│   ├── NothingToCompare     no part of an ablation makes a difference
│   ├── MaxCostTooLow        an ablation needs more than it is allowed to cost
│   ├── PriceUnknown         no price is known, so no limit of cost can be kept
│   ├── TooManyTries         an ablation has more tries than requests are allowed in a minute
│   └── IdempotencyMismatch  the key was used with another body
├── RateLimited              429
├── Internal                 500
│   └── RequestInvalid       the chain made a request that the provider would refuse
├── OutsideFailed            502  a server that a tenant named gave no answer that can be used
│   └── OutsideTooSlow       504
└── Unavailable              503
    ├── DatabaseUnavailable
    ├── SecretsUnavailable   the deployment has no key for secrets, or another one
    └── BrokerUnavailable

`detail` and faults hold ids, numbers and advice, never content. Codes never change once released.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong: where it stands in the input, its stable code, and what to do."""

    at: str  # a path into the body or the query: "messages[3].content[0]", "limit"
    code: str
    detail: str


class Failure(Exception):
    """Base of everything hango expects to go wrong."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal"
    title: ClassVar[str] = "Something went wrong"

    def __init__(
        self,
        detail: str | None = None,
        *,
        faults: Sequence[Fault] = (),
        headers: Mapping[str, str] | None = None,
        extensions: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(self.code)
        self.detail = detail
        self.faults = tuple(faults)
        self.headers = dict(headers or {})
        self.extensions = dict(extensions or {})  # members of the answer beside those of all


class MalformedBody(Failure):
    """The body is not JSON that hango takes: broken, a key twice, NaN, too deep."""

    status, code, title = 400, "malformed_body", "The body is not valid JSON"


class Unauthorized(Failure):
    """No key, or none that is good now. The answer is the same for every cause."""

    status, code, title = 401, "unauthorized", "A valid API key is needed"


class NoLongerAllowed(Unauthorized):
    """A try's key or user was good when it was accepted, and is not when it is carried out."""

    code, title = "no_longer_allowed", "The key that started this is no longer good"


class QuotaExceeded(Failure):
    """The tenant's quota for this period is used up, or leaves too little for the call.

    The answer also has `left` and `resets_at`.
    """

    status, code, title = 402, "quota_exceeded", "The quota is used up"


class CrossSite(Failure):
    """A change that another site may have made a browser send, with the admin page's cookie."""

    status, code, title = 403, "cross_site", "This did not come from hango's own page"


class NotFound(Failure):
    """It is not there, or it is not the principal's to see."""

    status, code, title = 404, "not_found", "There is no such thing here"


class MethodNotAllowed(Failure):
    """The path exists, this method on it does not."""

    status, code, title = 405, "method_not_allowed", "This method is not allowed here"


class Conflict(Failure):
    """The present state does not allow it."""

    status, code, title = 409, "conflict", "The present state does not allow this"


class NameTaken(Conflict):
    """Another object of the same kind has this name."""

    code, title = "name_taken", "This name is taken"


class InUse(Conflict):
    """Something still depends on it."""

    code, title = "in_use", "This is still in use"


class IdempotencyRunning(Conflict):
    """The first request with this Idempotency-Key has not ended."""

    code, title = "idempotency_running", "The first request with this key is still running"


class RunOpen(Conflict):
    """The session has a run that has not ended; the detail names it."""

    code, title = "run_open", "A run of this session has not ended"


class WorkLost(Conflict):
    """Another worker has the run or the try, or it was settled. Seen by workers alone."""

    code, title = "work_lost", "This is another worker's by now"


class Gone(Failure):
    """It was here, and was purged."""

    status, code, title = 410, "gone", "This was removed"


class BaselineGone(Gone):
    """The try that this one is to be compared with was purged."""

    code, title = "baseline_gone", "The try to compare with was removed"


class PreconditionFailed(Failure):
    """If-Match names another version than the stored one."""

    status, code, title = 412, "precondition_failed", "It changed in the meantime"


class TooLarge(Failure):
    """The body is above the limit of its route."""

    status, code, title = 413, "too_large", "The body is too large"


class UnsupportedMediaType(Failure):
    """The body is not sent as a type that the route takes."""

    status, code, title = 415, "unsupported_media_type", "This content type is not taken here"


class Refused(Failure):
    """Well-formed, but wrong."""

    status, code, title = 422, "refused", "This cannot be taken"


class BadBody(Refused):
    """The body's shape is wrong; one fault per field."""

    code, title = "bad_body", "The body does not have the right shape"


class BadParameter(Refused):
    """A query parameter or a header is wrong."""

    code, title = "bad_parameter", "A parameter is wrong"


class BadPart(Refused):
    """Not a part id: see app/domain/parts.py for the grammar."""

    code, title = "bad_part", "This is not a part id"


class HistoryRefused(Refused):
    """These messages would leave a history that can never be sent; one fault per message."""

    code, title = "history_refused", "These messages could never be sent"


class ToolRefused(Refused):
    """A tool definition that the provider would refuse."""

    code, title = "tool_refused", "This tool could never be sent"


class UnsupportedByModel(Refused):
    """The model catalogue says that the model does not take this."""

    code, title = "unsupported_by_model", "The model does not take this"


class AddressRefused(Refused):
    """A server that hango may not call: see app/tools/addresses.py for the rule."""

    code, title = "address_refused", "hango may not call this server"


class ImportRefused(Refused):
    """The file is not of a known format, or holds nothing that can become a session."""

    code, title = "import_refused", "This file cannot be imported"


class OverridesRefused(Refused):
    """An override is wrong, or the set would leave a request that the provider refuses."""

    code, title = "overrides_refused", "These overrides cannot be stored"


class NothingToSend(Refused):
    """A run or a try has no message left to send: every one is left out."""

    code, title = "nothing_to_send", "There is no message to send"


class BadBaseline(Refused):
    """No try that this one can be compared with: of another session, gone, or itself."""

    code, title = "bad_baseline", "A try cannot be compared with that"


class NothingToCompare(Refused):
    """None of the parts of an ablation could be left out, or would make a difference."""

    code, title = "nothing_to_compare", "There is nothing to compare"


class MaxCostTooLow(Refused):
    """An ablation needs more than `max_cost`.

    The answer also has `max_cost`, what is `needed`, and the `most` that it can take.
    """

    code, title = "max_cost_too_low", "This would cost more than is allowed"


class PriceUnknown(Refused):
    """No price is known for the model, so no limit of cost can be kept."""

    code, title = "price_unknown", "No price is known for this model"


class TooManyTries(Refused):
    """An ablation has more tries than its key may make requests in a minute."""

    code, title = "too_many_tries", "These are too many tries at once"


class IdempotencyMismatch(Refused):
    """The Idempotency-Key was used before, with another body."""

    code, title = "idempotency_mismatch", "This key was used with another body"


class RateLimited(Failure):
    """Too many requests with this key."""

    status, code, title = 429, "rate_limited", "Too many requests"


class Internal(Failure):
    """A fault of hango's own; the log has the request id."""


class RequestInvalid(Internal):
    """A run's request would be refused by the provider; it was not sent. A fault of hango's own."""

    code, title = "request_invalid", "hango made a request that could not be sent"


class OutsideFailed(Failure):
    """A server that a tenant named could not be reached, or gave no answer that can be used."""

    status, code, title = 502, "outside_failed", "The server outside gave no usable answer"


class OutsideTooSlow(OutsideFailed):
    """A server that a tenant named did not answer in time."""

    status, code, title = 504, "outside_too_slow", "The server outside did not answer in time"


class Unavailable(Failure):
    """Something that hango needs does not answer."""

    status, code, title = 503, "unavailable", "A service that hango needs does not answer"


class DatabaseUnavailable(Unavailable):
    """PostgreSQL does not answer."""

    code, title = "database_unavailable", "The database does not answer"


class SecretsUnavailable(Unavailable):
    """Secrets cannot be sealed or opened: HANGO_SECRET_KEY is missing, or is another one."""

    code, title = "secrets_unavailable", "Secrets cannot be kept or read here"


class BrokerUnavailable(Unavailable):
    """Redis does not answer, so no work can be accepted."""

    code, title = "broker_unavailable", "The broker does not answer"
