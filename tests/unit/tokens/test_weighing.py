import pytest

from app.tokens import weighing
from app.tokens.calibration import calibrations
from app.tokens.ranks import ranks
from app.tokens.weighing import TextWeigher, encode

PANICS = " " * 1_500_000 + "a"  # when it is not cut


def test_a_panic_of_the_encoder_is_no_exception_that_escapes() -> None:
    loaded = ranks()
    assert loaded is not None

    assert encode(loaded, PANICS) is None
    assert encode(loaded, "and afterwards it works") is not None


def test_what_the_encoder_gives_up_on_is_counted_too_high(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing, "pieces", lambda text: iter([text]))
    weigher = TextWeigher(calibrations().families["claude-4.7"])

    tokens, rough = weigher.weigh(PANICS)

    assert rough
    assert tokens >= len(PANICS)


def test_a_text_costs_its_tokens_by_their_classes() -> None:
    figures = calibrations().families["claude-4.7"]

    tokens, rough = TextWeigher(figures).weigh(" word 42\n")

    expected = ["word", "space", "digits", "space"]
    assert tokens == pytest.approx(sum(figures.weights[each] for each in expected))
    assert not rough


@pytest.mark.parametrize("name", calibrations().families)
def test_every_family_has_plausible_figures(name: str) -> None:
    figures = calibrations().families[name]

    assert figures.name == name
    assert all(0.3 < weight < 3 for weight in figures.weights.values())
    assert all(cost > 0 for cost in figures.overheads.values())
