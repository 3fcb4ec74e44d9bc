"""/admin: the built page, and / which leads there. It holds no content: that comes from /v1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from flask import Blueprint, Response, redirect, request
from werkzeug.security import safe_join
from werkzeug.wrappers import Response as AnyResponse

from app.errors import NotFound

_APP = Path(__file__).parents[1]

# Where a wheel has the page, and where a checkout has it (admin-web/build.py).
BUILT: Sequence[Path] = (_APP / "static" / "admin", _APP.parent / "admin-web" / "dist")

_ASSETS = "assets/"  # whose names change with what is in them
_FOR_EVER = "public, max-age=31536000, immutable"

# By name, since what the machine holds these suffixes for differs; with nosniff it has to be right.
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}

_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}

_NOT_BUILT = """\
hango runs, but its admin page is not built.

In a checkout:  ./dev page
Installed:      install hango again, from a wheel or with access to npm's registry.

The API and the command line work without it; /docs describes the API.
"""

blueprint = Blueprint("admin_page", __name__)


@blueprint.get("/")
def home() -> AnyResponse:
    """The way to the admin page."""
    return redirect("/admin/")


@blueprint.get("/admin/", defaults={"path": ""})
@blueprint.get("/admin/<path:path>")
def admin_page(path: str) -> AnyResponse:
    """The admin page, for browsers."""
    folder = next((each for each in BUILT if (each / "index.html").is_file()), None)
    if folder is None:
        return Response(_NOT_BUILT, 503, _HEADERS, content_type="text/plain; charset=utf-8")
    file = _file(folder, path)
    if file is None and path.startswith(_ASSETS):
        raise NotFound
    # Of any other path the page itself knows what it is.
    response = _served(file or folder / "index.html")
    response.headers["Cache-Control"] = _FOR_EVER if path.startswith(_ASSETS) else "no-cache"
    response.headers.update(_HEADERS)
    return response


def _file(folder: Path, path: str) -> Path | None:
    found = safe_join(str(folder), path)
    return Path(found) if found and Path(found).is_file() else None


def _served(file: Path) -> AnyResponse:
    """The file, packed where the build has packed it and the browser takes that."""
    response = Response(content_type=_TYPES.get(file.suffix, "application/octet-stream"))
    packed = file.with_name(f"{file.name}.gz")
    response.vary.add("Accept-Encoding")
    if request.accept_encodings.quality("gzip") and packed.is_file():
        response.headers["Content-Encoding"] = "gzip"
        file = packed
    response.set_data(file.read_bytes())
    response.add_etag()
    return response.make_conditional(request)
