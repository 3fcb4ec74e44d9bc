"""Every setting of the server: type, default, unit. Nothing else of hango reads the environment.

The OTEL_* variables that are listed here decide whether telemetry is on; all others of that name
are read by OpenTelemetry's SDK, once it is.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import timedelta
from typing import Any, get_type_hints

from environs import Env, EnvValidationError, ValidationError, validate

from app.networks import places


class BadSettings(Exception):
    """A variable is missing or malformed; the text names every one in one line."""


class Secret(str):
    """A text that never shows itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


Check = Callable[[Any], Any]  # raises environs' ValidationError, whose text follows the name


def setting(variable: str, about: str, check: Check | None = None) -> dict[str, Any]:
    """The name and meaning of a setting, for docs/configuration.md, and what it has to be."""
    return {"variable": variable, "about": about, "check": check}


SECRET_KEY_BYTES = 32

_NO_KEY = "Not a key: it has blanks or characters that no HTTP header carries."
_KEY_OR_NOTHING = validate.Regexp(r"[\x21-\x7e]*\Z", error=_NO_KEY)
_HTTP_URL = validate.URL(schemes={"http", "https"}, require_tld=False, error="Not an http(s) URL.")
_ORIGIN_OR_NOTHING = validate.Regexp(
    r"(https?://[^/?#@\s]+/?)?\Z", error="Not an address alone: https://hango.example.com"
)
# The texts never quote the value: it holds a password.
_POSTGRES_PATTERN = r"postgres(ql)?(\+psycopg2)?://.+"
_NO_POSTGRES = "Not a PostgreSQL URL: postgresql://user:password@host/database"
_POSTGRES = validate.Regexp(rf"{_POSTGRES_PATTERN}\Z", error=_NO_POSTGRES)
_POSTGRES_OR_NOTHING = validate.Regexp(rf"({_POSTGRES_PATTERN})?\Z", error=_NO_POSTGRES)
_REDIS_PATTERN = "(rediss?|unix)://.+"
_NO_REDIS = "Not a Redis URL: redis://host:6379/0, rediss://… or unix:///path/of/socket"
_REDIS = validate.Regexp(rf"{_REDIS_PATTERN}\Z", error=_NO_REDIS)
_POSITIVE = validate.Range(1, error="At least 1.")
_NOT_NEGATIVE = validate.Range(0, error="0 or more.")
_SPAN = validate.Range(timedelta(milliseconds=1), error="Longer than nothing: 30s, 2m, 1h.")
_IDLE = validate.Range(timedelta(minutes=5), error="At least 5m: use is noted by the minute.")
_PORT = validate.Range(0, 65_535, error="A port is 0 to 65535.")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_LEVEL = validate.OneOf(_LEVELS, error="Not one of: DEBUG, INFO, WARNING, ERROR.")

_EXPORTER = validate.OneOf(("otlp", "none"), error="Not one of: otlp, none.")
_PROTOCOL = validate.OneOf(("http/protobuf",), error="hango sends http/protobuf alone.")
_NO_URL = "Not an http(s) URL: http://collector:4318"
_URL_OR_NOTHING = validate.Regexp(r"(https?://\S+)?\Z", error=_NO_URL)
_REDIS_OR_NOTHING = validate.Regexp(rf"({_REDIS_PATTERN})?\Z", error=_NO_REDIS)


def _places(value: str) -> None:
    try:
        places(value)
    except ValueError as error:
        raise ValidationError(
            f"{error} is none of: host, host:port, address, network (10.0.0.0/8), [IPv6]:port."
        ) from None


def _secret_key(value: str) -> None:
    if value and len(_decoded(value)) != SECRET_KEY_BYTES:
        raise ValidationError("Not 32 bytes in base64: make it with `openssl rand -base64 32`.")


