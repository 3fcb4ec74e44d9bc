"""A run as somebody follows it: written to, watched while it answers, looked at afterwards."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.running import Hango, Person
from tests.fakes.strict_provider import Silence, Status
from tests.fakes.strict_provider.replies import text, tool_use


@pytest.fixture(autouse=True)
def _worker(hango: Hango) -> None:
    hango.provider.reset()
    hango.start_worker()


@pytest.fixture
def conversation(open_page: OpenPage, person: Person) -> Page:
    agent = {"middleware": {"filesystem": True}}
    session = person.session({"role": "user", "content": "Hello."}, agent=agent)
    return open_page(f"sessions/{session}", person)


def send(page: Page, words: str) -> None:
    page.get_by_role("textbox", name="Message").fill(words)
    page.get_by_role("textbox", name="Message").press("Control+Enter")


def test_the_answer_appears_and_stays(conversation: Page, hango: Hango, unique: str) -> None:
    hango.provider.reply(tool_use("ls", path="/"))
    hango.provider.reply(text(f"There is nothing but {unique}."))

    send(conversation, "What files are there?")

    expect(conversation.get_by_text(f"There is nothing but {unique}.")).to_be_visible(
        timeout=60_000
    )
    expect(conversation.get_by_role("button", name="Cancel the run")).not_to_be_visible()
    assert conversation.get_by_role("textbox", name="Message").input_value() == ""
    conversation.get_by_role("link", name="Runs", exact=True).click()
    expect(conversation.get_by_role("table").get_by_role("row")).to_have_count(2)


def test_what_is_written_is_seen_while_it_is_written_and_can_be_stopped(
    conversation: Page, hango: Hango, unique: str
) -> None:
    hango.provider.reply(text(f"{unique} " * 50))
    hango.provider.fail(Silence(after=4))

    send(conversation, "Tell me.")

    live = conversation.get_by_role("region", name="The run under way")
    expect(live.get_by_text(unique).first).to_be_visible(timeout=60_000)
    live.get_by_role("button", name="Cancel the run").click()
    expect(live).not_to_be_visible()


def test_a_run_that_fails_says_why(conversation: Page, hango: Hango) -> None:
    hango.provider.fail(Status(400, "invalid_request_error", "no such thing"))

    send(conversation, "Tell me.")

    expect(
        conversation.get_by_text(re.compile("refused|rejected|failed", re.I)).first
    ).to_be_visible(timeout=60_000)
    expect(conversation.get_by_role("textbox", name="Message")).to_be_editable()


def test_without_the_server_nothing_that_was_written_is_lost(
    conversation: Page, unique: str
) -> None:
    expect(conversation.get_by_role("textbox", name="Message")).to_be_visible()
    conversation.route("**/v1/**", lambda route: route.fulfill(status=502, body="<h1>proxy</h1>"))

    send(conversation, unique)

    expect(conversation.get_by_role("alert").first).to_be_visible()
    assert conversation.get_by_role("textbox", name="Message").input_value() == unique
    assert conversation.locator("h1", has_text="proxy").count() == 0
