"""What the documents say is what the code does."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import click
import pytest
from werkzeug.exceptions import HTTPException

from app.chain.stack import Reads, default_chain
from app.errors import Failure
from app.tokens.estimator import estimator_for
from cli.main import COMMANDS, hango
from docs.generate import PAGES as GENERATED
from docs.generate import stale
from docs.writers import cli as cli_page
from docs.writers import configuration, errors, http
from tests.rules.documents import (
    DOCUMENTS,
    PAGES,
    ROOT,
    Block,
    anchors,
    blocks,
    code_words,
    commands,
    links,
    rows,
)

ARCHITECTURE = ROOT / "docs" / "system-architecture.md"
REFERENCE = ROOT / "docs" / "reference"
ROADMAP = ROOT / "docs" / "roadmap.md"  # the one page that may speak of what is not there

ANY_ID = str(UUID(int=7))
SHELL = [each for path in PAGES for each in blocks(path) if each.info.split()[:1] == ["sh"]]
RUNNABLE = [each for path in PAGES for each in blocks(path) if each.info == "python run"]


def test_the_generated_pages_are_fresh() -> None:
    assert stale() == [], "run `make docs`"


def test_a_generated_page_that_was_edited_is_found(tmp_path: Path) -> None:
    for name, page in GENERATED.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(page(), encoding="utf-8")
    assert stale(root=tmp_path) == []

    (tmp_path / "configuration.md").write_text("as I like it", encoding="utf-8")

    assert stale(root=tmp_path) == ["configuration.md"]


def test_every_variable_in_the_code_is_documented() -> None:
    named = {
        variable
        for path in _sources("app", "cli", "workers", "migrations", "tests/conftest.py", "dev")
        for variable in re.findall(r"\bHANGO_[A-Z][A-Z_]*[A-Z]\b", path.read_text(encoding="utf-8"))
    }
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    assert named - configuration.variables() == set()
    assert {each for each in named if f"`{each}`" not in page} == set()


def test_every_code_of_a_problem_is_documented() -> None:
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")

    missing = {kind.code for kind in errors.failures() if f"\n| `{kind.code}` |" not in page}

    assert missing == set()
    assert {kind.code for kind in _below(Failure)} <= {kind.code for kind in errors.failures()}


def test_every_code_of_a_fault_is_documented() -> None:
    """Searched in another way than the page's writer does."""
    page = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    made = re.compile(
        r'\b(?:Fault|Finding)\([^"]{0,60}?(?:"[^"\n]*"[^"]{0,20})?"([a-z_0-9]+)",\s*f?"[A-Z]'
    )
    codes = {
        code for path in _sources("app") for code in made.findall(path.read_text(encoding="utf-8"))
    }

    assert len(codes) > 60
    assert {code for code in codes if f"\n| `{code}` |" not in page} == set()


def test_every_command_is_documented() -> None:
    page = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    every = list(cli_page.commands())

    assert {each.command_path.split()[1] for each in every} == set(COMMANDS)
    assert [each.command_path for each in every if f"## {each.command_path}\n" not in page] == []


def test_every_command_that_asks_the_server_has_an_example() -> None:
    for each in cli_page.commands():
        if isinstance(each.command, cli_page.ApiCommand):
            assert cli_page.examples(each.command), each.command_path


def test_every_route_is_documented() -> None:
    page = (REFERENCE / "api.md").read_text(encoding="utf-8")
    document = json.loads((REFERENCE / "openapi.json").read_text(encoding="utf-8"))
    for rule in http.application().url_map.iter_rules():
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            assert f"`{method} {path}`" in page
            if path in document["paths"]:
                assert method.lower() in document["paths"][path], f"{method} {path}"


def test_the_table_of_the_chain_is_the_chain() -> None:
    nothing = Reads(*[None] * len(Reads._fields))  # type: ignore[arg-type] # nothing is read
    chain = default_chain(nothing, estimator_for("claude-sonnet-4-5"))

    documented = [slot for slot, _ in rows(ARCHITECTURE, "The chain")]

    assert documented == [type(each).__name__ for each in chain.stack]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_of_a_page_exists(path: Path) -> None:
    gone = [word for word in code_words(path) if _is_path(word) and not _exists(word)]

    assert gone == []


