"""How the built page is served: what a browser may keep, and what it may do with it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.api import admin_page
from tests.api.problems import assert_problem


@pytest.fixture(autouse=True)
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page as Vite builds it, in the second of the places where it may be."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>hango</title>")
    (folder / "favicon.svg").write_text("<svg/>")
    (folder / "assets" / "index-Ab12.js").write_text("export {}")
    (folder / "assets" / "index-Cd34.css").write_text("a{}")
    (tmp_path / "secret").write_text("not for you")
    monkeypatch.setattr(admin_page, "BUILT", (tmp_path / "not there", folder))
    return folder


def test_the_root_leads_to_the_page(client: FlaskClient) -> None:
    for path in ("/", "/admin"):
        reply = client.get(path)
        assert reply.status_code in (302, 308)
        assert reply.location.removeprefix("http://localhost") == "/admin/"


@pytest.mark.parametrize("path", ["", "sessions", "sessions/01a22e1a/context", "no/such.page"])
def test_every_link_into_the_page_is_the_page(path: str, client: FlaskClient) -> None:
    reply = client.get(f"/admin/{path}")

    assert reply.status_code == 200
    assert "<title>hango</title>" in reply.text
    assert reply.content_type == "text/html; charset=utf-8"
    assert reply.headers["Cache-Control"] == "no-cache"
    assert (
        client.get(f"/admin/{path}", headers={"If-None-Match": reply.headers["ETag"]}).status_code
        == 304
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("assets/index-Ab12.js", "text/javascript; charset=utf-8"),
        ("assets/index-Cd34.css", "text/css; charset=utf-8"),
        ("favicon.svg", "image/svg+xml"),
    ],
)
def test_its_files_say_what_they_are(path: str, kind: str, client: FlaskClient) -> None:
    reply = client.get(f"/admin/{path}")

    assert (reply.status_code, reply.content_type) == (200, kind)
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_what_has_a_hash_in_its_name_is_kept_for_ever(client: FlaskClient) -> None:
    kept = client.get("/admin/assets/index-Ab12.js").headers["Cache-Control"]

    assert kept == "public, max-age=31536000, immutable"
    assert client.get("/admin/favicon.svg").headers["Cache-Control"] == "no-cache"


def test_what_is_packed_is_sent_so_to_who_takes_it(client: FlaskClient, built: Path) -> None:
    (built / "assets" / "index-Ab12.js.gz").write_bytes(gzip.compress(b"export {}"))

    packed = client.get("/admin/assets/index-Ab12.js", headers={"Accept-Encoding": "gzip, br"})
    plain = client.get("/admin/assets/index-Ab12.js")

    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data == b"export {}"
    assert packed.headers["Content-Type"] == plain.headers["Content-Type"]
    assert packed.headers["ETag"] != plain.headers["ETag"]
    assert "Content-Encoding" not in plain.headers
    assert plain.headers["Vary"] == packed.headers["Vary"] == "Accept-Encoding"


def test_an_asset_of_an_earlier_build_is_not_the_page(client: FlaskClient) -> None:
    """A script that turned into HTML would be an error that nobody understands."""
    assert_problem(client.get("/admin/assets/index-0000.js"), 404, "not_found")


@pytest.mark.parametrize(
    "path", ["../secret", "assets/../../secret", "%2e%2e/secret", "..%2fsecret", "/etc/passwd"]
)
def test_nothing_beside_the_page_is_served(path: str, client: FlaskClient) -> None:
    reply = client.get(f"/admin/{path}")

    assert "not for you" not in reply.text
    assert "root:" not in reply.text


@pytest.mark.parametrize("path", ["/admin/", "/admin/sessions", "/admin/assets/index-Ab12.js"])
def test_a_browser_runs_nothing_but_the_pages_own_files(path: str, client: FlaskClient) -> None:
    headers = client.get(path).headers

    policy = dict(each.split(" ", 1) for each in headers["Content-Security-Policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Set-Cookie" not in headers
    assert "Access-Control-Allow-Origin" not in headers


def test_a_page_that_is_not_built_says_how_to_build_it(client: FlaskClient, built: Path) -> None:
    (built / "index.html").unlink()

    reply = client.get("/admin/sessions")

    assert reply.status_code == 503
    assert reply.content_type == "text/plain; charset=utf-8"
    assert "./dev page" in reply.text
    assert client.get("/healthz").status_code == 200


def test_it_is_only_read(client: FlaskClient) -> None:
    for path in ("/", "/admin/", "/admin/sessions"):
        assert_problem(client.post(path), 405, "method_not_allowed")
