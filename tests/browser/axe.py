"""axe-core, put into a page: what it finds against WCAG 2.2 AA and good practice."""

from __future__ import annotations

from functools import cache

from playwright.sync_api import Page

from tests.browser.chromium import WEB

_RUN = """
async (tags) => {
  const found = await axe.run(document, { runOnly: { type: "tag", values: tags } });
  const said = (node) => node.target.join(" ") + ": " + node.failureSummary;
  return found.violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 5).map(said).join());
}
"""
_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def faults(page: Page) -> list[str]:
    """The rules that the page breaks as it is now, each with where."""
    page.evaluate(_script())  # past the page's policy, which allows no script of others
    found: list[str] = page.evaluate(_RUN, _TAGS)
    return found


@cache
def _script() -> str:
    return (WEB / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
