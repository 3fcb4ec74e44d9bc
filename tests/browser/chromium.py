"""Chromium by Playwright: which one, how it is started, and what it must not complain of."""

from __future__ import annotations

import os
import re
import runpy
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
WEB = ROOT / "admin-web"
BUILD: dict[str, Any] = runpy.run_path(str(WEB / "build.py"))

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MISSING = (
    "These tests look at the admin page in Chromium, and there is none. On Debian and Ubuntu:  "
    "apt-get install -y chromium   Or name one in HANGO_CHROMIUM."
)
# It is to speak with hango alone.
_QUIET = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
]

# That the server refused something is what some tests are about; the page has to tell it itself.
_REFUSED = re.compile(r"Failed to load resource: the server responded with a status of (4\d\d|502)")


@contextmanager
def started() -> Iterator[Browser]:
    """A browser. Fails the test where there is none: nothing is skipped."""
    program = os.environ.get("HANGO_CHROMIUM") or next(  # noqa: TID251 (test set-up)
        filter(None, map(shutil.which, _NAMES)), None
    )
    if program is None:
        pytest.fail(_MISSING, pytrace=False)
    with pytest.MonkeyPatch.context() as patch:
        # Playwright's own Node.js needs a library that a bare Debian does not have.
        patch.setenv("PLAYWRIGHT_NODEJS_PATH", BUILD["node"]())
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=_QUIET)
            yield browser
            browser.close()


@dataclass
class Complaints:
    """What the browser said against the page: broken rules of the policy, errors of scripts."""

    found: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.found.append(f"error: {error}"))
        page.on("console", self._heard)

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not _REFUSED.match(message.text):
            self.found.append(f"{message.type}: {message.text}")
