"""Which server, which key: the only place of the client that reads the environment.

The first that says something wins: the options of the command, the variables HANGO_API_URL and
HANGO_API_KEY, the profile that `hango login` wrote, and `connection.json` in the data folder of a
server on this machine. A key from a file is sent to the URL beside it and to no other.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from cli.exits import Exit, Stop

URL_VARIABLE = "HANGO_API_URL"
KEY_VARIABLE = "HANGO_API_KEY"
DATA_DIR_VARIABLE = "HANGO_DATA_DIR"
DEFAULT_PROFILE = "default"

_DEFAULT_PORTS = {"http": 80, "https": 443}


class Server(NamedTuple):
    """Where requests go, and as whom. `prefix` is the path before /v1, often empty."""

    scheme: str
    host: str
    port: int
    prefix: str
    key: str = ""

    @property
    def url(self) -> str:
        """The address without the key, always in the same form."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.prefix}"

    @property
    def sends_in_the_clear(self) -> bool:
        """Whether the key can be read on its way to the server."""
        local = self.host in ("localhost", "::1") or self.host.startswith("127.")
        return self.scheme == "http" and not local


class Source(NamedTuple):
    """What one place says. A `stored` key belongs to the URL beside it."""

    name: str
    url: str | None
    key: str | None
    stored: bool = False


def server(url: str | None, key: str | None, profile: str | None) -> Server:
    """The server that options, variables and files name together.

    Raises:
        Stop: nothing names a server or a key for it; a URL, a key or a file is malformed.
    """
    base: Server | None = None
    for source in _sources(Source("--url", url, key), profile):
        if base is None and source.url:
            base = parse(source.url, source.name)
        if not key and source.key and not (source.stored and _elsewhere(source, base)):
            key = source.key
        if base and key:
            return _with_key(base, key)
    if base is None:
        raise Stop(
            "No server is named.",
            f"Run `hango login`, set {URL_VARIABLE} and {KEY_VARIABLE}, or start one: `hango up`.",
            Exit.USAGE,
        )
    raise Stop(
        f"No API key for {base.url}.", f"Run `hango login`, or set {KEY_VARIABLE}.", Exit.USAGE
    )


def suggested() -> Source:
    """What `hango login` offers: the variables, else the server on this machine."""
    variables = _variables()
    return variables if variables.url else next(_connection_files(), variables)


def parse(url: str, name: str, key: str = "") -> Server:
    """The server that `url` names; `name` says where the URL was read.

    Raises:
        Stop: it is not an http or https URL of a host.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        host, port = "", None
    refused = not host or any(ord(char) <= 32 for char in url)
    if refused or parts.scheme not in _DEFAULT_PORTS or parts.query or parts.fragment:
        raise Stop(
            f"{name} is not a server's URL.", "Give one like http://localhost:8080.", Exit.USAGE
        )
    if parts.username is not None:
        raise Stop(f"{name} holds a user name.", "Give the key alone, by --key.", Exit.USAGE)
    scheme = parts.scheme
    bare = Server(scheme, host, port or _DEFAULT_PORTS[scheme], parts.path.rstrip("/"))
    return _with_key(bare, key) if key else bare


def save_profile(name: str, server: Server) -> Path:
    """Store URL and key under `name`, readable by this user alone; the file's path."""
    path = _profiles_path()
    profiles = {**_profiles(), name: {"url": server.url, "key": server.key}}
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Written beside and moved, so that the keys are never in a file with other rights, and a
    # write that is cut short loses no profile.
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    with suppress(FileNotFoundError):
        beside.unlink()
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"profiles": profiles}, file, indent=2)
    beside.replace(path)
    return path


def colours_wanted() -> bool:
    """Whether the environment leaves colours on (https://no-color.org, and dumb terminals)."""
    return not _variable("NO_COLOR") and _variable("TERM") != "dumb"


def _sources(options: Source, profile: str | None) -> Iterator[Source]:
    yield options
    if profile is not None:
        yield _profile(profile)
    yield _variables()
    if profile is None:
        if DEFAULT_PROFILE in _profiles():
            yield _profile(DEFAULT_PROFILE)
        yield from _connection_files()


def _elsewhere(source: Source, base: Server | None) -> bool:
    return not (base and source.url and parse(source.url, source.name).url == base.url)


def _with_key(server: Server, key: str) -> Server:
    # A key is ASCII without blanks; anything else would break the header line that carries it.
    if not key.isascii() or any(ord(char) <= 32 or ord(char) == 127 for char in key):
        raise Stop(
            "The API key holds characters that no key has.", "Copy it again: hk_….", Exit.USAGE
        )
    return server._replace(key=key)


def _variables() -> Source:
    return Source(URL_VARIABLE, _variable(URL_VARIABLE), _variable(KEY_VARIABLE))


def _variable(name: str) -> str | None:
    # The one reader on the client's side.
    return os.environ.get(name, "").strip() or None  # noqa: TID251


def _profile(name: str) -> Source:
    profiles = _profiles()
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none yet"
        raise Stop(
            f"There is no profile {name}.",
            f"Known: {known}. Make it with `hango login --profile {name}`.",
            Exit.USAGE,
        )
    return _entry(f"The URL of profile {name}", profiles[name])


def _profiles() -> dict[str, Any]:
    found = _read(_profiles_path()).get("profiles")
    return found if isinstance(found, dict) else {}


def _profiles_path() -> Path:
    # The XDG Base Directory Specification: a relative path is to be ignored.
    base = Path(_variable("XDG_CONFIG_HOME") or "")
    return (base if base.is_absolute() else Path.home() / ".config") / "hango" / "profiles.json"


def _connection_files() -> Iterator[Source]:
    named = _variable(DATA_DIR_VARIABLE)
    folders = [Path(named)] if named else [each / ".hango" for each in _here_and_above()]
    for folder in folders:
        path = folder / "connection.json"
        # One that was found by walking up may lie in anybody's folder: /tmp/.hango, say.
        if path.is_file() and (named or path.stat().st_uid == os.geteuid()):
            yield _entry(str(path), _read(path))
            return


def _here_and_above() -> list[Path]:
    try:
        here = Path.cwd()
    except FileNotFoundError:  # the folder was removed under the shell
        return []
    return [here, *here.parents]


def _entry(name: str, found: Any) -> Source:
    entry = found if isinstance(found, dict) else {}
    url, key = entry.get("url"), entry.get("key")
    if isinstance(url, str) and isinstance(key, str):
        return Source(name, url, key, stored=True)
    raise Stop(f"{name} does not hold a URL and a key.", "Run `hango login`.", Exit.USAGE)


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Stop(f"{path} cannot be read: {error.strerror}.", exit_code=Exit.USAGE) from None
    except ValueError:
        raise Stop(f"{path} is not JSON.", "Remove it, then `hango login`.", Exit.USAGE) from None
    return found if isinstance(found, dict) else {}
