"""Functions that the lesson of cache-ladder calls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from experiments import api as x

from .experiment import IN_A_ROW, LEAST_MEMORY_BYTES, RANDOM

HELD_BACK = (IN_A_ROW,)
CLIMBED = 1.5  # times the first load: beyond, the first cache does not hold the data
PINNED_DOWN = 1.1  # times
SAME, A_LITTLE, FAR = 1.5, 10.0, 1000.0  # times as long: up to which each answer of a vote is right
WAY = ("core", "l1", "l2", "l3", "memory")  # of a load, as the drawing has it
LONGER = 1.5  # times: up to here two loads are back together
HALF_AN_OCTAVE = math.sqrt(2)  # so exactly can one click
A_CLIMB = 4  # times the data: so far a climb from one level to the next may stretch
POINTS = 5  # of the prediction


def predicted_points(machine: x.Machine) -> tuple[float, ...]:
    """Return half of each cache, and sizes up to one that no cache can hold, evenly apart."""
    halves = [size // 2 for size in x.cache_sizes(machine).values()] or [4 * x.KIB]
    last = max(LEAST_MEMORY_BYTES, 2 * x.BEYOND_CACHE * halves[-1])
    beyond = POINTS - len(halves)
    apart = (last / halves[-1]) ** (1 / beyond)
    between = (round(halves[-1] * apart**place) for place in range(1, beyond))
    return (*halves, *between, last)


def numbers(run: x.LessonRun, guess: x.Guess | None) -> dict[str, float]:
    """Return how far apart the guess and the line have the ends, and the largest data's time."""
    found: dict[str, float] = {}
    if guess is not None:
        found["guess_over_l1"] = guess.at[-1] / guess.at[0]
    if line := _line(run):
        largest = max(line)
        found |= {"farthest_bytes": largest, "farthest_s": line[largest]}
        grown = line[largest] / line[min(line)]
        found["far_over_near"] = run.values.get("memory_over_l1", grown)
    return found


def heights(run: x.LessonRun, points: Sequence[float]) -> list[float | None]:
    """Return the seconds of a load at these sizes in bytes, None outside the measured ones."""
    line = _line(run)
    return [_height(line, size) for size in points]


def option_by_growth(run: x.LessonRun) -> int | None:
    """Return the answer by how many times the first load the last one takes; None without both."""
    line = _line(run)
    if len(line) < 2:
        return None
    grown, data_grew = line[max(line)] / line[min(line)], max(line) / min(line)
    if grown > FAR:
        return 3 if 2 * grown >= data_grew else None
    return sum(grown > most for most in (SAME, A_LITTLE))


def largest_step(run: x.LessonRun) -> x.Spot:
    """Return the stretch in which the line climbs most, while the data grow fourfold."""
    line = _line(run)
    ends = {low: [high for high in line if high >= A_CLIMB * low][:1] for low in line}
    climbs = {low: line[high] / line[low] for low, found in ends.items() for high in found}
    if not climbs:
        return x.Spot()
    low = max(climbs, key=climbs.__getitem__)
    return x.Spot(low=low / HALF_AN_OCTAVE, high=ends[low][0] * HALF_AN_OCTAVE)


# Did the data stay too small to tell how far memory is?
memory_not_reached = x.found("ladder_in_part")
caches_unknown = x.found("memory_alone")  # was memory measured, and the first cache not?
l3_shared = x.limited("part_of_l3", "end_of_l3_unknown")  # do others seem to use a part of the L3?
# Does looking up small pages take a share of a load from memory?
pages_take_a_share = x.limited("pages_take_a_share")
steps_unclear = x.limited("spike")  # was some size slower than a larger one?


def end_pinned_down(run: x.LessonRun) -> bool:
    """Do two sizes on both sides of the first climb lie close together, all far from memory?"""
    edges = _edges(run)
    return edges is not None and edges[1] <= PINNED_DOWN * edges[0] and memory_not_reached(run)


def motion(run: x.LessonRun, pointed: x.Pointed | None) -> x.Motion | None:
    """Send one load to L1, and one to where it finds the data of the pointed size.

    Without a place, the second one is a load from memory. None where no time is known.
    """
    near_s, far_s, level = run.values.get("l1_latency_s"), None, WAY[-1]
    if pointed is None:
        far_s = run.values.get("memory_latency_s")
    elif pointed.at is not None and pointed.name in ("", RANDOM):
        far_s, level = _line(run).get(round(pointed.at)), _level(run, pointed.at)
    if near_s is None or far_s is None:
        return None
    end_s = max(near_s, far_s)
    to_l1 = x.Travel(along=WAY[:2], start_s=0.0, end_s=near_s, returns=True)
    to_l1_again = x.Count(shape="core", label="loads", end_s=end_s, every_s=near_s)
    answers = x.Hold(shape="l1", label="again", start_s=near_s, end_s=end_s)
    there = WAY[: WAY.index(level) + 1]
    far = x.Travel(along=there, start_s=0.0, end_s=far_s, token="on_its_way", returns=True)
    once = x.Count(shape="core", label="loads", times=(far_s,))
    is_longer = far_s > LONGER * near_s
    says = [("both_leave", 0.0), ("b_is_there", far_s / 2)]
    says += [("a_is_back", near_s)] if is_longer else []
    says += [("b_is_back" if pointed else "b_crossed", far_s)]
    return x.Motion(
        scenes=(
            x.Scene(title="a", events=(to_l1, to_l1_again, *([answers] if is_longer else []))),
            x.Scene(title=f"b_{level}", events=(far, once)),
        ),
        duration_s=end_s,
        stills=(min(near_s, end_s / 4), end_s / 2, end_s),
        says=tuple(x.Say(text=text, start_s=start_s) for text, start_s in says),
    )


def _level(run: x.LessonRun, size: float) -> str:
    """Return the shape of the nearest cache that holds `size` bytes, else memory."""
    known = run.values
    l3_bytes = known.get("l3_seen_bytes", known.get("l3_bytes", 0.0))
    holds = (known.get("l1_bytes", 0.0), known.get("l2_bytes", 0.0), l3_bytes)
    return next((name for name, most in zip(WAY[1:], holds, strict=False) if size <= most), WAY[-1])


def _line(run: x.LessonRun) -> dict[int, float]:
    """Return the best time at each size in random order, smallest size first."""
    best = x.best_of(run.tables["steps"], "latency_s", "size_bytes", order=RANDOM)
    return dict(sorted(best.items()))


def _height(line: dict[int, float], size: float) -> float | None:
    """Return the height of a line at a size, on logarithmic axes."""
    for low, high in pairwise(line):
        if low <= size <= high:
            share = math.log(size / low) / math.log(high / low)
            return line[low] * math.pow(line[high] / line[low], share)
    return None


def _edges(run: x.LessonRun) -> tuple[int, int] | None:
    """Return the last size that the first cache answers for, and the next one."""
    line = _line(run)
    flat = [size for size in line if line[size] <= CLIMBED * line[min(line)]]
    beyond = [size for size in line if flat and size > max(flat)]
    return (max(flat), min(beyond)) if beyond else None
