"""Scale of a rate, which has no natural maximum: a round number above the minute's peak."""

from __future__ import annotations

import math
from collections.abc import Callable

from experiments.presentation.load.history import History, Moment

Value = Callable[[Moment], float | None]

SHRINK_EVERY_S = 10.0  # between two searches of the whole minute for a lower top
LEAST_PER_S = 1e6  # least top, so that the noise of an idle disk stays flat


class Scale:
    """Turns a value into a share of the height."""

    def __init__(self, value: Value, top_above: Callable[[float], float]) -> None:
        self.value, self._top_above = value, top_above
        self.top = 0.0
        self._seen_s = self._looked_s = -math.inf

    def fit(self, history: History) -> bool:
        """Add new samples; return whether the top has changed."""
        now_s = history.now_s
        is_other = now_s < self._seen_s  # another history
        if is_other or now_s - self._looked_s >= SHRINK_EVERY_S:
            self._looked_s = now_s
            highest = self._highest(history, -math.inf)
        else:
            highest = max(self._highest(history, self._seen_s), 0.0)
            if highest <= self.top:
                highest = -math.inf
        self._seen_s = now_s
        top = self._top_above(highest) if highest > -math.inf else self.top
        if top == self.top:
            return False
        self.top = top
        return True

    def share(self, moment: Moment) -> float | None:
        """Return the height of a sample as a share."""
        value = self.value(moment)
        return None if value is None or not self.top else value / self.top

    def _highest(self, history: History, after_s: float) -> float:
        values = (self.value(moment) for moment in history.since(after_s))
        return max((value for value in values if value is not None), default=0.0)


def round_above(highest: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least LEAST_PER_S."""
    if highest <= LEAST_PER_S:
        return LEAST_PER_S
    power = 10.0 ** math.floor(math.log10(highest))
    return next(power * step for step in (1, 2, 5, 10) if power * step >= highest * (1 - 1e-9))
