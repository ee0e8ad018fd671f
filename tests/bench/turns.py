"""Two ways to measure the same thing, in turns: the median of the ratios of each turn counts.

On a machine that changes from one second to the next (a virtual one may be given other cores, a
shared one has neighbours) a turn and the next moment are still comparable. Where the turns do not
agree among themselves, there is no verdict.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from experiments.units import show
from tests.bench.lines import Line, within

AGREEING = 0.15  # so far apart may the quartiles of the ratios be


def in_turns(
    what: str,
    ours: Callable[[int], float | None],
    theirs: Callable[[int], float],
    *,
    turns: int,
    budget: tuple[float, float],
    unit: str = "s",
) -> Line:
    """Return the line of both; each gets the number of the turn, and None is a turn that failed."""
    pairs: list[tuple[float, float]] = []
    for turn in range(turns):
        mine: float | None
        if turn % 2:
            its, mine = theirs(turn), ours(turn)
        else:
            mine, its = ours(turn), theirs(turn)
        if mine is not None:
            pairs.append((mine, its))
    low, high = budget
    said = f"{low:.2f} to {high:.2f}"
    if len(pairs) < max(2, turns // 2):
        return Line(what, "most turns failed: too busy a machine", said)
    ratios = [mine / its for mine, its in pairs]
    mine_s, its_s = (statistics.median(times) for times in zip(*pairs, strict=True))
    figure = f"{show(mine_s, unit)} against {show(its_s, unit)}: {statistics.median(ratios):.3f}"
    first, _, third = statistics.quantiles(ratios, n=4)
    if third - first > AGREEING:
        return Line(what, f"{figure}, but {first:.2f} to {third:.2f} by turns: too noisy", said)
    return Line(what, figure, said, within(statistics.median(ratios), low, high))
