"""Keeps this process's claims on runs and tries alive, and hears that they are to be cancelled."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import structlog

from app.domain.work import Held
from app.errors import Failure
from app.store.transaction import Database

log = structlog.get_logger(__name__)


class Lease:
    """What is known of one claim."""

    def __init__(self) -> None:
        self.lost = False  # somebody else has settled it, or will
        self.cancelled = False


class Leases:
    """One thread per process renews all claims, three times in the time that one lasts."""

    def __init__(self, database: Database, span: timedelta) -> None:
        self._database = database
        self._span = span
        self._held: dict[Held, Lease] = {}
        self._lock = threading.Lock()
        self._wanted = threading.Condition(self._lock)
        self._thread: threading.Thread | None = None

    @contextmanager
    def keeping(self, held: Held) -> Iterator[Lease]:
        """Keep this claim alive while the block runs."""
        lease = Lease()
        with self._lock:
            self._held[held] = lease
            if self._thread is None:
                self._thread = threading.Thread(target=self._keep, name="leases", daemon=True)
                self._thread.start()
        try:
            yield lease
        finally:
            with self._wanted:
                self._held.pop(held, None)
                self._wanted.notify()

    def renew(self) -> None:
        """Renew every claim now. What the database does not confirm stays as it was."""
        with self._lock:
            leases = dict(self._held)
        if not leases:
            return
        try:
            with self._database.system() as tx:
                good = tx.runs.renew(leases, self._span) | tx.tries.renew(leases, self._span)
        except Failure as failure:
            log.warning("leases_not_renewed", code=failure.code, number=len(leases))
            return
        for held, lease in leases.items():
            lease.lost = held not in good
            lease.cancelled = lease.cancelled or good.get(held, False)

    def _keep(self) -> None:
        """Until nothing is held: then the thread ends, and the next claim starts another."""
        while True:
            with self._wanted:
                self._wanted.wait_for(lambda: not self._held, self._span.total_seconds() / 3)
                if not self._held:
                    self._thread = None
                    return
            self.renew()
