"""Every setting of the server: type, default, unit. Nothing else of hango reads the environment.

The OTEL_* variables that are listed here decide whether telemetry is on; all others of that name
are read by OpenTelemetry's SDK, once it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from app import setting_checks as checks
from app.environment import BadSettings, Secret, read, setting

__all__ = ["BadSettings", "Secret", "Settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a hango process is told from outside. Spans are `timedelta`, sizes are bytes."""

    database_url: Secret = field(
        metadata=setting(
            "HANGO_DATABASE_URL", "PostgreSQL, as the role that serves requests.", checks.POSTGRES
        )
    )
    redis_url: Secret = field(
        metadata=setting("HANGO_REDIS_URL", "Redis: broker, rate limits, wake-ups.", checks.REDIS)
    )
    admin_database_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_ADMIN_DATABASE_URL",
            "PostgreSQL, as the role that owns the tables (migrations). Default: the database URL.",
            checks.POSTGRES_OR_NOTHING,
        ),
    )
    database_pool: int = field(
        default=10,
        metadata=setting(
            "HANGO_DATABASE_POOL",
            "Connections per process; a worker has one more.",
            checks.POSITIVE,
        ),
    )
    statement_timeout: timedelta = field(
        default=timedelta(seconds=30),
        metadata=setting("HANGO_STATEMENT_TIMEOUT", "Longest time for one statement.", checks.SPAN),
    )
    max_body_bytes: int = field(
        default=8 * 2**20,
        metadata=setting("HANGO_MAX_BODY_BYTES", "Largest JSON body, in bytes.", checks.POSITIVE),
    )
    max_import_bytes: int = field(
        default=64 * 2**20,
        metadata=setting("HANGO_MAX_IMPORT_BYTES", "Largest import, in bytes.", checks.POSITIVE),
    )
    max_attachment_bytes: int = field(
        default=32 * 2**20,
        metadata=setting(
            "HANGO_MAX_ATTACHMENT_BYTES", "Largest attachment, in bytes.", checks.POSITIVE
        ),
    )
    rate_limit_per_minute: int = field(
        default=600,
        metadata=setting(
            "HANGO_RATE_LIMIT_PER_MINUTE",
            "Requests per key and minute; 0: no limit.",
            checks.NOT_NEGATIVE,
        ),
    )
    idempotency_retention: timedelta = field(
        default=timedelta(hours=24),
        metadata=setting(
            "HANGO_IDEMPOTENCY_RETENTION", "How long a key is remembered.", checks.SPAN
        ),
    )
    public_url: str = field(
        default="",
        metadata=setting(
            "HANGO_PUBLIC_URL",
            "Where browsers reach hango, as https://hango.example.com. With https the cookie of "
            "the admin page is sent over TLS alone. Default: http, at whatever address is asked.",
            checks.ORIGIN_OR_NOTHING,
        ),
    )
    web_session_idle: timedelta = field(
        default=timedelta(hours=4),
        metadata=setting(
            "HANGO_WEB_SESSION_IDLE",
            "How long a sign-in on the admin page lasts without being used; 5 minutes or more.",
            checks.IDLE,
        ),
    )
    web_session_lifetime: timedelta = field(
        default=timedelta(hours=24),
        metadata=setting(
            "HANGO_WEB_SESSION_LIFETIME", "How long a sign-in lasts at most.", checks.SPAN
        ),
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
            checks.PROVIDER,
        ),
    )
    anthropic_api_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_ANTHROPIC_API_KEY", "The key for the Messages API.", checks.KEY_OR_NOTHING
        ),
    )
    anthropic_base_url: str = field(
        default="https://api.anthropic.com",
        metadata=setting(
            "HANGO_ANTHROPIC_BASE_URL", "The server that speaks the Messages API.", checks.HTTP_URL
        ),
    )
    run_timeout: timedelta = field(
        default=timedelta(minutes=30),
        metadata=setting(
            "HANGO_RUN_TIMEOUT", "Longest time for one run, its tools included.", checks.SPAN
        ),
    )
    call_timeout: timedelta = field(
        default=timedelta(minutes=10),
        metadata=setting(
            "HANGO_CALL_TIMEOUT", "Longest time for one model call, with retries.", checks.SPAN
        ),
    )
    context_try_timeout: timedelta = field(
        default=timedelta(minutes=2),
        metadata=setting(
            "HANGO_CONTEXT_TRY_TIMEOUT", "Longest time for one try, with retries.", checks.SPAN
        ),
    )
    try_retention: timedelta = field(
        default=timedelta(days=7),
        metadata=setting(
            "HANGO_TRY_RETENTION", "How long a try and its answer are kept.", checks.SPAN
        ),
    )
    ablation_concurrency: int = field(
        default=2,
        metadata=setting(
            "HANGO_ABLATION_CONCURRENCY",
            "Tries of one ablation that run at a time.",
            checks.POSITIVE,
        ),
    )
    run_lease: timedelta = field(
        default=timedelta(seconds=30),
        metadata=setting(
            "HANGO_RUN_LEASE",
            "How long a worker that says nothing is believed to be at work on its run or try.",
            checks.SPAN,
        ),
    )
    max_turns: int = field(
        default=50,
        metadata=setting(
            "HANGO_MAX_TURNS",
            "Most model calls of a run that names no other limit.",
            checks.POSITIVE,
        ),
    )
    secret_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_SECRET_KEY",
            "Seals the secrets that tenants hand over (headers of tools): 32 random bytes in "
            "base64, as `openssl rand -base64 32` makes them. Default: secrets are refused; "
            "`hango up` makes a key and keeps it with its data.",
            checks.secret_key,
        ),
    )
    old_secret_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_OLD_SECRET_KEY",
            "The key before that one, with which older secrets can still be opened.",
            checks.secret_key,
        ),
    )
    outbound_allow: str = field(
        default="",
        metadata=setting(
            "HANGO_OUTBOUND_ALLOW",
            "Hosts, addresses and networks, with commas, that tenants' tools may call although "
            "they are private, by plain HTTP, or on other ports than 443: `10.0.0.0/8, "
            "internal.example:8443`.",
            checks.places_alone,
        ),
    )
    max_waits: int = field(
        default=1000,
        metadata=setting(
            "HANGO_MAX_WAITS",
            "Requests per web process that may wait for runs and tries at a time.",
            checks.NOT_NEGATIVE,
        ),
    )
    max_streams: int = field(
        default=64,
        metadata=setting(
            "HANGO_MAX_STREAMS",
            "Requests per web process that may follow the events of runs at a time.",
            checks.NOT_NEGATIVE,
        ),
    )
    log_level: str = field(
        default="INFO",
        metadata=setting("HANGO_LOG_LEVEL", "DEBUG, INFO, WARNING or ERROR.", checks.LEVEL),
    )

    otlp_endpoint: str = field(
        default="",
        metadata=setting(
            "OTEL_EXPORTER_OTLP_ENDPOINT",
            "Where spans and metrics go: the base URL of a collector that takes OTLP over HTTP. "
            "Default: telemetry is off. The other `OTEL_*` variables hold as OpenTelemetry "
            "defines them: see [telemetry](how-to/watch-hango.md).",
            checks.URL_OR_NOTHING,
        ),
    )
    otlp_traces_endpoint: str = field(
        default="",
        metadata=setting(
            "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
            "The whole URL for spans alone.",
            checks.URL_OR_NOTHING,
        ),
    )
    otlp_metrics_endpoint: str = field(
        default="",
        metadata=setting(
            "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
            "The whole URL for metrics alone.",
            checks.URL_OR_NOTHING,
        ),
    )
    otlp_protocol: str = field(
        default="http/protobuf",
        metadata=setting("OTEL_EXPORTER_OTLP_PROTOCOL", "How they are sent.", checks.PROTOCOL),
    )
    otel_traces_exporter: str = field(
        default="otlp",
        metadata=setting("OTEL_TRACES_EXPORTER", "`none`: no spans.", checks.EXPORTER),
    )
    otel_metrics_exporter: str = field(
        default="otlp",
        metadata=setting("OTEL_METRICS_EXPORTER", "`none`: no metrics.", checks.EXPORTER),
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
            checks.KEY_OR_NOTHING,
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
        return tuple(checks.decoded(key) for key in (self.secret_key, self.old_secret_key) if key)

    @classmethod
    def from_environment(cls) -> Settings:
        """Read HANGO_* once, at start.

        Raises:
            BadSettings: names every missing or malformed variable at once.
        """
        values = read(cls)
        values["admin_database_url"] = values["admin_database_url"] or values["database_url"]
        if values["provider"] == "anthropic" and not values["anthropic_api_key"]:
            raise BadSettings(
                "Bad configuration: HANGO_ANTHROPIC_API_KEY: HANGO_PROVIDER=anthropic needs it."
            )
        return cls(**values)
