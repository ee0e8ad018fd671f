"""Functions that the lesson of core-to-core calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from experiments import api as x
from experiments.tools.neighbours import SAME_CORE

from .experiment import ROUND_TRIPS, SAMPLES, STEP

ENOUGH_WAYS = 30_000  # of each pair
FAR_WAYS, MOST_WAYS = 6, 120  # of a line that walks: what is shown of the farthest and of any pair
CLEAR = ("groups_seen", "distances_differ", "all_alike")


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, float]:
    """Return how many times as long the farthest pair took as the nearest; of one pair nothing.

    Also how many timings there are, and how many took less than half as long as the median.
    """
    if run.message not in CLEAR or "slowest_s" not in run.values:
        return {}
    timings_s = [row.latency_s for row in run.tables["handovers"]]
    return {
        "farthest_over_nearest": run.values["slowest_s"] / run.values["fastest_s"],
        "timings": len(timings_s),
        "short_timings": sum(each < run.values["median_s"] / 2 for each in timings_s),
    }


def farthest(run: x.LessonRun) -> x.Spot:
    """Return the cells that nearly reach the farthest pair; the whole map where all do."""
    cells = x.medians(((row.first, row.second), row.latency_s) for row in run.tables["handovers"])
    far = [cell for cell, latency_s in cells.items() if latency_s * STEP >= max(cells.values())]
    if run.message not in CLEAR or len(far) == len(cells):
        cores = sorted({row for row, _ in cells} | {column for _, column in cells})
        return x.Spot(pairs=tuple(product(cores, cores)))
    return x.Spot(pairs=tuple(far))


all_alike = x.found("all_alike")
few_pairs = x.found("one_pair", "matrix_in_part")  # is there nothing to compare?
groups = x.found("groups_seen")


def host_chose(run: x.LessonRun) -> bool:
    """Did a virtual machine see no groups, which its host may hide?"""
    return run.message != "groups_seen" and "virtual_machine" in run.limits


def host_moved(run: x.LessonRun) -> bool:
    """Were some timings far shorter than all pairs, in a virtual machine?"""
    is_virtual = all_alike(run) and "virtual_machine" in run.limits
    return is_virtual and numbers(run, None).get("short_timings", 0) > 0


def siblings_nearest(run: x.LessonRun) -> bool:
    """Is each pair of hardware threads of one core nearer than all others?"""
    pairs = _pairs(run)
    shared = {frozenset((row.first, row.second)): row.shared for row in run.tables["handovers"]}
    siblings = [pairs[pair] for pair, what in shared.items() if what == SAME_CORE]
    others = [pairs[pair] for pair, what in shared.items() if what != SAME_CORE]
    return bool(siblings and others) and max(siblings) * STEP <= min(others)


def siblings_nearer(run: x.LessonRun) -> bool:
    """Do hardware threads of one core stand out clearly?"""
    return run.message in CLEAR and siblings_nearest(run)


def clear_with_little(run: x.LessonRun) -> bool:
    """Is the finding clear, though each pair was timed for few ways only?"""
    rounds = len({row.repeat for row in run.tables["handovers"]})
    ways = rounds * run.params.lines * SAMPLES * 2 * ROUND_TRIPS
    return run.message in CLEAR and 0 < ways <= ENOUGH_WAYS


def motion(run: x.LessonRun, _pointed: x.Pointed | None) -> x.Motion | None:
    """Let a line walk between the nearest two cores, and one between the farthest, on one clock."""
    known = run.values
    if run.message in CLEAR:
        ways_s = {"near": known["fastest_s"], "far": known["slowest_s"]}
    elif run.message == "one_pair":
        ways_s = {"pair": known["median_s"]}
    else:
        return None
    end_s = min(FAR_WAYS * max(ways_s.values()), MOST_WAYS * min(ways_s.values()))
    return x.Motion(
        scenes=tuple(
            x.Scene(title=title, events=tuple(_walking(way_s, end_s)))
            for title, way_s in ways_s.items()
        ),
        duration_s=end_s,
        stills=(end_s / 12, end_s / 2, end_s),
        says=tuple(_said(ways_s, end_s)),
    )


def _walking(way_s: float, end_s: float) -> Iterator[x.Travel | x.Count]:
    """Yield a line that walks to and fro, and how often it arrived."""
    cores = ("one", "other")
    handed = x.Count(shape="one", label="handed", end_s=end_s, every_s=way_s)
    yield handed
    for way in range(handed.at(end_s)):
        along = cores if way % 2 == 0 else cores[::-1]
        there_s = min((way + 1) * way_s, end_s)
        yield x.Travel(along=along, start_s=way * way_s, end_s=there_s, token="line")


def _said(ways_s: Mapping[str, float], end_s: float) -> Iterator[x.Say]:
    """Yield what is said: at first, and in the end of two pairs."""
    yield x.Say(text="begin", start_s=0.0)
    if "far" in ways_s:
        is_alike = ways_s["far"] < STEP * ways_s["near"]
        yield x.Say(text="in_step" if is_alike else "ahead", start_s=end_s / 2)


def _pairs(run: x.LessonRun) -> dict[frozenset[str], float]:
    """Return the median seconds one way of each pair."""
    return x.medians(
        (frozenset((row.first, row.second)), row.latency_s) for row in run.tables["handovers"]
    )
