"""Who sends requests to servers outside, within which bounds."""

from __future__ import annotations

import ssl

from app.tools.addresses import Reach
from app.tools.bounds import Cancelled, never
from app.tools.lookup import LookUp, by_the_system
from app.tools.messages import Incoming, Outgoing

__all__ = ["Incoming", "Outgoing", "OutsideClient"]


class OutsideClient:
    """Calls servers that tenants name. Safe to share between threads; keeps no connection."""

    def __init__(
        self,
        reach: Reach,
        *,
        look_up: LookUp = by_the_system,
        authorities: ssl.SSLContext | None = None,
    ) -> None:
        """`authorities`: those that vouch for servers; as a rule the public ones."""
        self.reach = reach
        self.look_up = look_up
        self._authorities = authorities

    def send(self, request: Outgoing, cancelled: Cancelled = never) -> Incoming:
        """Send a request and read its answer. `cancelled` is asked about twice a second.

        Raises:
            AddressRefused: this is not where hango may call.
            OutsideTooSlow: it took longer than `seconds`.
            OutsideFailed: there is no answer, or none that can be read, or it was cancelled.
        """
        # Here, since importing httpx2 takes longer than all else that a start does.
        from app.tools.exchange import exchange  # noqa: PLC0415

        return exchange(self.reach, self.look_up, self.authorities(), request, cancelled)

    def authorities(self) -> ssl.SSLContext:
        """What the certificates of servers are checked against."""
        if self._authorities is None:
            from app.tools.transport import public_authorities  # noqa: PLC0415 (imports httpx2)

            self._authorities = public_authorities()
        return self._authorities
