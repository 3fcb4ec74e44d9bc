"""Which servers hango may call: the one rule against server-side request forgery.

Tenants name URLs, and hango stands where it can reach what they cannot: its own database, its
neighbours, the cloud's metadata. So a host is called only when every address that it has is a
public one, or when the deployment names it in HANGO_OUTBOUND_ALLOW. The same goes for plain HTTP
and for ports other than 443. A name proves nothing: see `transport.py`, which connects to the very
addresses that were checked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import SplitResult, urlsplit

from app.errors import AddressRefused
from app.networks import Address, Place, is_host_name, places

MAX_URL_CHARACTERS = 2048
DEFAULT_PORTS = {"https": 443, "http": 80}

NAMED = "the deployment can allow it in HANGO_OUTBOUND_ALLOW"
NOT_A_URL = "This is not an absolute http or https URL of visible ASCII characters."
NO_USER = "A URL has no user and no password: put the secret into a header."
NO_HOST = "Write the host as a name, as four decimal numbers, or as an IPv6 address in brackets."
NO_PORT = "A port is 1 to 65535."
NOT_PUBLIC = f"The host is on an address that is not public; {NAMED}."
NOT_SECURE = f"hango calls by https alone; {NAMED}."
OTHER_PORT = f"hango calls port 443 alone; {NAMED}."

# IANA's registries of special-purpose addresses, and one more: 168.63.129.16 is Azure's own host.
_V4 = [
    ip_network("0.0.0.0/8"),
    ip_network("10.0.0.0/8"),
    ip_network("100.64.0.0/10"),
    ip_network("127.0.0.0/8"),
    ip_network("168.63.129.16/32"),
    ip_network("169.254.0.0/16"),
    ip_network("172.16.0.0/12"),
    ip_network("192.0.0.0/24"),
    ip_network("192.0.2.0/24"),
    ip_network("192.31.196.0/24"),
    ip_network("192.52.193.0/24"),
    ip_network("192.88.99.0/24"),
    ip_network("192.168.0.0/16"),
    ip_network("192.175.48.0/24"),
    ip_network("198.18.0.0/15"),
    ip_network("198.51.100.0/24"),
    ip_network("203.0.113.0/24"),
    ip_network("224.0.0.0/4"),
    ip_network("240.0.0.0/4"),
]
# All public IPv6 addresses are in 2000::/3. What carries an IPv4 address is left out of it (Teredo
# in 2001::/23, 6to4 in 2002::/16) or stands outside (mapped, NAT64), so that none is a way round.
_V6_PUBLIC = ip_network("2000::/3")
_V6 = [ip_network(each) for each in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]


def is_public(address: Address) -> bool:
    """Whether this is an address that the whole internet has in common."""
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _V4)
    return address in _V6_PUBLIC and not any(address in network for network in _V6)


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL says about where to connect."""

    scheme: str  # http or https
    host: str  # in lower case; an IPv6 address without brackets
    port: int

    @property
    def address(self) -> Address | None:
        """The address that the host is; None for a name.

        Raises:
            AddressRefused: it is neither.
        """
        if is_host_name(self.host):
            return None
        try:
            return ip_address(self.host)
        except ValueError:
            raise AddressRefused(NO_HOST) from None


@dataclass(frozen=True, slots=True)
class Reach:
    """How far hango reaches: everything public by https, and what the deployment names."""

    named: tuple[Place, ...] = ()

    @classmethod
    def of(cls, setting: str) -> Reach:
        """From the text of HANGO_OUTBOUND_ALLOW. Raises ValueError: it names a bad entry."""
        return cls(places(setting))

    def check_url(self, url: str) -> Target:
        """Where the URL leads, checked as far as that is possible without looking up its name.

        Raises:
            AddressRefused
        """
        target = target_of(url)
        if target.address is not None:
            self.check_addresses(target, [target.address])
        elif not self._may_lead_to(target):
            self._refuse(target)
        return target

    def check_addresses(self, target: Target, addresses: Sequence[Address]) -> None:
        """Check every address that a host was found at: one that is refused spoils all.

        Raises:
            AddressRefused
        """
        for address in addresses:
            if any(place.covers(target.host, target.port, address) for place in self.named):
                continue
            if not is_public(address):
                raise AddressRefused(NOT_PUBLIC)
            self._refuse(target)

    def _may_lead_to(self, target: Target) -> bool:
        """Whether there is a named place that the host may be, once its addresses are known."""
        return any(
            place.covers(target.host, target.port, None)
            or (not isinstance(place.host, str) and place.port in (None, target.port))
            for place in self.named
        )

    def _refuse(self, target: Target) -> None:
        """Raises AddressRefused, unless it is https on its port."""
        if target.scheme != "https":
            raise AddressRefused(NOT_SECURE)
        if target.port != DEFAULT_PORTS["https"]:
            raise AddressRefused(OTHER_PORT)


def target_of(url: str) -> Target:
    """Take a URL apart, strictly: what two programs could read in two ways is refused.

    Raises:
        AddressRefused
    """
    if len(url) > MAX_URL_CHARACTERS or not _is_plain(url):
        raise AddressRefused(NOT_A_URL)
    try:
        parts = urlsplit(url)
    except ValueError:
        raise AddressRefused(NO_HOST) from None
    if parts.scheme not in DEFAULT_PORTS:
        raise AddressRefused(NOT_A_URL)
    if "@" in parts.netloc:
        raise AddressRefused(NO_USER)
    return Target(parts.scheme, _host(parts), _port(parts))


def _is_plain(url: str) -> bool:
    return url.isascii() and all("!" <= character <= "~" for character in url) and "\\" not in url


def _host(parts: SplitResult) -> str:
    host = parts.hostname or ""
    if parts.netloc.startswith("["):
        try:
            found = IPv6Address(host)
        except ValueError:
            raise AddressRefused(NO_HOST) from None
        if found.scope_id is not None:
            raise AddressRefused(NO_HOST)
        return str(found)
    if is_host_name(host):
        return host
    try:
        return str(IPv4Address(host))
    except ValueError:
        raise AddressRefused(NO_HOST) from None


def _port(parts: SplitResult) -> int:
    try:
        port = parts.port
    except ValueError:
        raise AddressRefused(NO_PORT) from None
    if port == 0:
        raise AddressRefused(NO_PORT)
    return port or DEFAULT_PORTS[parts.scheme]
