"""Functions that the lesson of burst-random calls."""

from __future__ import annotations

import math

from experiments import api as x
from experiments.tools.chasing import LINE_BYTES

from .experiment import ELEMENT_BYTES, IN_A_ROW, RANDOM

HELD_BACK = (RANDOM,)
ALIKE, TWICE = 1.25, 2.0  # times
MANY_ROUNDS = 20
WITH_LIST = 1.5  # times the numbers: they and the list of their places
TRIPS = 3  # of the chain in the motion
MOST_DRAWN = 60  # dots of one order
HALF_AN_OCTAVE = math.sqrt(2)


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, str]:
    """Return what memory sends at once: the line of this machine's caches."""
    line = _line_bytes(run)
    return {"a_line": f"a whole line of {line} bytes" if line else "a whole line of bytes"}


def first_twice(run: x.LessonRun) -> x.Spot:
    """Return the stretch in which shuffled numbers begin to take twice as long as in order."""
    found = ratios(run)
    beyond = [size for size in found if found[size] >= TWICE]
    if not beyond:
        return x.Spot()
    size = min(beyond)
    return x.Spot(low=size / 2, high=size * HALF_AN_OCTAVE)


def in_cache(run: x.LessonRun) -> bool:
    """Does the last cache hold the largest data, or did order cost nothing?"""
    cache_bytes = x.last_level_cache_bytes(run.machine) or 0
    size_bytes = run.values.get("size_bytes", 0)
    return run.message == "only_chains_wait" or 0 < size_bytes <= cache_bytes


def partly_in_cache(run: x.LessonRun) -> bool:
    """May the last cache hold a part of the largest data?"""
    return "partly_in_cache" in run.limits and not in_cache(run)


def parts_in_cache(run: x.LessonRun) -> bool:
    """Does shuffled first take twice as long where only the last cache holds numbers and list?"""
    cache_bytes = [*x.cache_sizes(run.machine).values()]
    twice = [size for size, ratio in ratios(run).items() if ratio >= TWICE]
    if not twice or len(cache_bytes) < 2:
        return False
    return cache_bytes[-2] < WITH_LIST * min(twice) <= cache_bytes[-1]


other_order = x.found("other_order")  # was a chained read no slower, or shuffled the fastest?


def alike_in_huge_pages(run: x.LessonRun) -> bool:
    """Was the shuffled order as fast as in order, with pages of 2 MiB?"""
    ratio = run.values.get("random_over_sequential", math.inf)
    return run.params.huge_pages and ratio <= ALIKE


def knee_found(run: x.LessonRun) -> bool:
    """Is the largest array, in many rounds, the first for which shuffled takes twice as long?"""
    found = ratios(run)
    if not found or run.params.rounds < MANY_ROUNDS:
        return False
    last = max(found)
    return found[last] >= TWICE > found.get(last // 2, TWICE)


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Return three loops on one clock: the first line takes equally long, the next ones do not."""
    of = run.values
    if run.message != "three_answers" or in_cache(run):
        return None
    in_order_s, shuffled_s, chained_s = of["sequential_s"], of["random_s"], of["dependent_s"]
    lines_s = in_order_s * LINE_BYTES / ELEMENT_BYTES
    end_s = TRIPS * chained_s
    events: list[x.Travel | x.Count] = []
    for name, every_s in (("in_order", lines_s), ("shuffled", shuffled_s), ("chain", chained_s)):
        asked = round((end_s - chained_s) / every_s)
        for place in range(0, asked + 1, math.ceil(asked / MOST_DRAWN)):
            start_s = min(place * every_s, end_s - chained_s)
            road = (f"{name}_core", f"{name}_road", f"{name}_memory")
            events.append(
                x.Travel(along=road, start_s=start_s, end_s=start_s + chained_s, returns=True)
            )
    for name, every_s in (("in_order", in_order_s), ("shuffled", shuffled_s)):
        events.append(
            x.Count(
                shape=f"{name}_core", label="added", start_s=chained_s, end_s=end_s, every_s=every_s
            )
        )
    back = tuple(chained_s * trip for trip in range(1, TRIPS + 1))
    events.append(x.Count(shape="chain_core", label="added", times=back))
    return x.Motion(
        scenes=(x.Scene(events=tuple(events)),),
        duration_s=end_s,
        stills=(0.5 * chained_s, 1.5 * chained_s, end_s),
        says=(
            x.Say(text="leave", start_s=0.0),
            x.Say(text="in_order_comes", start_s=chained_s),
            x.Say(text="chain_waits", start_s=2 * chained_s),
        ),
    )


def _line_bytes(run: x.LessonRun) -> int:
    """Return the longest line of this machine's caches, 0 if unknown."""
    return max((cache.line_bytes or 0 for cache in run.machine.cpu.caches), default=0)


def ratios(run: x.LessonRun) -> dict[int, float]:
    """Return how many times longer shuffled takes than in order, by the size of the array."""
    times = x.medians(
        ((read.size_bytes, read.order), read.element_s) for read in run.tables["reads"]
    )
    sizes = sorted({size for size, _ in times})
    return {
        size: times[size, RANDOM] / times[size, IN_A_ROW]
        for size in sizes
        if {(size, RANDOM), (size, IN_A_ROW)} <= times.keys()
    }