def _decoded(key: str) -> bytes:
    """The bytes of a key, in either alphabet of base64; none where it is not base64."""
    standard = key.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        return b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a hango process is told from outside. Spans are `timedelta`, sizes are bytes."""

    database_url: Secret = field(
        metadata=setting(
            "HANGO_DATABASE_URL", "PostgreSQL, as the role that serves requests.", _POSTGRES
        )
    )
    redis_url: Secret = field(
        metadata=setting("HANGO_REDIS_URL", "Redis: broker, rate limits, wake-ups.", _REDIS)
    )
    admin_database_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_ADMIN_DATABASE_URL",
            "PostgreSQL, as the role that owns the tables (migrations). Default: the database URL.",
            _POSTGRES_OR_NOTHING,
        ),
    )
    database_pool: int = field(
        default=10,
        metadata=setting(
            "HANGO_DATABASE_POOL", "Connections per process; a worker has one more.", _POSITIVE
        ),
    )
    statement_timeout: timedelta = field(
        default=timedelta(seconds=30),
        metadata=setting("HANGO_STATEMENT_TIMEOUT", "Longest time for one statement.", _SPAN),
    )
    max_body_bytes: int = field(
        default=8 * 2**20,
        metadata=setting("HANGO_MAX_BODY_BYTES", "Largest JSON body, in bytes.", _POSITIVE),
    )
    max_import_bytes: int = field(
        default=64 * 2**20,
        metadata=setting("HANGO_MAX_IMPORT_BYTES", "Largest import, in bytes.", _POSITIVE),
    )
    max_attachment_bytes: int = field(
        default=32 * 2**20,
        metadata=setting("HANGO_MAX_ATTACHMENT_BYTES", "Largest attachment, in bytes.", _POSITIVE),
    )
    rate_limit_per_minute: int = field(
        default=600,
        metadata=setting(
            "HANGO_RATE_LIMIT_PER_MINUTE",
            "Requests per key and minute; 0: no limit.",
            _NOT_NEGATIVE,
        ),
    )
    idempotency_retention: timedelta = field(
        default=timedelta(hours=24),
        metadata=setting("HANGO_IDEMPOTENCY_RETENTION", "How long a key is remembered.", _SPAN),
    )
    public_url: str = field(
        default="",
        metadata=setting(
            "HANGO_PUBLIC_URL",
            "Where browsers reach hango, as https://hango.example.com. With https the cookie of "
            "the admin page is sent over TLS alone. Default: http, at whatever address is asked.",
            _ORIGIN_OR_NOTHING,
        ),
    )
    web_session_idle: timedelta = field(
        default=timedelta(hours=4),
        metadata=setting(
            "HANGO_WEB_SESSION_IDLE",
            "How long a sign-in on the admin page lasts without being used; 5 minutes or more.",
            _IDLE,
        ),
    )
    web_session_lifetime: timedelta = field(
        default=timedelta(hours=24),
        metadata=setting("HANGO_WEB_SESSION_LIFETIME", "How long a sign-in lasts at most.", _SPAN),
    )
    default_model: str = field(
        default="claude-sonnet-5-5",
        metadata=setting("HANGO_DEFAULT_MODEL", "Model of an agent that names none."),
    )
    provider: str = field(
        default="",
        metadata=setting(
            "HANGO_PROVIDER",
            "Who answers model calls: `anthropic`, or `offline`, a stand-in that calls no model. "
            "Default: `anthropic` when HANGO_ANTHROPIC_API_KEY is set, otherwise `offline`.",
            validate.OneOf(("", "anthropic", "offline"), error="Not one of: anthropic, offline."),
        ),
    )
    anthropic_api_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_ANTHROPIC_API_KEY", "The key for the Messages API.", _KEY_OR_NOTHING
        ),
    )
    anthropic_base_url: str = field(
        default="https://api.anthropic.com",
        metadata=setting(
            "HANGO_ANTHROPIC_BASE_URL", "The server that speaks the Messages API.", _HTTP_URL
        ),
    )
    run_timeout: timedelta = field(
        default=timedelta(minutes=30),
        metadata=setting(
            "HANGO_RUN_TIMEOUT", "Longest time for one run, its tools included.", _SPAN
        ),
    )
    call_timeout: timedelta = field(
        default=timedelta(minutes=10),
        metadata=setting(
            "HANGO_CALL_TIMEOUT", "Longest time for one model call, with retries.", _SPAN
        ),
    )
    context_try_timeout: timedelta = field(
        default=timedelta(minutes=2),
        metadata=setting(
            "HANGO_CONTEXT_TRY_TIMEOUT", "Longest time for one try, with retries.", _SPAN
        ),
    )
    try_retention: timedelta = field(
        default=timedelta(days=7),
        metadata=setting("HANGO_TRY_RETENTION", "How long a try and its answer are kept.", _SPAN),
    )
    ablation_concurrency: int = field(
        default=2,
        metadata=setting(
            "HANGO_ABLATION_CONCURRENCY", "Tries of one ablation that run at a time.", _POSITIVE
        ),
    )
    run_lease: timedelta = field(
        default=timedelta(seconds=30),
        metadata=setting(
            "HANGO_RUN_LEASE",
            "How long a worker that says nothing is believed to be at work on its run or try.",
            _SPAN,
        ),
    )
    max_turns: int = field(
        default=50,
        metadata=setting(
            "HANGO_MAX_TURNS", "Most model calls of a run that names no other limit.", _POSITIVE
        ),
    )
    secret_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_SECRET_KEY",
            "Seals the secrets that tenants hand over (headers of tools): 32 random bytes in "
            "base64, as `openssl rand -base64 32` makes them. Default: secrets are refused; "
            "`hango up` makes a key and keeps it with its data.",
            _secret_key,
        ),
    )
    old_secret_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_OLD_SECRET_KEY",
            "The key before that one, with which older secrets can still be opened.",
            _secret_key,
        ),
    )
    outbound_allow: str = field(
        default="",
        metadata=setting(
            "HANGO_OUTBOUND_ALLOW",
            "Hosts, addresses and networks, with commas, that tenants' tools may call although "
            "they are private, by plain HTTP, or on other ports than 443: `10.0.0.0/8, "
            "internal.example:8443`.",
            _places,
        ),
    )
    max_waits: int = field(
        default=1000,
        metadata=setting(
            "HANGO_MAX_WAITS",
            "Requests per web process that may wait for runs and tries at a time.",
            _NOT_NEGATIVE,
        ),
    )
    max_streams: int = field(
        default=64,
        metadata=setting(
            "HANGO_MAX_STREAMS",
            "Requests per web process that may follow the events of runs at a time.",
            _NOT_NEGATIVE,
        ),
    )
    log_level: str = field(
        default="INFO",
        metadata=setting("HANGO_LOG_LEVEL", "DEBUG, INFO, WARNING or ERROR.", _LEVEL),
    )

    otlp_endpoint: str = field(
        default="",
        metadata=setting(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "Where spans and metrics go: the base URL of a collector that takes OTLP over HTTP. "
            "Default: telemetry is off. The other `OTEL_*` variables hold as OpenTelemetry "
            "defines them: see [telemetry](how-to/watch-hango.md).",
            _URL_OR_NOTHING,
        ),
    )
    otlp_traces_endpoint: str = field(
        default="",
        metadata=setting(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "The whole URL for spans alone.", _URL_OR_NOTHING
        ),
    )
    otlp_metrics_endpoint: str = field(
        default="",
        metadata=setting(
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
            "The whole URL for metrics alone.",
            _URL_OR_NOTHING,
        ),
    )
    otlp_protocol: str = field(
        default="http/protobuf",
        metadata=setting("OTEL_EXPORTER_OTLP_PROTOCOL", "How they are sent.", _PROTOCOL),
    )
    otel_traces_exporter: str = field(
        default="otlp",
        metadata=setting("OTEL_TRACES_EXPORTER", "`none`: no spans.", _EXPORTER),
    )
    otel_metrics_exporter: str = field(
        default="otlp",
        metadata=setting("OTEL_METRICS_EXPORTER", "`none`: no metrics.", _EXPORTER),
    )
    otel_disabled: bool = field(
        default=False,
        metadata=setting("OTEL_SDK_DISABLED", "`true`: telemetry is off, whatever else is set."),
    )
    langfuse: bool = field(
        default=False,
        metadata=setting(
            "HANGO_LANGFUSE", "`true`: spans of model calls carry what Langfuse reads."
        ),
    )
    metrics_token: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_METRICS_TOKEN",
            "The bearer token that may read /metrics. Default: /metrics is closed.",
            _KEY_OR_NOTHING,
        ),
    )

    @property
    def otel_spans(self) -> bool:
        """Whether spans are sent."""
        to = self.otlp_endpoint or self.otlp_traces_endpoint
        return bool(to) and self.otel_traces_exporter != "none" and not self.otel_disabled

    @property
    def otel_metrics(self) -> bool:
        """Whether metrics are sent."""
        to = self.otlp_endpoint or self.otlp_metrics_endpoint
        return bool(to) and self.otel_metrics_exporter != "none" and not self.otel_disabled

    @property
    def secret_keys(self) -> tuple[bytes, ...]:
        """The keys for secrets: the first seals, all of them open."""
        return tuple(_decoded(key) for key in (self.secret_key, self.old_secret_key) if key)

    @classmethod
    def from_environment(cls) -> Settings:
        """Read HANGO_* once, at start.

        Raises:
            BadSettings: names every missing or malformed variable at once.
        """
        values = _read(cls)
        values["admin_database_url"] = values["admin_database_url"] or values["database_url"]
        if values["provider"] == "anthropic" and not values["anthropic_api_key"]:
            raise BadSettings(
                "Bad configuration: HANGO_ANTHROPIC_API_KEY: HANGO_PROVIDER=anthropic needs it."
            )
        return cls(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What `hango up` is told: where to listen, where to keep data, whose servers to use."""

    host: str = field(
        default="127.0.0.1", metadata=setting("HANGO_HOST", "`hango up`: the address to listen on.")
    )
    port: int = field(
        default=0,
        metadata=setting(
            "HANGO_PORT", "`hango up`: the port to listen on; 0: 8600, or the next free one.", _PORT
        ),
    )
    data_dir: str = field(
        default=".hango",
        metadata=setting(
            "HANGO_DATA_DIR", "`hango up`: data, logs and connection.json; also the client's."
        ),
    )
    pg_bin: str = field(
        default="",
        metadata=setting(
            "HANGO_PG_BIN", "`hango up`: folder of PostgreSQL's programs. Default: the wheel's."
        ),
    )
    database_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_DATABASE_URL",
            "`hango up`: a PostgreSQL of your own. Default: an embedded one.",
            _POSTGRES_OR_NOTHING,
        ),
    )
    admin_database_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_ADMIN_DATABASE_URL",
            "`hango up`: the same, as the role that owns the tables.",
            _POSTGRES_OR_NOTHING,
        ),
    )
    redis_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_REDIS_URL",
            "`hango up`: a Redis of your own. Default: an embedded Valkey.",
            _REDIS_OR_NOTHING,
        ),
    )

    secret_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_SECRET_KEY",
            "`hango up`: the key that seals secrets. Default: one that is made once, and kept in "
            "the data folder.",
            _secret_key,
        ),
    )

    @classmethod
    def from_environment(cls) -> Launch:
        """Read HANGO_* once, at start.

        Raises:
            BadSettings: names every malformed variable at once.
        """
        return cls(**_read(cls))


def _read(kind: type[Settings | Launch]) -> dict[str, Any]:
    env = Env(eager=False)
    readers: dict[type, Callable[..., Any]] = {
        int: env.int,
        bool: env.bool,
        str: env.str,
        timedelta: env.timedelta,
        Secret: env.str,
    }
    values: dict[str, Any] = {}
    types = get_type_hints(kind)
    for each in fields(kind):
        options = {} if each.default is MISSING else {"default": each.default}
        if check := each.metadata["check"]:
            options["validate"] = check
        found = readers[types[each.name]](each.metadata["variable"], **options)
        values[each.name] = Secret(found) if types[each.name] is Secret and found else found
    try:
        env.seal()
    except EnvValidationError as error:
        raise BadSettings(f"Bad configuration: {_one_line(error)}") from None
    return values


def _one_line(error: EnvValidationError) -> str:
    faults = error.error_messages
    if not isinstance(faults, Mapping):
        return " ".join(faults)
    return "; ".join(f"{name}: {' '.join(texts)}" for name, texts in faults.items())
