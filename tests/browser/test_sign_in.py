"""Signing in with a key, out again, and what becomes of the page when the server forgets one."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.running import Hango, Person


def sign_in(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_role("button", name="Sign in").click()


def test_a_key_opens_the_page_and_is_kept_nowhere(
    open_page: OpenPage, hango: Hango, person: Person
) -> None:
    page = open_page("")

    sign_in(page, person.key)

    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    expect(page).to_have_url(f"{hango.url}/admin/sessions")
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("hango", True, "Strict")
    reached = page.evaluate(
        "[document.cookie, JSON.stringify(localStorage), JSON.stringify(sessionStorage)].join()"
    )
    assert cookie["value"] not in reached
    assert person.key not in reached + page.content()
    assert person.key not in page.url


def test_a_bad_key_is_refused_and_can_be_corrected(open_page: OpenPage, person: Person) -> None:
    page = open_page("")

    sign_in(page, person.key[:-1])
    expect(page.get_by_text("This key is not known")).to_be_visible()
    sign_in(page, person.key)

    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


def test_signing_out_leaves_nothing(open_page: OpenPage, hango: Hango, person: Person) -> None:
    page = open_page("sessions", person)

    page.get_by_role("button", name="Sign out").click()

    expect(page.get_by_label("API key")).to_be_visible()
    assert page.context.cookies() == []
    page.go_back()
    page.goto(f"{hango.url}/admin/sessions")
    expect(page.get_by_label("API key")).to_be_visible()


def test_a_link_into_the_page_leads_there_after_signing_in(
    open_page: OpenPage, person: Person, sample: str
) -> None:
    page = open_page(f"sessions/{sample}/context")

    sign_in(page, person.key)

    expect(page.get_by_role("heading", name="Context")).to_be_visible()
    assert page.url.endswith(f"/sessions/{sample}/context")
