"""Two ways to measure the same thing, in turns: the median of the ratios of each turn counts.

A machine may change from one second to the next: a virtual one gets other cores, a shared one has
neighbours. The two measurements of one turn are still comparable, since one follows the other at
once. If the turns do not agree among themselves, there is no verdict. If the budget is not kept,
the yardstick is compared with itself. This shows how far apart the machine alone makes two equal
measurements.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from experiments.core.units import show
from tests.tools.bench.lines import Line, within

# A byte takes one cycle or one and a half, by where the loop lies in memory: the same C program,
# started twice, differed by a third.
OF_ONE_CYCLE = (0.6, 1.5)
AGREEING = 0.15  # so far apart may the quartiles of the ratios be


def in_turns(
    what: str,
    ours: Callable[[int], float | None],
    theirs: Callable[[int], float],
    theirs_again: Callable[[int], float],
    *,
    turns: int,
    budget: tuple[float, float],
    unit: str = "s",
) -> Line:
    """Return the line of both; each gets the number of the turn, and None is a turn that failed.

    `theirs_again` is a second yardstick, with memory of its own.
    """
    pairs = _pairs(ours, theirs, turns)
    low, high = budget
    said = f"{low:.2f} to {high:.2f}"
    if len(pairs) < max(2, turns // 2):
        return Line(what, "most turns failed: too busy a machine", said)
    mine_s, its_s = (statistics.median(times) for times in zip(*pairs, strict=True))
    first, ratio, third = _quartiles(pairs)
    figure = f"{show(mine_s, unit)} against {show(its_s, unit)}: {ratio:.3f}"
    if third - first > AGREEING:
        return Line(what, f"{figure}, but {first:.2f} to {third:.2f} by turns: too noisy", said)
    if within(ratio, low, high):
        return Line(what, figure, said, kept=True)
    least, itself, most = _quartiles(_pairs(theirs, theirs_again, turns))
    why = (
        f"half of the turns lie between {first:.2f} and {third:.2f}; the C program against itself "
        f"gives {itself:.3f}, half of the turns between {least:.2f} and {most:.2f}"
    )
    return Line(what, figure, said, kept=False, why=why)


def _pairs(
    ours: Callable[[int], float | None], theirs: Callable[[int], float], turns: int
) -> list[tuple[float, float]]:
    pairs: list[tuple[float, float]] = []
    for turn in range(turns):
        mine: float | None
        if turn % 2:
            its, mine = theirs(turn), ours(turn)
        else:
            mine, its = ours(turn), theirs(turn)
        if mine is not None:
            pairs.append((mine, its))
    return pairs


def _quartiles(pairs: Sequence[tuple[float, float]]) -> list[float]:
    return statistics.quantiles((mine / its for mine, its in pairs), n=4, method="inclusive")
