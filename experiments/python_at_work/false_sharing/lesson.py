"""What the lesson of false-sharing computes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from experiments import api as x

from .experiment import CORES, READERS, Increment

HELD_BACK = (READERS,)
LIKE, TWICE = 1.25, 2.0  # times
MANY_ROUNDS, FEW_ROUNDS, NEARLY_ALL = 30, 4, 0.8
FIGHT = "neighbours_fight"


def option_by_slowdown(run: x.LessonRun) -> int | None:
    """Return the option that says how much longer neighbours took; None where they were faster."""
    if "slowdown" not in run.values or run.message == "near_is_faster":
        return None
    return sum(run.values["slowdown"] > most for most in (LIKE, TWICE))


def largest_fall(run: x.LessonRun) -> x.Spot:
    """Return the neighbouring distances between which the time of the nearest cores falls most."""
    return _fall(x.medians((row.distance_bytes, row.increment_s) for row in _nearest(run)))


def one_core(run: x.LessonRun) -> bool:
    """May the program use one core only?"""
    return x.physical_cores(run.machine) == 1 and not _nearest(run)


no_fall = x.found("alike", "near_is_faster")  # were neighbours no slower than counters far apart?


def pair_of_lines(run: x.LessonRun) -> bool:
    """Do the times fall farther out than a line is long?"""
    line_bytes = run.values.get("line_bytes")
    return line_bytes is not None and run.values.get("line_bytes_seen", 0.0) > line_bytes


plain_lose_less = x.limited("plain_is_forwarded")  # do plain increments lose less than atomic ones?


def fall_stays(run: x.LessonRun) -> bool:
    """Did the time fall most at the same distance in nearly all of many rounds?"""
    by_round: dict[int, dict[int, float]] = {}
    for row in _nearest(run):
        by_round.setdefault(row.repeat, {})[row.distance_bytes] = row.increment_s
    if run.message != FIGHT or len(by_round) < MANY_ROUNDS:
        return False
    ((_, count),) = Counter(map(_fall, by_round.values())).most_common(1)
    return count >= NEARLY_ALL * len(by_round)


def sure_in_few(run: x.LessonRun) -> bool:
    """Did a few rounds suffice to be sure?"""
    return run.message == FIGHT and run.params.rounds <= FEW_ROUNDS


def _nearest(run: x.LessonRun) -> list[Increment]:
    """Return the rows of the nearest two cores."""
    rows = run.tables["increments"]
    pair = next((name for name in CORES if any(row.pair == name for row in rows)), None)
    return [row for row in rows if row.pair == pair]


def _fall(times: dict[int, float]) -> x.Spot:
    steps = [*pairwise(sorted(times))]
    if not steps:
        return x.Spot()
    low, high = max(steps, key=lambda step: times[step[0]] / times[step[1]])
    return x.Spot(low=low, high=high)
