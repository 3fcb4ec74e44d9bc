"""The admin page as people use it: in Chromium, on a whole hango."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from app.settings import Secret, Settings
from tests.browser import chromium
from tests.browser.running import Hango, Person, running
from tests.conftest import Cluster

WIDE = {"width": 1280, "height": 900}
OpenPage = Callable[..., Page]
Picture = Callable[[Page, str], None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.processes)


@pytest.fixture(scope="session")
def hango(
    settings: Settings, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Hango]:
    """One for all tests of this process, beside the database and Redis that others empty."""
    urls = cluster.create()
    own = replace(
        settings,
        database_url=Secret(urls.app_url),
        admin_database_url=Secret(urls.admin_url),
        redis_url=Secret(_beside(settings.redis_url)),
    )
    with running(own, tmp_path_factory.mktemp("hango")) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ends before other tests begin: Playwright keeps an event loop running in their thread."""
    with chromium.started() as made:
        yield made


@pytest.fixture
def person(hango: Hango) -> Person:
    """An admin in a tenant of their own, so that no test sees what another has left."""
    return hango.person()


@pytest.fixture
def sample(person: Person, tmp_path: Path) -> str:
    """The sample session; its id."""
    return person.sample(tmp_path)


@pytest.fixture
def open_page(
    hango: Hango, browser: Browser, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[OpenPage]:
    """Open a path of the page, as `person` or as nobody; `settings` are those of the tab.

    Whatever the browser complains of fails the test.
    """
    complaints = chromium.Complaints()
    pages: list[Page] = []

    def open_it(path: str, person: Person | None = None, **settings: Any) -> Page:
        context = browser.new_context(**{"viewport": WIDE, **settings})
        context.set_default_timeout(20_000)
        if person:
            context.add_cookies([cookie_of(person)])
        page = context.new_page()
        complaints.listen(page)
        pages.append(page)
        page.goto(f"{hango.url}/admin/{path}")
        return page

    yield open_it
    failed = request.node.stash.get(_FAILED, False)
    for number, page in enumerate(pages):
        if failed:
            page.screenshot(path=tmp_path / f"failed-{number}.png")
            print(f"Picture: {tmp_path}/failed-{number}.png\n{page.inner_text('body')[:3000]}")
        page.context.close()
    if not failed:
        assert complaints.found == []


_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    report = yield
    if report.when == "call":
        item.stash[_FAILED] = report.failed
    return report


def cookie_of(person: Person) -> Any:
    """Sign in beside the page; the cookie as Playwright takes it."""
    url = urlsplit(person.hango.url)
    connection = HTTPConnection(url.netloc, timeout=20)
    body = f'{{"key": "{person.key}"}}'
    connection.request("POST", "/v1/web-session", body, {"Content-Type": "application/json"})
    reply = connection.getresponse()
    reply.read()
    assert reply.status == 201
    name, _, value = reply.headers["Set-Cookie"].partition(";")[0].partition("=")
    connection.close()
    return {
        "name": name,
        "value": value,
        "url": person.hango.url,
        "httpOnly": True,
        "sameSite": "Strict",
    }


@pytest.fixture
def picture() -> Picture:
    """Keep what is in the window as docs/images/NAME.png, where HANGO_PICTURES asks for it."""
    wanted = bool(os.environ.get("HANGO_PICTURES"))  # noqa: TID251 (a wish of whoever runs it)

    def take(page: Page, name: str) -> None:
        if wanted:
            page.wait_for_load_state("networkidle")
            page.evaluate("window.scrollTo(0, 0)")
            page.screenshot(path=chromium.ROOT / "docs" / "images" / f"{name}.png")

    return take


def _beside(redis_url: str) -> str:
    """Another database of the same server."""
    base, _, query = redis_url.partition("?db=")
    if redis_url.startswith("unix:"):
        return f"{base}?db={int(query or 0) + 8}"
    server, _, number = redis_url.rpartition("/")
    return f"{server}/{int(number or 0) + 8}"


@pytest.fixture
def unique() -> str:
    """A word that stands nowhere else."""
    return f"word{secrets.token_hex(4)}"
