from __future__ import annotations

from cli.output import Column, laid_out, shown
from cli.text import columns

LAYOUT = (
    Column("ID"),
    Column("TEXT", flexible=True),
    Column("N", right=True),
)


def test_columns_are_aligned_by_what_the_terminal_shows() -> None:
    lines = laid_out(LAYOUT, [("a", "日本", 1), ("bb", "👨‍👩‍👧‍👦", 1000), ("c", "x", 10)], None)

    assert lines == [
        "ID  TEXT      N",
        "a   日本      1",
        "bb  👨‍👩‍👧‍👦    1,000",
        "c   x        10",
    ]


def test_a_cell_cannot_leave_its_row() -> None:
    lines = laid_out(LAYOUT, [("a\nb", "\x1b[2J\r", 1)], None)

    assert len(lines) == 2
    assert lines[1].split() == ["a\\nb", "\\x1b[2J\\r", "1"]


def test_only_the_flexible_column_is_cut() -> None:
    rows = [("0199f3a2", "many words " * 9, 5), ("b" * 30, "short", 5)]

    lines = laid_out(LAYOUT, rows, 60)

    assert all(columns(line) <= 60 for line in lines)
    assert "b" * 30 in lines[2]
    assert lines[1].endswith("…  5")


def test_one_very_long_id_pushes_its_own_row_alone() -> None:
    rows = [("a" * 70, "words " * 20, 5), ("b", "words " * 20, 5)]

    head, long, short = laid_out(LAYOUT, rows, 80)

    assert "a" * 70 in long
    assert columns(short) <= 80
    assert head.index("N") == short.index("5")


def test_a_pipe_gets_every_column_whole() -> None:
    text = "words " * 50

    assert text.strip() in laid_out(LAYOUT, [("a" * 70, text.strip(), 5)], None)[1]


def test_what_is_unknown_is_not_a_number() -> None:
    assert [shown(None), shown(0), shown(1234567), shown(True)] == ["–", "0", "1,234,567", "yes"]
