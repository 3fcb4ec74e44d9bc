"""Which servers may be called, by what a URL says and by where its host is."""

from __future__ import annotations

from ipaddress import ip_address

import pytest

from app.errors import AddressRefused
from app.tools.addresses import (
    NO_HOST,
    NO_PORT,
    NO_USER,
    NOT_A_URL,
    NOT_PUBLIC,
    NOT_SECURE,
    OTHER_PORT,
    Reach,
    Target,
    is_public,
)

NOT_PUBLIC_ADDRESSES = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 127.0.0.1 127.255.0.1
    168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1
    192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1
    239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b::808:808
    64:ff9b:1::1 100::1 2001::1 2001:0:7f00:1:: 2001:db8::1 2002:7f00:1::1 2002:808:808::1
    3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%1 fec0::1 ff02::1
""".split()  # noqa: SIM905 (a table is read more easily)
PUBLIC_ADDRESSES = """
    1.1.1.1 8.8.8.8 100.63.255.255 100.128.0.0 172.15.255.255 172.32.0.0 192.167.255.255
    223.255.255.255 2606:4700:4700::1111 2001:4860:4860::8888 2a00:1450:4001::1
""".split()  # noqa: SIM905 (a table is read more easily)


@pytest.mark.parametrize("text", NOT_PUBLIC_ADDRESSES)
def test_addresses_that_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC_ADDRESSES)
def test_addresses_that_are_public(text: str) -> None:
    assert is_public(ip_address(text))


REFUSED = [
    ("", NOT_A_URL),
    ("example.com", NOT_A_URL),
    ("//example.com/", NOT_A_URL),
    ("file:///etc/passwd", NOT_A_URL),
    ("gopher://example.com/", NOT_A_URL),
    ("ftp://example.com/", NOT_A_URL),
    ("javascript:alert(1)", NOT_A_URL),
    ("unix:///run/x.sock", NOT_A_URL),
    ("https:/example.com", NO_HOST),
    ("https:///etc", NO_HOST),
    ("https://example.com/\n", NOT_A_URL),
    ("https://exa mple.com/", NOT_A_URL),
    ("https://example.com/\x00", NOT_A_URL),
    ("https://example.com\\@127.0.0.1/", NOT_A_URL),
    ("https://exämple.com/", NOT_A_URL),
    ("https://１２７.0.0.1/", NOT_A_URL),
    ("https://127。0。0。1/", NOT_A_URL),
    (f"https://example.com/{'x' * 2048}", NOT_A_URL),
    ("https://user@example.com/", NO_USER),
    ("https://user:pass@example.com/", NO_USER),
    ("https://example.com@127.0.0.1/", NO_USER),
    ("https://127.0.0.1:443@example.com/", NO_USER),
    ("https://2130706433/", NO_HOST),
    ("https://0x7f000001/", NO_HOST),
    ("https://0x7f.1/", NO_HOST),
    ("https://127.1/", NO_HOST),
    ("https://0177.0.0.1/", NO_HOST),
    ("https://127.0.0.01/", NO_HOST),
    ("https://127.0.0.1./", NO_HOST),
    ("https://127.0.0.256/", NO_HOST),
    ("https://1.2.3.4.5/", NO_HOST),
    ("https://example.0x7f/", NO_HOST),
    ("https://[fe80::1%25eth0]/", NO_HOST),
    ("https://[fe80::1%eth0]/", NO_HOST),
    ("https://[::1/", NO_HOST),
    ("https://[127.0.0.1]/", NO_HOST),
    ("https://::1/", NO_HOST),
    ("https://ex%61mple.com/", NO_HOST),
    ("https://example..com/", NO_HOST),
    ("https://.example.com/", NO_HOST),
    ("https://example.com./", NO_HOST),
    ("https://-example.com/", NO_HOST),
    (f"https://{'a' * 64}.com/", NO_HOST),
    ("https://127.0.0.1/", NOT_PUBLIC),
    ("https://[::1]/", NOT_PUBLIC),
    ("https://[::ffff:127.0.0.1]/", NOT_PUBLIC),
    ("https://[::ffff:7f00:1]/", NOT_PUBLIC),
    ("https://[0:0:0:0:0:ffff:7f00:0001]/", NOT_PUBLIC),
    ("https://[64:ff9b::127.0.0.1]/", NOT_PUBLIC),
    ("https://169.254.169.254/latest/meta-data/", NOT_PUBLIC),
    ("http://169.254.169.254/latest/meta-data/", NOT_PUBLIC),
    ("https://[fd00:ec2::254]/", NOT_PUBLIC),
    ("http://example.com/", NOT_SECURE),
    ("http://8.8.8.8/", NOT_SECURE),
    ("http://example.com:443/", NOT_SECURE),
    ("https://example.com:22/", OTHER_PORT),
    ("https://8.8.8.8:6379/", OTHER_PORT),
    ("https://example.com:0/", NO_PORT),
    ("https://example.com:99999/", NO_PORT),
    ("https://example.com:80a/", NO_PORT),
]


@pytest.mark.parametrize(("url", "reason"), REFUSED)
def test_urls_that_are_refused(url: str, reason: str) -> None:
    with pytest.raises(AddressRefused) as caught:
        Reach().check_url(url)

    assert caught.value.detail == reason


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.com", Target("https", "example.com", 443)),
        ("HTTPS://EXAMPLE.com:443/x?y=@127.0.0.1", Target("https", "example.com", 443)),
        ("https://example.com:/", Target("https", "example.com", 443)),
        ("https://xn--exmple-cua.com/", Target("https", "xn--exmple-cua.com", 443)),
        ("https://under_score.example.com/", Target("https", "under_score.example.com", 443)),
        ("https://8.8.8.8/", Target("https", "8.8.8.8", 443)),
        ("https://[2606:4700:4700::1111]/", Target("https", "2606:4700:4700::1111", 443)),
    ],
)
def test_urls_that_may_be_called(url: str, target: Target) -> None:
    assert Reach().check_url(url) == target


ALLOWED = [
    ("127.0.0.1", "http://127.0.0.1:8080/", "127.0.0.1", True),
    ("127.0.0.1", "http://127.0.0.2/", "127.0.0.2", False),
    ("127.0.0.1", "https://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1", False),
    ("127.0.0.1:8080", "http://127.0.0.1:8080/", "127.0.0.1", True),
    ("127.0.0.1:8080", "http://127.0.0.1:8081/", "127.0.0.1", False),
    ("127.0.0.1", "http://any.example/", "127.0.0.1", True),
    ("10.0.0.0/8", "https://any.example/", "10.9.8.7", True),
    ("10.0.0.0/8:8443", "https://any.example:8443/", "10.9.8.7", True),
    ("10.0.0.0/8:8443", "https://any.example/", "10.9.8.7", False),
    ("10.0.0.0/8", "https://any.example/", "11.0.0.1", True),  # public
    ("10.0.0.0/8", "http://any.example/", "11.0.0.1", False),
    ("internal.example:8443", "https://internal.example:8443/", "10.0.0.1", True),
    ("internal.example:8443", "https://internal.example/", "10.0.0.1", False),
    ("INTERNAL.example", "http://internal.EXAMPLE/", "10.0.0.1", True),
    ("internal.example", "http://x.internal.example/", "10.0.0.1", False),
    ("::1", "http://[::1]:80/", "::1", True),
    ("[::1]:81", "http://[::1]:81/", "::1", True),
    ("fd00::/8", "https://any.example/", "fd12::1", True),
    (" 10.0.0.1 ,, fd00::1 ", "http://[fd00::1]/", "fd00::1", True),
]


@pytest.mark.parametrize(("setting", "url", "address", "may"), ALLOWED)
def test_what_the_deployment_allows(setting: str, url: str, address: str, may: bool) -> None:
    reach = Reach.of(setting)

    def check() -> None:
        reach.check_addresses(reach.check_url(url), [ip_address(address)])

    if may:
        check()
    else:
        with pytest.raises(AddressRefused):
            check()


def test_one_private_address_spoils_the_others() -> None:
    target = Target("https", "any.example", 443)

    with pytest.raises(AddressRefused):
        Reach().check_addresses(target, [ip_address("8.8.8.8"), ip_address("10.0.0.1")])


@pytest.mark.parametrize(
    "entry", ["a b", "300.1.1.1", "10.0.0.0/99", "10.0.0.1/8", "host:0", "host:70000", "h:x",
              "http://host", "[::1", "*", "fe80::1%eth0/64", "127.1", "host/8", "user@host"]
)  # fmt: skip
def test_entries_that_name_no_place(entry: str) -> None:
    with pytest.raises(ValueError, match=r".+") as caught:
        Reach.of(f"10.0.0.1, {entry}")

    assert str(caught.value) == entry
