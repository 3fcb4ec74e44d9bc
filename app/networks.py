"""Hosts and networks as a setting names them: "10.0.0.0/8, internal.example:8443, [fd00::1]:80"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address

_ENTRY = re.compile(r"(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^\[\]:]+))(?::(?P<port>\d{1,5}))?", re.ASCII)
_LABEL = r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(\.{_LABEL})*", re.ASCII)
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*", re.ASCII)


def is_host_name(text: str) -> bool:
    """Whether `text` is a host's name in lower case, and no spelling of an address.

    A name whose last label is a number is an address to some programs: `127.1`, `0x7f000001`.
    """
    return bool(_NAME.fullmatch(text)) and not _NUMBER.fullmatch(text.rpartition(".")[2])


@dataclass(frozen=True, slots=True)
class Place:
    """One named host, address or network, on one port or on all."""

    host: str | IPv4Network | IPv6Network
    port: int | None

    def covers(self, host: str, port: int, address: Address | None) -> bool:
        """Whether this host, which was found at `address`, is named on this port."""
        if self.port not in (None, port):
            return False
        if isinstance(self.host, str):
            return self.host == host
        return address is not None and address in self.host


def places(text: str) -> tuple[Place, ...]:
    """The places in a list with commas.

    Raises:
        ValueError: names the entry that is neither a host, nor an address, nor a network.
    """
    return tuple(_place(entry.strip()) for entry in text.split(",") if entry.strip())


def _place(entry: str) -> Place:
    bare_v6 = entry.count(":") > 1 and not entry.startswith("[")
    match = _ENTRY.fullmatch(f"[{entry}]" if bare_v6 else entry)
    port = int(match["port"]) if match and match["port"] else None
    if match is None or (port is not None and not 1 <= port <= 65_535):
        raise ValueError(entry)
    host = (match["v6"] or match["host"]).lower()
    if not match["v6"] and is_host_name(host):
        return Place(host, port)
    try:
        return Place(ip_network(host), port)
    except ValueError:
        raise ValueError(entry) from None
