"""Files cut into passages, and ranked by the words that they share with a question."""

from __future__ import annotations

from app.domain.retrieval import PASSAGE_CHARACTERS, Passage, passages, ranked


def found(question: str, *texts: str) -> list[str]:
    given = [Passage("/a", n, n, text) for n, text in enumerate(texts)]
    return [each.text for each in ranked(question, given)]


def test_a_rare_word_counts_for_more_than_a_common_one() -> None:
    assert found("the tea", "the the", "the cup", "the tea") == ["the tea", "the the", "the cup"]


def test_a_short_passage_beats_a_long_one_with_the_same_words() -> None:
    assert found("tea", "tea " + "and so on " * 50, "tea")[0] == "tea"


def test_what_shares_no_word_is_not_found() -> None:
    assert found("tea", "coffee", "") == []
    assert found("", "coffee") == []
    assert found("tea") == []


def test_case_and_signs_do_not_matter() -> None:
    assert found("STRASSE!", "(Straße)") == ["(Straße)"]


def test_scripts_without_spaces_are_compared_by_character() -> None:
    assert found("東京の天気", "京都", "天気がいい")[0] == "天気がいい"


def test_a_file_is_cut_at_blank_lines_and_knows_its_own() -> None:
    first, second = "a" * PASSAGE_CHARACTERS, "b\nb"

    cut = list(passages("/f", f"\n{first}\n\n\n{second}\n"))

    assert cut == [Passage("/f", 2, 2, first), Passage("/f", 5, 6, second)]


def test_small_paragraphs_stand_together() -> None:
    (only,) = passages("/f", "a\n\nb\n\nc")

    assert (only.first, only.last, only.text) == (1, 5, "a\nb\nc")


def test_a_paragraph_without_end_is_cut() -> None:
    cut = list(passages("/f", "word word word\n" * 1000))

    assert len(cut) > 1
    assert [each.first for each in cut[1:]] == [each.last + 1 for each in cut[:-1]]
