"""The Context panel: shows what inspect says, and saves what was chosen."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage, Picture
from tests.browser.panel import number, open_panel
from tests.browser.running import Person

LISTING = "#5 user"  # of the sample: one listing of a folder, nearly half of the conversation
ITS_CALL = "#4 assistant"


def test_it_shows_what_inspect_says(open_page: OpenPage, person: Person, sample: str) -> None:
    told = person.context(sample)

    panel = open_panel(open_page, person, sample)

    parts = [part for group in told["groups"].values() for part in group["parts"]]
    assert panel.total() == told["totals"]["after"]
    for part in parts:
        row = panel.row(part["label"])
        expect(row).to_be_visible()
        assert number(row.get_by_role("gridcell").last.inner_text()) == part["tokens"]
    for name, group in told["groups"].items():
        heading = panel.rows.filter(has_text=re.compile(name, re.IGNORECASE)).first
        assert f"{group['tokens']['after']:,}" in heading.inner_text()


def test_a_part_is_left_out_at_a_price_that_is_told_before(
    open_page: OpenPage, person: Person, sample: str, picture: Picture
) -> None:
    before = person.context(sample)["totals"]["after"]
    panel = open_panel(open_page, person, sample)

    panel.checkbox(LISTING).uncheck()

    expect(panel.bar.get_by_text(re.compile("tokens per call"))).to_be_visible()
    expect(panel.checkbox(ITS_CALL)).not_to_be_checked()  # it goes along
    wanted = {"overrides": [{"part": "message:5", "action": "exclude"}]}
    priced = person.api.ask("v1", "sessions", sample, "context-overrides", "preview", body=wanted)
    saved_per_call = -number(panel.bar.inner_text().partition("≈")[2])
    assert saved_per_call == priced["price"]["saved_per_call"]
    expected = panel.expected()
    for scheme in ("dark", "light"):
        panel.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type] # one of the two
        picture(panel.page, f"context-panel-{scheme}")
    assert panel.total() == person.context(sample)["totals"]["after"] == before

    panel.save()

    after = person.context(sample)["totals"]
    expect(panel.page.get_by_text(f"{after['after']:,} tokens")).to_be_visible()
    assert after["after"] == expected == before - saved_per_call
    assert not panel.bar.is_visible()

    with panel.inspected():
        panel.button("Undo").click()

    expect(panel.page.get_by_text(f"{before:,} tokens").first).to_be_visible()
    expect(panel.checkbox(LISTING)).to_be_checked()
    assert person.context(sample)["totals"]["after"] == before


def test_a_text_is_put_in_the_place_of_another(
    open_page: OpenPage, person: Person, sample: str, unique: str
) -> None:
    panel = open_panel(open_page, person, sample)
    sheet = panel.open(LISTING)

    sheet.get_by_role("tab", name="Edit").click()
    sheet.get_by_label("Sent in its place").fill(
        f"[The listing of the folder was left out: {unique}]"
    )
    sheet.get_by_role("button", name="Use this text").click()
    expect(sheet).not_to_be_visible()
    panel.save()

    sheet = panel.open(LISTING)
    expect(sheet.get_by_role("tabpanel").get_by_text(unique)).to_be_visible()
    sheet.get_by_role("tab", name="Before the override").click()
    expect(sheet.get_by_role("tabpanel").get_by_text("hello.py").first).to_be_visible()
    shown = person.api.get("v1", "sessions", sample, "context", query={"full": "message:5"})
    assert unique in str(shown)


def test_what_was_saved_meanwhile_is_shown_beside_what_is_wanted(
    open_page: OpenPage, person: Person, sample: str
) -> None:
    panel = open_panel(open_page, person, sample)
    panel.checkbox("#13 user").uncheck()
    expect(panel.bar.get_by_text(re.compile("per call"))).to_be_visible()
    theirs = {"overrides": [{"part": "message:2", "action": "exclude"}]}
    person.api.put("v1", "sessions", sample, "context-overrides", body=theirs)

    panel.button("Save").click()

    conflict = panel.page.get_by_role("dialog", name="Somebody else has saved meanwhile")
    expect(conflict.get_by_role("row").filter(has_text="#2")).to_be_visible()
    expect(conflict.get_by_role("row").filter(has_text="#13")).to_be_visible()
    assert _excluded(person, sample) == {"message:2", "message:3"}
    conflict.get_by_role("button", name="Keep mine on top of theirs").click()
    panel.save()

    assert {"message:2", "message:13"} <= _excluded(person, sample)


def test_an_ended_web_session_takes_nothing_of_what_was_chosen(
    open_page: OpenPage, person: Person, sample: str
) -> None:
    panel = open_panel(open_page, person, sample)
    panel.checkbox(LISTING).uncheck()
    expect(panel.bar.get_by_text(re.compile("per call"))).to_be_visible()
    panel.page.context.clear_cookies()

    panel.button("Save").click()
    again = panel.page.get_by_role("dialog", name="Please sign in again")
    again.get_by_label("API key").fill(person.key)
    again.get_by_role("button", name="Sign in").click()
    expect(again).not_to_be_visible()

    expect(panel.checkbox(LISTING)).not_to_be_checked()
    panel.save()
    assert "message:5" in _excluded(person, sample)


def test_an_earlier_set_is_brought_back(open_page: OpenPage, person: Person, sample: str) -> None:
    for part in ("message:2", "message:4"):
        body = {"overrides": [{"part": part, "action": "exclude"}]}
        person.api.put("v1", "sessions", sample, "context-overrides", body=body)
    panel = open_panel(open_page, person, sample)

    panel.button("History").click()
    with panel.inspected():
        panel.page.get_by_role("button", name="Restore version 1").click()
    panel.page.keyboard.press("Escape")

    expect(panel.checkbox("#2 assistant")).not_to_be_checked()
    assert _excluded(person, sample) == {"message:2", "message:3"}


def test_it_works_with_the_keyboard_alone(open_page: OpenPage, person: Person, sample: str) -> None:
    panel = open_panel(open_page, person, sample)
    keyboard = panel.page.keyboard

    tab_to(panel.page, "[role=row]")
    for _ in range(30):
        if LISTING in focused(panel.page)["name"]:
            break
        keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(panel.page.get_by_role("dialog")).to_be_visible()
    keyboard.press("Escape")
    expect(panel.page.get_by_role("dialog")).not_to_be_visible()
    assert LISTING in focused(panel.page)["name"], "the focus is back where it was"
    keyboard.press("Space")
    expect(panel.bar.get_by_text(re.compile("per call"))).to_be_visible()
    tab_to(panel.page, "button", "Save")
    keyboard.press("Enter")

    expect(panel.page.get_by_text("Saved.", exact=True)).to_be_visible()
    assert "message:5" in _excluded(person, sample)


def tab_to(page: Any, selector: str, text: str = "") -> None:
    """Press Tab until something of this kind has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        found = focused(page)
        if page.evaluate("(s) => document.activeElement.matches(s)", selector) and (
            not text or found["text"] == text
        ):
            return
    raise AssertionError(f"Tab leads to no {selector} {text}")


def focused(page: Any) -> Any:
    """The name and the text of what has the focus."""
    return page.evaluate(
        """() => ({
          name: document.activeElement.getAttribute("aria-label") ?? "",
          text: document.activeElement.textContent.trim(),
        })"""
    )


def _excluded(person: Person, session: str) -> set[str]:
    stored = person.api.get("v1", "sessions", session, "context-overrides")
    return {each["part"] for each in stored["overrides"] if each["action"] == "exclude"}
