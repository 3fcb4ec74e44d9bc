"""What values of settings have to be. A text that follows a variable's name says so.

The texts never quote the value: it may hold a password.
"""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta

from environs import ValidationError, validate

from app.networks import places

SECRET_KEY_BYTES = 32

_NO_KEY = "Not a key: it has blanks or characters that no HTTP header carries."
KEY_OR_NOTHING = validate.Regexp(r"[\x21-\x7e]*\Z", error=_NO_KEY)
HTTP_URL = validate.URL(schemes={"http", "https"}, require_tld=False, error="Not an http(s) URL.")
ORIGIN_OR_NOTHING = validate.Regexp(
    r"(https?://[^/?#@\s]+/?)?\Z", error="Not an address alone: https://hango.example.com"
)
_POSTGRES_PATTERN = r"postgres(ql)?(\+psycopg2)?://.+"
_NO_POSTGRES = "Not a PostgreSQL URL: postgresql://user:password@host/database"
POSTGRES = validate.Regexp(rf"{_POSTGRES_PATTERN}\Z", error=_NO_POSTGRES)
POSTGRES_OR_NOTHING = validate.Regexp(rf"({_POSTGRES_PATTERN})?\Z", error=_NO_POSTGRES)
_REDIS_PATTERN = "(rediss?|unix)://.+"
_NO_REDIS = "Not a Redis URL: redis://host:6379/0, rediss://… or unix:///path/of/socket"
REDIS = validate.Regexp(rf"{_REDIS_PATTERN}\Z", error=_NO_REDIS)
REDIS_OR_NOTHING = validate.Regexp(rf"({_REDIS_PATTERN})?\Z", error=_NO_REDIS)
POSITIVE = validate.Range(1, error="At least 1.")
NOT_NEGATIVE = validate.Range(0, error="0 or more.")
SPAN = validate.Range(timedelta(milliseconds=1), error="Longer than nothing: 30s, 2m, 1h.")
IDLE = validate.Range(timedelta(minutes=5), error="At least 5m: use is noted by the minute.")
PORT = validate.Range(0, 65_535, error="A port is 0 to 65535.")
_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
LEVEL = validate.OneOf(_LEVELS, error="Not one of: DEBUG, INFO, WARNING, ERROR.")

PROVIDER = validate.OneOf(("", "anthropic", "offline"), error="Not one of: anthropic, offline.")
EXPORTER = validate.OneOf(("otlp", "none"), error="Not one of: otlp, none.")
PROTOCOL = validate.OneOf(("http/protobuf",), error="hango sends http/protobuf alone.")
_NO_URL = "Not an http(s) URL: http://collector:4318"
URL_OR_NOTHING = validate.Regexp(r"(https?://\S+)?\Z", error=_NO_URL)


def places_alone(value: str) -> None:
    """Hosts and networks, as `app.networks` reads them."""
    try:
        places(value)
    except ValueError as error:
        raise ValidationError(
            f"{error} is none of: host, host:port, address, network (10.0.0.0/8), [IPv6]:port."
        ) from None


def secret_key(value: str) -> None:
    """A key of the right length, or nothing."""
    if value and len(decoded(value)) != SECRET_KEY_BYTES:
        raise ValidationError("Not 32 bytes in base64: make it with `openssl rand -base64 32`.")


def decoded(key: str) -> bytes:
    """The bytes of a key, in either alphabet of base64; none where it is not base64."""
    standard = key.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)
    except binascii.Error:
        return b""
