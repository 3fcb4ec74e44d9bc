from app.tokens.recent import Recent


def test_a_result_is_made_once() -> None:
    made: list[str] = []
    recent: Recent[int] = Recent(2)

    sizes = [recent.get("abc", lambda text: made.append(text) or len(text)) for _ in range(3)]

    assert sizes == [3, 3, 3]
    assert made == ["abc"]


def test_the_longest_unused_result_goes_first() -> None:
    made: list[str] = []
    recent: Recent[int] = Recent(2)

    for text in ("a", "b", "a", "c", "a", "b"):
        recent.get(text, lambda text: made.append(text) or 1)

    assert made == ["a", "b", "c", "b"]


def test_a_lone_surrogate_is_a_source_like_any_other() -> None:
    assert Recent[int](1).get("\ud800", len) == 1
