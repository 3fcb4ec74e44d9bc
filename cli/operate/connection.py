"""connection.json: where the hango of this data folder answers, and a key for it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "connection.json"


@dataclass(frozen=True, slots=True)
class Connection:
    """An address and a key that is good there."""

    url: str
    key: str


def read(data: Path) -> Connection | None:
    """What the folder says; None when it says nothing that can be used."""
    try:
        found = json.loads((data / FILE).read_text())
        return Connection(str(found["url"]), str(found["key"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def write(data: Path, connection: Connection) -> None:
    """Replace the file in one step; only its owner can read it at any time."""
    partial = data / f"{FILE}.partial"
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    partial.write_text(json.dumps(asdict(connection)) + "\n")
    partial.replace(data / FILE)
