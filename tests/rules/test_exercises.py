"""The learning pages and the README, tried on the sample session."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from cli import configuration
from cli.http import Api
from cli.main import run
from tests.cli.worker import working
from tests.rules.conftest import Sample
from tests.rules.documents import ROOT, Block, blocks, captured, commands

PAGE = ROOT / "docs" / "learning" / "context-inspector.md"
ELLIPSIS = "…"


def test_the_exercises_print_what_the_page_says(
    sample: Sample, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HANGO_API_URL", sample.url)
    monkeypatch.setenv("HANGO_API_KEY", sample.key)
    tried = [pair for pair in pairwise(blocks(PAGE)) if pair[0].info.startswith("sh exercise")]
    assert len(tried) > 12
    variables = {"$SESSION": sample.session_id}

    with working(sample.runtime, sample.runtime.provider):
        for exercise, printed in tried:
            (words,) = commands(exercise.text)
            code = run([variables.get(word, word) for word in words[1:]])

            told = capsys.readouterr()
            assert code == _expected_code(exercise), f"{exercise.at}: {told.err}"
            if name := captured(exercise.text)[0]:
                variables[f"${name}"] = told.out.rstrip()
                continue
            assert _as_pattern(printed.text).fullmatch((told.out + told.err).rstrip()), (
                f"{printed.at}\n{told.out}{told.err}"
            )


def test_the_table_of_the_readme_is_that_of_the_sample(sample: Sample) -> None:
    api = Api(configuration.parse(sample.url, "the test", sample.key), 60.0)
    snapshot = api.get("v1", "sessions", sample.session_id, "context")
    parts = [part for group in snapshot["groups"].values() for part in group["parts"]]
    table = next(block.text for block in blocks(ROOT / "README.md") if "[x]" in block.text)

    shown = re.findall(r"^\[x\]  (\S+) .*? ([\d,]+)(?:  cached)?$", table, flags=re.MULTILINE)

    assert shown == [(part["id"], f"{part['tokens']:,}") for part in parts]
    totals = snapshot["totals"]
    assert f"total    {totals['after']:,} tokens, {totals['framing']:,} of them" in table
    assert f"cache    {snapshot['cache']['prefix_tokens']:,} tokens" in table


def test_the_figures_of_the_page_are_those_of_the_sample(sample: Sample) -> None:
    api = Api(configuration.parse(sample.url, "the test", sample.key), 60.0)
    snapshot = api.get("v1", "sessions", sample.session_id, "context")
    page = PAGE.read_text(encoding="utf-8")

    for name, group in snapshot["groups"].items():
        assert f"| {name} | {len(group['parts'])} | {group['tokens']['after']:,} |" in page
    assert f"| framing | | {snapshot['totals']['framing']:,} |" in page
    assert f"of these {snapshot['totals']['after']:,} tokens" in page


def _expected_code(exercise: Block) -> int:
    *_, last = exercise.info.split()
    return int(last) if last.isdigit() else 0


def _as_pattern(text: str) -> re.Pattern[str]:
    """What was printed, where `…` stands for anything."""
    return re.compile(".*".join(map(re.escape, text.split(ELLIPSIS))), flags=re.DOTALL)


@pytest.fixture(autouse=True)
def _no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No profile of the person who tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
