"""What a text costs: its cl100k tokens, each with the weight of its class."""

from __future__ import annotations

from functools import cached_property

from app.tokens.calibration import Calibration
from app.tokens.classes import CLASSES, classes_of
from app.tokens.pieces import pieces
from app.tokens.ranks import Ranks, ranks


class TextWeigher:
    """Weighs texts by one family's figures. Loads the ranks at the first text."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._dearest = max(calibration.weights.values())

    def weigh(self, text: str) -> tuple[float, bool]:
        """The tokens of `text`, and whether that is a guess rather than a count.

        Takes time in proportion to its length, whatever it holds: special tokens are plain text,
        lone surrogates count as U+FFFD.
        """
        loaded = ranks()
        if loaded is None:
            return _size(text) * self._calibration.overheads["unread_byte"], True
        total, rough, weight_of = 0.0, False, self._weights.__getitem__
        for piece in pieces(text):
            ids = encode(loaded, piece)
            if ids is None:
                # No text has more tokens than bytes: rather far too many than too few.
                total, rough = total + _size(piece) * self._dearest, True
            else:
                total += sum(map(weight_of, ids))
        return total, rough

    @cached_property
    def _weights(self) -> list[float]:
        """By token id."""
        loaded = ranks()
        by_class = [self._calibration.weights[each] for each in CLASSES]
        return [by_class[each] for each in classes_of(loaded.tokens)] if loaded else []


def encode(loaded: Ranks, piece: str) -> list[int] | None:
    """The token ids of a text of at most PIECE characters; None where the encoder gives up."""
    try:
        return loaded.encoding.encode_ordinary(piece)
    except BaseException as error:
        # A panic within the Rust code is no Exception, so that few handlers would stop it.
        if type(error).__name__ != "PanicException":
            raise
        return None


def _size(text: str) -> int:
    """In bytes of UTF-8."""
    return len(text.encode(errors="surrogatepass"))
