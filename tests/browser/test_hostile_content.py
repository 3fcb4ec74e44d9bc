"""D42 and its kind: whatever a prompt, a tool or a model wrote is text, and breaks no page."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.panel import open_panel
from tests.browser.running import Hango, Person
from tests.fakes.strict_provider.replies import text

MARKUP = [
    '<img src=x onerror="window.__x=1">',
    '"><svg onload="window.__x=1">',
    "</script><script>window.__x=1</script>",
    "[click](javascript:window.__x=1)",
    "<iframe srcdoc='<script>parent.__x=1</script>'></iframe>",
    "{{constructor.constructor('window.__x=1')()}}",
]
STRANGE = {
    "bidi": "\u202eevil\u202c \u2066txt.exe\u2069",
    "emoji": "👩\u200d👩\u200d👧\u200d👦" * 40,
    "accents": "a" + "\u0301" * 500,
    "one word": "x" * 200_000,
    "many lines": "line\n" * 5_000,
    "controls": "a\u0007b\u001b[31mc\u2028d\ufeffe",
}


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def hostile_session(person: Person, words: list[str]) -> str:
    """A session with these words wherever content can stand."""
    everything = "\n".join(words)
    tool = {
        "name": "look",
        "description": everything,
        "input_schema": {"type": "object", "properties": {}, "description": words[0]},
    }
    call = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {"q": everything}}
    result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": everything}
    session = person.session(
        user(everything),
        {"role": "assistant", "content": [{"type": "text", "text": everything}, call]},
        user([result]),
        *[message for word in words for message in (
            {"role": "assistant", "content": word}, user(word)
        )],
        agent={"name": words[0][:200], "system_prompt": everything, "tools": [tool]},
    )  # fmt: skip
    agent = person.api.get("v1", "sessions", session)["agent_id"]
    for number, word in enumerate(words):
        path = f"/memories/{number}{word[:80].replace('/', '-').replace(chr(10), ' ')}.md"
        person.api.put("v1", "agents", agent, "memory", path, body={"content": word})
    person.api.change("v1", "sessions", session, body={"title": words[0][:200]})
    return session


def ran(page: Page) -> bool:
    """Whether anything of the content was carried out."""
    injected = page.locator("img[src=x], iframe, svg[onload], a[href^='javascript']").count()
    done: bool = page.evaluate("window.__x !== undefined")
    return done or injected > 0


def test_markup_is_shown_and_never_carried_out(
    open_page: OpenPage, person: Person, hango: Hango
) -> None:
    session = hostile_session(person, MARKUP)
    panel = open_panel(open_page, person, session)

    for label in ("#1 user", "#2 assistant", "#3 user", "look", "agent"):
        sheet = panel.open(label)
        expect(sheet.get_by_text("window.__x=1").first).to_be_visible()
        for tab in sheet.get_by_role("tab").all():
            tab.click()
            assert not ran(panel.page)
        panel.page.keyboard.press("Escape")
    panel.page.get_by_role("grid").hover()
    for title in panel.page.locator("[title]").all()[:40]:
        assert not title.locator("*").evaluate_all("(all) => all.some((e) => e.onerror)")
    panel.page.goto(f"{hango.url}/admin/sessions")
    expect(panel.page.get_by_role("link", name=MARKUP[0]).first).to_be_visible()

    assert not ran(panel.page)


def test_the_answer_of_a_try_is_shown_as_text(
    open_page: OpenPage, person: Person, hango: Hango
) -> None:
    hango.provider.reset()
    hango.start_worker()
    hango.provider.reply(text("\n".join(MARKUP)))
    panel = open_panel(open_page, person, person.session(user("hi")))

    panel.button("Try").first.click()
    panel.page.get_by_label("Message").fill(MARKUP[0])
    panel.page.get_by_role("button", name="Try this request").click()

    answer = panel.page.get_by_role("region", name="The try", exact=True)
    expect(answer.get_by_text(MARKUP[0])).to_be_visible(timeout=60_000)
    assert not ran(panel.page)


@pytest.mark.parametrize("kind", STRANGE)
def test_strange_text_leaves_the_page_in_order(
    kind: str, open_page: OpenPage, person: Person
) -> None:
    word = STRANGE[kind]
    panel = open_panel(open_page, person, person.session(user(word), user("more")))

    widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
    wide, window = panel.page.evaluate(widths)
    assert wide <= window
    sheet = panel.open("#1 user")
    expect(sheet.get_by_role("tabpanel")).to_be_visible()
    assert panel.page.evaluate("(e) => e.scrollWidth <= e.clientWidth", sheet.element_handle())
    sheet.get_by_role("tab", name="Edit").click()
    kept = sheet.get_by_label("Sent in its place").input_value()
    assert kept == word


def test_text_that_runs_backwards_moves_nothing_beside_it(
    open_page: OpenPage, person: Person
) -> None:
    """An override of direction ends with the text that it stands in."""
    panel = open_panel(open_page, person, person.session(user("\u202ereversed"), user("more")))
    row = panel.row("#1 user")

    cells = [cell.bounding_box() for cell in row.get_by_role("gridcell").all()]

    lefts = [box["x"] for box in cells if box]
    assert lefts == sorted(lefts)
