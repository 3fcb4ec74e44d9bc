"""Tables as CSV, for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from flask import Response

# A spreadsheet runs a cell that begins so as a formula, whoever wrote it (OWASP, CSV injection).
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def answer(head: Sequence[str], rows: Iterable[Sequence[str | int | None]], name: str) -> Response:
    """A table as a file to download; an unknown cell is empty."""
    text = io.StringIO()
    written = csv.writer(text)
    written.writerow(head)
    written.writerows([_inert(cell) for cell in row] for row in rows)
    return Response(
        text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _inert(cell: str | int | None) -> str | int | None:
    """The cell as a spreadsheet shows it and does not run it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
