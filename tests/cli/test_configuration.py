from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli import configuration
from cli.exits import Stop
from tests.cli.shell import Canned, Result, on_terminal


def chosen(url: str | None = None, key: str | None = None, profile: str | None = None) -> str:
    server = configuration.server(url, key, profile)
    return f"{server.url} {server.key}"


def profile(name: str, url: str, key: str) -> Path:
    return configuration.save_profile(name, configuration.parse(url, "--url", key))


def connection_file(folder: Path, url: str, key: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "connection.json"
    path.write_text(json.dumps({"url": url, "key": key}))
    return path


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HANGO_API_URL", "http://variable:1")
    monkeypatch.setenv("HANGO_API_KEY", "variable")


def test_options_come_first(home: Path, variables: None) -> None:
    profile("default", "http://profile", "profile")

    assert chosen("http://option", "option") == "http://option option"


def test_variables_come_before_the_profile(home: Path, variables: None) -> None:
    profile("default", "http://profile", "profile")

    assert chosen() == "http://variable:1 variable"


def test_a_named_profile_is_an_option(home: Path, variables: None) -> None:
    profile("work", "http://work", "work")

    assert chosen(profile="work") == "http://work work"
    assert chosen() == "http://variable:1 variable"


def test_the_profile_comes_before_the_server_on_this_machine(home: Path) -> None:
    connection_file(home / "here" / ".hango", "http://127.0.0.1:8080", "local")
    assert chosen() == "http://127.0.0.1:8080 local"

    profile("default", "http://profile", "profile")
    assert chosen() == "http://profile profile"


def test_the_data_folder_is_looked_for_upwards(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection_file(home / ".hango", "http://127.0.0.1:8080", "local")
    deep = home / "here" / "a" / "b"
    deep.mkdir(parents=True)
    monkeypatch.chdir(deep)

    assert chosen() == "http://127.0.0.1:8080 local"


def test_a_named_data_folder_is_the_only_one(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection_file(home / "here" / ".hango", "http://127.0.0.1:8080", "local")
    connection_file(home / "data folder", "http://127.0.0.1:9", "named")
    monkeypatch.setenv("HANGO_DATA_DIR", str(home / "data folder"))
    assert chosen() == "http://127.0.0.1:9 named"

    monkeypatch.setenv("HANGO_DATA_DIR", str(home / "nothing"))
    with pytest.raises(Stop, match="No server is named"):
        chosen()


def test_a_file_of_somebody_else_on_the_way_up_is_not_trusted(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection_file(home / ".hango", "http://attacker", "planted")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)

    with pytest.raises(Stop, match="No server is named"):
        chosen()


def test_a_stored_key_is_sent_to_its_own_server_alone(home: Path) -> None:
    profile("default", "https://hango.example.com", "secret")

    assert chosen("https://HANGO.example.com:443/") == "https://hango.example.com secret"
    for other in (
        "https://evil.example.com",
        "http://hango.example.com",
        "https://hango.example.com:8443",
    ):
        with pytest.raises(Stop, match="No API key for"):
            chosen(other)


def test_a_key_alone_goes_to_the_stored_server(home: Path) -> None:
    profile("default", "https://hango.example.com", "secret")

    assert chosen(key="other") == "https://hango.example.com other"


@pytest.mark.parametrize(
    "url",
    [
        "localhost:8000", "ftp://x", "http://", "http://x:99999", "http://x y", "http://x?a=b",
        "http://x#f", "http://[::1", "//x", "http://a..b", "http://user:pw@x", "http://x\n",
    ],
)  # fmt: skip
def test_what_is_no_url_is_a_usage_error(url: str) -> None:
    with pytest.raises(Stop) as stopped:
        chosen(url, "k")

    assert stopped.value.exit_code == 2
    assert "pw" not in stopped.value.line


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://localhost:80", "http://localhost"),
        ("https://Example.COM/base/", "https://example.com/base"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://bücher.example", "http://bücher.example"),
    ],
)
def test_urls_have_one_form(given: str, url: str) -> None:
    assert chosen(given, "k") == f"{url} k"


@pytest.mark.parametrize("key", ["kéy", "a b", "a\r\nX-Evil: 1", "a\x00"])
def test_a_key_that_cannot_be_one_is_not_sent(
    server: Canned, hango: Callable[..., Result], key: str
) -> None:
    result = hango("agents", "list", "--url", server.url, "--key", key)

    assert (result.code, server.requests) == (2, [])
    assert key not in result.err


@pytest.mark.parametrize("text", ["{", "[]", '{"profiles": []}', '{"profiles": {"default": {}}}'])
def test_a_broken_file_is_a_usage_error(
    home: Path, hango: Callable[..., Result], text: str
) -> None:
    path = home / ".config" / "hango" / "profiles.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)

    result = hango("agents", "list")

    assert (result.code, result.err.count("\n")) == (2, 1)


def test_login_checks_the_key_and_remembers_it(
    server: Canned, hango: Callable[..., Result], home: Path
) -> None:
    server.answers_json({"tenant": {"name": "acme"}, "user": {"name": "ann"}, "role": "admin"})

    result = hango("login", "--url", server.url, "--key", "-", stdin="hk_x_y\n")

    assert result.code == 0, result.err
    assert result.out.startswith(f"Signed in at {server.url} as ann (admin of acme).\n")
    path = home / ".config" / "hango" / "profiles.json"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in path.parent.iterdir()] == ["profiles.json"]
    assert chosen() == f"{server.url} hk_x_y"


def test_login_keeps_the_other_profiles(
    server: Canned, hango: Callable[..., Result], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "xdg"))
    profile("work", "http://work", "work")
    server.answers_json({})

    result = hango("login", "--url", server.url, "--key", "k", "--profile", "play", "--json")

    assert result.json["file"] == str(home / "xdg" / "hango" / "profiles.json")
    assert chosen(profile="work") == "http://work work"
    assert chosen(profile="play") == f"{server.url} k"


def test_a_key_that_is_refused_is_not_remembered(
    server: Canned, hango: Callable[..., Result], home: Path
) -> None:
    server.answers_json({"code": "unauthorized", "title": "A valid API key is needed"}, status=401)

    result = hango("login", "--url", server.url, "--key", "bad")

    assert result.code == 3
    assert not (home / ".config").exists()


def test_login_asks_on_a_terminal_and_shows_no_key(server: Canned, home: Path) -> None:
    server.answers_json({"user": "ann", "role": "member", "tenant": "acme"})

    result = on_terminal(
        "login", width=200, typed=[("Server", server.url), ("API key", "hk_typed_secret")]
    )

    assert result.code == 0, result.out
    assert "API key:" in result.out
    assert server.requests[0].headers["Authorization"] == "Bearer hk_typed_secret"


def test_login_without_anybody_to_ask_is_a_usage_error(hango: Callable[..., Result]) -> None:
    result = hango("login")

    assert (result.code, result.err.count("\n")) == (2, 1)


def test_an_unknown_profile_names_those_that_there_are(hango: Callable[..., Result]) -> None:
    profile("work", "http://work", "work")

    result = hango("--profile", "wrk", "agents", "list")

    assert result.code == 2
    assert "There is no profile wrk. Known: work." in result.err
