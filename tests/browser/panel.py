"""The Context panel as somebody sees it who looks for words and roles."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.running import Person

_MINUS = "−"


def path(session: str) -> str:
    return f"sessions/{session}/context"


def open_panel(open_page: OpenPage, person: Person, session: str) -> Panel:
    """The panel of a session, drawn."""
    panel = Panel(open_page(path(session), person))
    expect(panel.rows.first).to_be_visible()
    return panel


@dataclass(frozen=True)
class Panel:
    """What is on the page now."""

    page: Page

    @property
    def rows(self) -> Locator:
        return self.page.get_by_role("grid", name="Parts of the next call").get_by_role("row")

    def row(self, label: str) -> Locator:
        """The row of the part with this label."""
        return self.rows.filter(has=self.page.get_by_role("checkbox", name=f"Send {label}"))

    def checkbox(self, label: str) -> Locator:
        return self.page.get_by_role("checkbox", name=f"Send {label}")

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    @property
    def bar(self) -> Locator:
        """What says that the selection is not saved."""
        return self.page.get_by_role("region", name="Unsaved changes")

    @property
    def heading(self) -> Locator:
        return self.page.get_by_role("heading", name="Context", exact=True)

    def total(self) -> int:
        """The tokens of the whole request, as it is saved."""
        words = self.heading.locator("xpath=..").get_by_text(re.compile(r"^[\d,]+ tokens"))
        return number(words.inner_text())

    def expected(self) -> int:
        """The tokens of the whole request with what is not saved."""
        said = self.page.get_by_text(re.compile(r"≈ [\d,]+ with what is not saved"))
        return number(said.inner_text().partition("≈")[2])

    def save(self) -> None:
        """Save, and wait until that is done and shown."""
        with self.inspected():
            self.button("Save").click()
        expect(self.page.get_by_text("Saved.", exact=True)).to_be_visible()

    @contextmanager
    def inspected(self) -> Iterator[None]:
        """Wait until the panel has asked for the context once more."""
        with self.page.expect_response(re.compile(r"/context(\?[^/]*)?$")):
            yield

    def open(self, label: str) -> Locator:
        """The sheet that shows one part in full."""
        self.row(label).get_by_role("gridcell").nth(2).click()
        sheet = self.page.get_by_role("dialog")
        expect(sheet).to_be_visible()
        return sheet


def number(text: str) -> int:
    """The first number in a text: "7,175 tokens" → 7175."""
    found = re.search(rf"[{_MINUS}-]?\d[\d,]*", text)
    assert found, text
    return int(found[0].replace(",", "").replace(_MINUS, "-"))
