"""Trying the selection: the wait, the answer, and every way in which there is none."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenPage, Picture
from tests.browser.panel import Panel, open_panel
from tests.browser.running import Hango, Person
from tests.fakes.strict_provider import Silence, Status
from tests.fakes.strict_provider.replies import text, tool_use

LISTING = "#5 user"


@pytest.fixture
def worker(hango: Hango) -> Iterator[None]:
    """Somebody makes the calls, and nothing of an earlier test is left to be answered."""
    hango.provider.reset()
    hango.start_worker()
    yield
    hango.provider.reset()


@pytest.fixture
def panel(worker: None, open_page: OpenPage, person: Person, sample: str) -> Panel:
    return open_panel(open_page, person, sample)


def begin(panel: Panel, message: str = "") -> Locator:
    """Send the selection off; where its progress and end are shown."""
    if not panel.page.get_by_role("complementary", name="Try").is_visible():
        panel.button("Try").first.click()
    aside = panel.page.get_by_role("complementary", name="Try")
    if message:
        aside.get_by_label("Message").fill(message)
    aside.get_by_role("button", name="Try this request").click()
    return aside


def test_the_answer_comes_with_what_it_cost(
    panel: Panel, hango: Hango, person: Person, sample: str, unique: str, picture: Picture
) -> None:
    hango.provider.reply(
        text(f"There is one program, {unique}.py."), tool_use("terminal", command="ls")
    )
    messages = person.api.get("v1", "sessions", sample, "messages", query={"limit": 50})
    panel.checkbox(LISTING).uncheck()

    aside = begin(panel, "What is in the folder?")

    result = aside.get_by_role("region", name="The try", exact=True)
    expect(result.get_by_text(f"There is one program, {unique}.py.")).to_be_visible(timeout=60_000)
    expect(result.get_by_text("Tool calls are shown, and not carried out.")).to_be_visible()
    (tried,) = person.api.get("v1", "sessions", sample, "context", "tries")["items"]
    shown = result.inner_text()
    assert f"{tried['usage']['input_tokens']:,} in" in shown
    assert f"${tried['cost']['micro_dollars'] / 1_000_000:.4f}" in shown
    assert "message:5" in shown
    picture(panel.page, "context-try")
    sent = hango.provider.calls[-1].json["messages"]
    assert sent[-1]["content"][-1]["text"] == "What is in the folder?"
    after = person.api.get("v1", "sessions", sample, "messages", query={"limit": 50})
    assert after == messages
    expect(panel.bar).to_be_visible()  # trying saves nothing


def test_a_try_that_runs_says_so_and_can_be_cancelled(panel: Panel, hango: Hango) -> None:
    hango.provider.fail(Silence(after=3))

    aside = begin(panel)
    expect(aside.get_by_text("The model answers").first).to_be_visible(timeout=60_000)
    elapsed = aside.get_by_test_id("elapsed")
    expect(elapsed).to_have_text(re.compile(r"^[1-9][0-9]* s$"))
    aside.get_by_role("button", name="Cancel").click()

    expect(aside.get_by_text("There is no answer.")).to_be_visible()


def test_a_worker_that_dies_is_told_and_nothing_is_paid_twice(
    panel: Panel, hango: Hango, person: Person, sample: str
) -> None:
    hango.provider.fail(Silence(after=3))
    aside = begin(panel)
    expect(aside.get_by_text("The model answers").first).to_be_visible(timeout=60_000)
    hango.provider.wait_for_calls(1, 60)  # from here on it may have been billed
    assert hango.worker

    hango.worker.send_signal(signal.SIGKILL)
    hango.worker.wait()

    expect(aside.get_by_text("The worker was lost.")).to_be_visible(timeout=40_000)
    expect(aside.get_by_text("It may have been billed.")).to_be_visible()
    (tried,) = person.api.get("v1", "sessions", sample, "context", "tries")["items"]
    assert tried["error"]["code"] == "worker_lost"
    assert len(hango.provider.calls) == 1
    hango.stop_worker()


def test_a_provider_that_refuses_is_quoted_by_its_code(panel: Panel, hango: Hango) -> None:
    hango.provider.fail(Status(400, "invalid_request_error", "no such thing"))

    aside = begin(panel)

    expect(aside.get_by_text("The call failed.")).to_be_visible(timeout=60_000)


def test_a_quota_that_is_used_up_is_said_before_anything_is_called(
    panel: Panel, hango: Hango, person: Person
) -> None:
    person.api.put("v1", "quota", body={"tokens": 1, "micro_dollars": None})

    aside = begin(panel)

    expect(aside.get_by_text("The quota is used up.")).to_be_visible()
    assert hango.provider.calls == []


def test_two_tries_are_compared(panel: Panel, hango: Hango) -> None:
    for word in ("first", "second"):
        hango.provider.reply(text(f"The {word} answer."))
        aside = begin(panel)
        result = aside.get_by_role("region", name="The try", exact=True)
        expect(result.get_by_text(f"The {word} answer.")).to_be_visible(timeout=60_000)

    for each in aside.get_by_role("checkbox").all():
        each.check()
    aside.get_by_role("button", name="Compare two").click()

    compared = panel.page.get_by_role("dialog")
    expect(compared.get_by_text("first").first).to_be_visible()
    expect(compared.get_by_text("second").first).to_be_visible()
