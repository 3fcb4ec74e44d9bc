"""Every page by axe-core, light and dark, and as narrow as a telephone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import axe
from tests.browser.chromium import WEB
from tests.browser.conftest import WIDE, OpenPage
from tests.browser.panel import Panel, open_panel
from tests.browser.running import Hango, Person
from tests.factories import until
from tests.fakes.strict_provider.replies import text, tool_use

NARROW = {"width": 360, "height": 740}

# Every page of the router, with the names of what they are about in braces.
PAGES = (
    "nothing/of/this/name",
    "sessions",
    "sessions/{session}",
    "sessions/{session}/runs",
    "sessions/{session}/runs/{run}",
    "sessions/{session}/runs/{run}/calls/2",
    "sessions/{session}/runs/{run}/calls/2/diff/1",
    "sessions/{session}/context",
    "sessions/{session}/files",
    "agents",
    "agents/{agent}",
    "usage",
    "audit",
    "keys",
    "users",
)


@dataclass(frozen=True)
class Furnished:
    """Somebody who has something to see on every page."""

    person: Person
    names: dict[str, str]


@pytest.fixture(scope="module")
def furnished(hango: Hango, tmp_path_factory: pytest.TempPathFactory) -> Furnished:
    """The sample session after a run of two calls, with an override."""
    hango.provider.reset()
    hango.start_worker()
    person = hango.person()
    session = person.sample(tmp_path_factory.mktemp("sample"))
    api = person.api
    agent = api.get("v1", "sessions", session)["agent_id"]
    api.change("v1", "agents", agent, body={"middleware": {"filesystem": True}})
    out = {"overrides": [{"part": "message:5", "action": "exclude"}]}
    api.put("v1", "sessions", session, "context-overrides", body=out)
    api.put("v1", "sessions", session, "files", "/notes.md", body={"content": "# Notes"})
    hango.provider.reply(tool_use("ls", path="/"))
    hango.provider.reply(text("There is one file: `notes.md`."))
    body = {"message": "What files are there?"}
    run = api.create("v1", "sessions", session, "runs", body=body)["id"]
    until(lambda: api.get("v1", "runs", run)["finished_at"] is not None, 60)
    assert api.get("v1", "runs", run)["status"] == "succeeded"
    return Furnished(person, {"session": session, "run": run, "agent": agent})


def check(page: Page) -> None:
    """No rule is broken, and nothing has to be scrolled sideways: wide and light, narrow and dark.

    Colours are what differs between the schemes, and the layout what differs between the widths.
    """
    for scheme, size in (("light", WIDE), ("dark", NARROW)):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # one of the two
        page.set_viewport_size(size)  # type: ignore[arg-type] # a width and a height
        assert not overflows(page), size
        assert axe.faults(page) == [], (scheme, size)


def overflows(page: Page) -> bool:
    """Whether the page is wider than the window."""
    wider: bool = page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    return wider


def ready(page: Page) -> Locator:
    """Wait until the page has what it asked for; its heading."""
    heading = page.get_by_role("heading", level=1).first
    expect(heading).to_be_visible()
    page.wait_for_load_state("networkidle")
    expect(page.get_by_text(re.compile(r"^Loading "))).to_have_count(0)
    return heading


def test_the_sign_in(open_page: OpenPage) -> None:
    page = open_page("")
    expect(page.get_by_label("API key")).to_be_visible()

    check(page)


@pytest.mark.parametrize("path", PAGES)
def test_a_page(path: str, open_page: OpenPage, furnished: Furnished) -> None:
    page = open_page(path.format(**furnished.names), furnished.person)
    ready(page)

    check(page)


def test_every_page_is_looked_at() -> None:
    routes = re.findall(r'path: "([^"*/][^"*]*)"', _router())

    looked_at = {part for path in PAGES for part in path.split("/")}
    unseen = [
        path
        for path in routes
        if not {each for each in path.split("/") if ":" not in each} <= looked_at
    ]
    assert unseen == []


@pytest.fixture
def panel(open_page: OpenPage, person: Person, sample: str) -> Panel:
    body = {"overrides": [{"part": "message:2", "action": "exclude"}]}
    person.api.put("v1", "sessions", sample, "context-overrides", body=body)
    return open_panel(open_page, person, sample)


def test_the_sheet_of_a_part(panel: Panel) -> None:
    sheet = panel.open("#13 user")
    sheet.get_by_role("tab", name="Edit").click()

    check(panel.page)


def test_what_is_not_saved_beside_a_try(panel: Panel) -> None:
    panel.checkbox("#13 user").uncheck()
    expect(panel.bar.get_by_text(re.compile("per call"))).to_be_visible()
    panel.button("Try").first.click()

    check(panel.page)


def test_the_history(panel: Panel) -> None:
    panel.button("History").click()
    expect(panel.page.get_by_role("table")).to_be_visible()

    check(panel.page)


def _router() -> str:
    return (Path(WEB) / "src" / "app" / "router.tsx").read_text(encoding="utf-8")
