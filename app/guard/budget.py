"""What fits into a request: window, reserve, margin, trigger and target. All in tokens."""

from __future__ import annotations

from dataclasses import dataclass

TRIGGER = 0.90  # of what is available: where compaction starts
TARGET = 0.65  # where it aims


@dataclass(frozen=True, slots=True)
class Budget:
    """The bounds of one model call's input.

    `available` is a hard ceiling: window less reserve less margin. `reserve` is kept for the
    answer, `margin` for what an estimate may miss.
    """

    window: int
    reserve: int
    margin: int
    trigger: int
    target: int

    @property
    def available(self) -> int:
        """The most that a request may hold."""
        return self.window - self.reserve - self.margin

    @property
    def tool_output(self) -> int:
        """The most that one tool result may hold: a tenth, between 1,000 and 15,000."""
        return _clamp(self.available // 10, 1_000, 15_000)


def budget_for(
    window: int, max_tokens: int, *, trigger: float = TRIGGER, target: float = TARGET
) -> Budget:
    """The budget of a call with this window and this largest answer.

    The reserve is a tenth of the window, between 16,000 and 48,000, but never above what the
    call may answer at all, nor above half the window: a small model keeps room for its input.
    """
    reserve = min(_clamp(window // 10, 16_000, 48_000), max_tokens, window // 2)
    margin = _clamp(window // 50, 128, 8_000)
    available = window - reserve - margin
    return Budget(window, reserve, margin, int(available * trigger), int(available * target))


def _clamp(value: int, least: int, most: int) -> int:
    return max(least, min(value, most))
