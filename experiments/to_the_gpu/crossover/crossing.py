"""The size from which one way wins over another: where two lines cross, if they do."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping

from experiments import api as x

WIDE = 4


class Crossing(x.Record, kw_only=False):
    """From `size` on the second way wins; it is a whole number.

    The second way clearly loses at `low` and clearly wins at `high`. From `high` on it is ahead by
    the median at every size. So one disturbed sample at a larger size hides no win. If it clearly
    loses at no size, `low` is None and `size` is `high`.
    """

    size: int
    low: int | None
    high: int

    @property
    def is_wide(self) -> bool:
        """Is the range of sizes between a clear loss and a clear win too wide for one crossing?"""
        return self.low is not None and self.high > WIDE * self.low


def crossing(first: Mapping[int, x.Spread], second: Mapping[int, x.Spread]) -> Crossing | None:
    """Return where the second way becomes faster, None if it never clearly and lastingly is.

    Between two sizes a straight line through the logarithms is taken: times follow powers of a
    size.
    """
    common = sorted(first.keys() & second.keys())
    ahead = itertools.takewhile(lambda s: second[s].median < first[s].median, reversed(common))
    found = x.family({size: (second[size], first[size]) for size in common}, x.Spread.against)
    clear = {size for size, each in found.items() if each.outcome is x.Outcome.DIFFERS}
    won = [size for size in ahead if size in clear]
    if not won:
        return None
    high = won[-1]
    lost = [size for size in common if size < high and size in clear and found[size].is_above]
    if not lost:
        return Crossing(high, None, high)

    def lead(size: int) -> float:
        return math.log(first[size].median / second[size].median)

    size = high
    for one, other in itertools.pairwise(s for s in common if lost[-1] <= s <= high):
        if lead(one) <= 0 < lead(other):
            share = -lead(one) / (lead(other) - lead(one))
            size = math.ceil(one * (other / one) ** share)
    return Crossing(size, lost[-1], high)
