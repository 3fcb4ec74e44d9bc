"""Writes the generated pages of docs/ anew: `make docs`.

`python -m docs.generate --check` writes nothing and fails when a page is not what the code says.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from app.telemetry import logs
from docs.writers import cli, configuration, errors, http, telemetry

ROOT = Path(__file__).resolve().parent

PAGES: Mapping[str, Callable[[], str]] = {
    "configuration.md": configuration.page,
    "reference/cli.md": cli.page,
    "reference/api.md": http.page,
    "reference/errors.md": errors.page,
    "reference/telemetry.md": telemetry.page,
    "reference/openapi.json": http.openapi,
}


def stale(pages: Mapping[str, Callable[[], str]] = PAGES, root: Path = ROOT) -> list[str]:
    """The pages whose file is not what the code says now."""
    return [name for name, page in pages.items() if _read(root / name) != page()]


def write(pages: Mapping[str, Callable[[], str]] = PAGES, root: Path = ROOT) -> list[str]:
    """Write every stale page; their names."""
    changed = stale(pages, root)
    for name in changed:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(pages[name](), encoding="utf-8")
    return changed


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def main(arguments: list[str]) -> int:
    """Write, or with --check only compare; the exit code."""
    logs.configure("WARNING")
    if arguments == ["--check"]:
        found = stale()
        sys.stdout.writelines(f"docs/{name} is not fresh: run `make docs`\n" for name in found)
        return 1 if found else 0
    sys.stdout.writelines(f"wrote docs/{name}\n" for name in write())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
