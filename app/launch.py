"""Every setting of `hango up`."""

from __future__ import annotations

from dataclasses import dataclass, field

from app import setting_checks as checks
from app.environment import Secret, read, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What `hango up` is told: where to listen, where to keep data, whose servers to use."""

    host: str = field(
        default="127.0.0.1", metadata=setting("HANGO_HOST", "`hango up`: the address to listen on.")
    )
    port: int = field(
        default=0,
        metadata=setting(
            "HANGO_PORT",
            "`hango up`: the port to listen on; 0: 8600, or the next free one.",
            checks.PORT,
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
            checks.POSTGRES_OR_NOTHING,
        ),
    )
    admin_database_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_ADMIN_DATABASE_URL",
            "`hango up`: the same, as the role that owns the tables.",
            checks.POSTGRES_OR_NOTHING,
        ),
    )
    redis_url: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_REDIS_URL",
            "`hango up`: a Redis of your own. Default: an embedded Valkey.",
            checks.REDIS_OR_NOTHING,
        ),
    )

    secret_key: Secret = field(
        default=Secret(""),
        metadata=setting(
            "HANGO_SECRET_KEY",
            "`hango up`: the key that seals secrets. Default: one that is made once, and kept in "
            "the data folder.",
            checks.secret_key,
        ),
    )

    @classmethod
    def from_environment(cls) -> Launch:
        """Read HANGO_* once, at start.

        Raises:
            BadSettings: names every malformed variable at once.
        """
        return cls(**read(cls))