def test_where_is_names_a_path_in_each_row() -> None:
    for question, answer in rows(ARCHITECTURE, "Where is …?"):
        named = re.findall(r"`([^`]+)`", answer)
        assert named, question
        assert [each for each in named if not _exists(each)] == [], question


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path: Path) -> None:
    for link in links(path):
        if link.startswith(("http://", "https://")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_linked_from_another() -> None:
    linked = {
        (path.parent / link.partition("#")[0]).resolve() for path in PAGES for link in links(path)
    }

    assert [path for path in PAGES if path not in linked and path != ROOT / "README.md"] == []


@pytest.mark.parametrize("block", SHELL, ids=lambda block: block.at)
def test_every_command_line_could_be_typed(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in commands(block.text):
        assert words[0] in CHECKS, f"{words[0]} is no program that these pages use"
        CHECKS[words[0]](words[1:])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_and_route_in_a_sentence_exists(path: Path) -> None:
    if path == ROADMAP:
        return
    for word in code_words(path):
        if word.startswith("hango ") and path.parent != ROOT / "docs" / "decisions":
            _command(word.split()[1:])
        if match := re.fullmatch(r"(GET|POST|PUT|PATCH|DELETE) (/\S+)", word):
            assert _route(match[1], match[2]), word


@pytest.mark.parametrize("block", RUNNABLE, ids=lambda block: block.at)
def test_a_block_that_says_so_runs(block: Block) -> None:
    exec(compile(block.text, block.at, "exec"), {"__name__": "example"})


def test_pages_say_what_is_so_and_praise_nothing() -> None:
    """No word that promises without saying anything."""
    vague = re.compile(r"\b(simply|easily|blazing|powerful|seamless\w*|effortless\w*)\b", re.I)
    found = [
        (str(path.relative_to(ROOT)), match[0])
        for path in DOCUMENTS
        for match in vague.finditer(path.read_text(encoding="utf-8"))
    ]

    assert found == []


def _sources(*names: str) -> list[Path]:
    found: list[Path] = []
    for name in names:
        path = ROOT / name
        found += sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return found


def _below(kind: type[Failure]) -> list[type[Failure]]:
    """The failures of hango itself: tests make some of their own."""
    return [
        each
        for child in kind.__subclasses__()
        for each in (child, *_below(child))
        if each.__module__.startswith("app.")
    ]


def _is_path(word: str) -> bool:
    first = word.split("/")[0]
    return "/" in word and not set(word) & set(" <*{…$") and (ROOT / first).is_dir() and first != ""


def _exists(word: str) -> bool:
    return (ROOT / word).exists()


def _command(words: list[str]) -> tuple[click.Context, list[str]]:
    """The command that these words begin with, and the words behind its name."""
    context = click.Context(hango, info_name="hango")
    rest = list(words)
    while isinstance(context.command, click.Group) and rest and not rest[0].startswith("-"):
        command = context.command.get_command(context, rest[0])
        assert command is not None, f"There is no hango {' '.join(words)}"
        context = click.Context(command, parent=context, info_name=rest.pop(0))
    return context, rest


def _hango(words: list[str]) -> None:
    context, rest = _command(words)
    assert not isinstance(context.command, click.Group), f"hango {' '.join(words)} does nothing"
    for word in rest:
        if re.fullmatch(r"[\w.-]+\.(md|jsonl|json|txt)", word):
            Path(word).touch()  # files that the reader has
    with context.command.make_context(context.info_name, rest, parent=context.parent):
        pass  # leaving it closes the files


def _dev(words: list[str]) -> None:
    if words[0] == "hango":
        _hango(words[1:])
    else:
        assert f'"{words[0]}": ' in (ROOT / "dev").read_text(encoding="utf-8"), words


def _make(words: list[str]) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [word for word in words if "=" not in word]
    assert targets
    assert all(f"\n{target}: ##" in makefile for target in targets), targets
    for path in re.findall(r"tests/[\w/]+", " ".join(words)):
        assert _exists(path), path


def _curl(words: list[str]) -> None:
    method = words[words.index("-X") + 1] if "-X" in words else "POST" if "-F" in words else "GET"
    (url,) = [word for word in words if word.startswith("$HANGO_API_URL")]
    assert _route(method, url.removeprefix("$HANGO_API_URL")), url


def _route(method: str, path: str) -> bool:
    """Whether a path, with any name in place of an id or number, is a route."""
    numbered = re.sub(r"\{(number|other)\}", "1", path.partition("?")[0])
    filled = re.sub(r"\{[^}]*\}|\$\w+", ANY_ID, numbered)
    adapter = http.application().url_map.bind("hango.example.com")
    try:
        adapter.match(filled, method=method)
    except HTTPException:
        return False
    return True


def _anything(words: list[str]) -> None:
    """Of other programs, of which these pages only name the best known use."""


CHECKS: dict[str, Callable[[list[str]], None]] = {
    "hango": _hango,
    "./dev": _dev,
    "make": _make,
    "curl": _curl,
    **dict.fromkeys(
        ("export", "jq", "less", "sort", "head", "echo", "gunicorn", "celery"), _anything
    ),
}
