"""Retrieval by words: files cut into passages, ranked by BM25. Nothing is asked of any model."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

import msgspec
import regex

# Of these scripts each character stands alone: they put no space between words.
_WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\p{L}\p{M}\p{N}_]+"
)
MOST_WORDS_ASKED = 1000  # of a long message
PASSAGE_CHARACTERS = 1200  # about; a longer paragraph stays whole up to four times as long
# The usual constants: how soon further mentions of a word add nothing, how much length counts.
_K1, _B = 1.2, 0.75


class Passage(msgspec.Struct, frozen=True):
    """Neighbouring lines of a file."""

    path: str
    first: int  # lines, counted from 1
    last: int
    text: str


def passages(path: str, content: str) -> Iterator[Passage]:
    """The file in pieces, cut at blank lines where there are some."""
    held: list[tuple[int, str]] = []
    for paragraph in _paragraphs(content.splitlines()):
        if held and _size(held) + _size(paragraph) > PASSAGE_CHARACTERS:
            yield _passage(path, held)
            held = []
        held += paragraph
    if held:
        yield _passage(path, held)


def ranked(question: str, found: Sequence[Passage]) -> list[Passage]:
    """Those that share words with the question, the best first; equals in their given order."""
    asked = set(_words(question)[:MOST_WORDS_ASKED])
    counted = [Counter(_words(each.text)) for each in found]
    holding = Counter(word for words in counted for word in asked & words.keys())
    if not holding:
        return []
    rarity = {word: math.log1p((len(found) - n + 0.5) / (n + 0.5)) for word, n in holding.items()}
    average = sum(words.total() for words in counted) / len(found)
    scores = [_score(words, rarity, words.total() / average) for words in counted]
    order = sorted(range(len(found)), key=lambda place: -scores[place])
    return [found[place] for place in order if scores[place] > 0]


def _score(words: Mapping[str, int], rarity: Mapping[str, float], length: float) -> float:
    spread = _K1 * (1 - _B + _B * length)
    shared = ((weight, words[word]) for word, weight in rarity.items() if word in words)
    return sum(weight * times * (_K1 + 1) / (times + spread) for weight, times in shared)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _paragraphs(lines: Iterable[str]) -> Iterator[list[tuple[int, str]]]:
    """Lines with their numbers, by the blank lines between them; very long ones in pieces."""
    for is_text, group in groupby(enumerate(lines, start=1), lambda line: bool(line[1].strip())):
        if not is_text:
            continue
        held: list[tuple[int, str]] = []
        for number, line in group:
            held.append((number, line))
            if _size(held) > 4 * PASSAGE_CHARACTERS:
                yield held
                held = []
        if held:
            yield held


def _size(lines: Sequence[tuple[int, str]]) -> int:
    return sum(len(line) for _, line in lines)


def _passage(path: str, lines: Sequence[tuple[int, str]]) -> Passage:
    text = "\n".join(line for _, line in lines)
    return Passage(path, lines[0][0], lines[-1][0], text)
