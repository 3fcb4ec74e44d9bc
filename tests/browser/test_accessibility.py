"""Every page by axe-core, light and dark, and as narrow as a telephone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import axe
from tests.browser.conftest import OpenPage
from tests.browser.running import Person

NARROW = {"width": 360, "height": 740}


def check(page: Page) -> None:
    """No rule is broken, in either scheme, and nothing has to be scrolled sideways."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # one of the two
        assert axe.faults(page) == [], scheme
    assert not overflows(page)
    page.set_viewport_size(NARROW)  # type: ignore[arg-type] # a width and a height
    assert not overflows(page), "at 360 px"
    assert axe.faults(page) == [], "at 360 px"


def overflows(page: Page) -> bool:
    """Whether the page is wider than the window."""
    wider: bool = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    return wider


def test_the_sign_in(open_page: OpenPage) -> None:
    page = open_page("")
    expect(page.get_by_label("API key")).to_be_visible()

    check(page)


@pytest.mark.parametrize("path", ["sessions", "nothing/of/this/name"])
def test_a_page(path: str, open_page: OpenPage, person: Person, sample: str) -> None:
    page = open_page(path, person)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    page.wait_for_load_state("networkidle")

    check(page)
