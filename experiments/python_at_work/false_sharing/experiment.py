"""Two threads, two counters, nothing shared: do they disturb each other?

Caches move whole lines. Two cores that write into the same line take it from each other each time,
even for different variables.

Method: two threads, each kept on a core of its own, increment a counter of their own. Their code is
compiled: an increment of Python's own takes so long that it would hide the effect. The counters lie
8 to 512 bytes apart. The first lies at the beginning of a line, unless another place in the line
was chosen. Each increment is one atomic instruction, which owns the line; on the nearest two cores
also a plain one (read, add, write), whose cost the store buffer hides in part. As a control, the
same two threads only read. Counted are the increments of the time in which both threads ran, 10 ms
at least. Rounds are shuffled; compared round by round.
Source: W. J. Bolosky and M. L. Scott, False Sharing and its Effect on Shared Memory Performance
(1993); the optimisation manuals of Intel and ARM.

Not shown: the cost in other programs, which do more than count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import FAR, SAME_CACHE, SAME_CORE, SAME_PACKAGE, UNKNOWN, pairs
from experiments.tools.side_by_side import CAN_PIN, turn_seconds_together

DISTANCES_BYTES = (8, 16, 32, 64, 128, 256, 512)
WORD_BYTES = 8
BUFFER_BYTES = 64 * 2**10
SAMPLE_S, TURN_S = 0.01, 0.0002  # a turn of one thread alone; beside a neighbour, many times that
FIRST_COUNT = 10_000
ATOMIC, PLAIN, READERS = "atomic", "plain", "readers"
CORES = (SAME_CACHE, SAME_PACKAGE, FAR, UNKNOWN)  # pairs of cores, the nearest first
ORDER = (SAME_CORE, *CORES, PLAIN, READERS)


class Params(x.Params):
    """The parameters; the first counter begins `first_bytes` behind the beginning of a line."""

    first_bytes: int = x.param(0, minimum=0, maximum=56)
    rounds: int = x.param(15, minimum=1, maximum=100)


class Point(x.Params):
    """A single point: how far apart the counters of the nearest two cores lie; whole words."""

    distance_bytes: int = x.param(
        DISTANCES_BYTES[0], minimum=DISTANCES_BYTES[0], maximum=DISTANCES_BYTES[-1], scale="log2"
    )


class Increment(x.Row):
    """One repeat of two threads; the increments are atomic.

    `pair` is what the two share, or what else the nearest two cores do: plain increments, or reads.
    """

    pair: str
    distance_bytes: int = x.column(scale="log2")
    repeat: int
    increment_s: float = x.column(scale="log10")
    together_per_s: float = x.column(scale="log10")


class Alone(x.Row):
    """One repeat of one thread without a neighbour."""

    increment: str
    repeat: int
    increment_s: float = x.column(scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each pair of threads, distance and round, and for one thread alone."""
    from .kernels import increment, increment_at_once, read_often

    if not CAN_PIN:
        yield x.Note("not_pinned")
    placed = _placed(bench.machine)
    buffer = Buffer(BUFFER_BYTES)
    first = int(buffer.address) + params.first_bytes // WORD_BYTES * WORD_BYTES
    kernels = {ATOMIC: increment_at_once, PLAIN: increment, READERS: read_often}
    works = {name: Work(kernel, first, bench) for name, kernel in kernels.items()}
    last = next(iter(placed.values()), (None,))[-1]
    arms = [(name, 0) for name in (ATOMIC, PLAIN)]
    arms += [(pair, distance) for pair in placed for distance in DISTANCES_BYTES]
    for turn, (name, distance) in bench.interleave(arms, params.rounds):
        work = works.get(name, works[ATOMIC])
        if not distance:
            (alone_s,) = work.seconds_each([last], [first])
            yield Alone(increment=name, repeat=turn.round, increment_s=alone_s)
        else:
            yield _together(work, name, placed[name], first, distance, turn.round)
        yield x.Progress(turn.fraction)


def points(bench: x.Bench) -> Callable[[Point], x.Measured]:
    """Size the work once, and return what yields the row of a point; `repeat` counts the points."""
    from .kernels import increment_at_once

    placed = _placed(bench.machine)
    pair = next((name for name in (*CORES, SAME_CORE) if name in placed), None)
    if pair is None:
        raise x.UserError("needs_core_pair")
    buffer, turns = Buffer(BUFFER_BYTES), count()
    work = Work(increment_at_once, int(buffer.address), bench)

    def point(asked: Point) -> x.Measured:
        distance = asked.distance_bytes // WORD_BYTES * WORD_BYTES
        yield _together(work, pair, placed[pair], int(buffer.address), distance, next(turns))

    return point


def _together(
    work: Work,
    pair: str,
    threads: tuple[int | None, int | None],
    first: int,
    distance: int,
    repeat: int,
) -> Increment:
    """Return the row of two threads whose counters lie at `first` and `distance` behind it."""
    each_s = work.seconds_each(threads, [first, first + distance])
    together_per_s = sum(1 / one_s for one_s in each_s)
    return Increment(
        pair=pair,
        distance_bytes=distance,
        repeat=repeat,
        increment_s=len(each_s) / together_per_s,
        together_per_s=together_per_s,
    )


class Work:
    """A kernel, and how often it does its work in a turn of TURN_S while it is alone."""

    def __init__(self, kernel: Callable[[Any, int], object], place: int, bench: x.Bench) -> None:
        self._kernel, self._bench = kernel, bench
        self._count = bench.repeat_for(partial(kernel, place), at_least_s=TURN_S, start=FIRST_COUNT)

    def seconds_each(self, threads: Sequence[int | None], places: Sequence[int]) -> list[float]:
        """Return the time of one increment, or read, in each thread while all of them run."""
        jobs = [partial(self._kernel, place, self._count) for place in places]
        placed = list(zip(threads, jobs, strict=True))
        turns_s = turn_seconds_together(self._bench, placed, at_least_s=SAMPLE_S)
        return [turn_s / self._count for turn_s in turns_s]


def _placed(machine: x.Machine) -> dict[str, tuple[int | None, int | None]]:
    """Return the hardware threads of each pair; the controls have those of the nearest cores."""
    if not CAN_PIN:
        return dict.fromkeys((UNKNOWN, PLAIN, READERS), (None, None))
    placed: dict[str, tuple[int | None, int | None]] = {
        name: (one.id, other.id) for name, (one, other) in pairs(machine).items()
    }
    cores = next((placed[name] for name in CORES if name in placed), None)
    return placed | (dict.fromkeys((PLAIN, READERS), cores) if cores else {})


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the nearest with the farthest counters of two cores, and find the cliff."""
    times: dict[str, dict[int, x.Spread]] = {}
    every = x.spreads_of(tables["increments"], "increment_s", "pair", "distance_bytes")
    for (pair, distance), found in every.items():
        times.setdefault(pair, {})[distance] = found
    limits = x.Limits()
    values: dict[str, float] = {}
    alone = x.spreads_of(tables["alone"], "increment_s", "increment")
    if ATOMIC in alone:
        values |= {"alone_s": alone[ATOMIC].median, "alone_per_s": 1 / alone[ATOMIC].median}
    if PLAIN in alone:
        values["plain_alone_s"] = alone[PLAIN].median
    if (line_bytes := _line_bytes(machine)) is not None:
        values["line_bytes"] = line_bytes
    nearest = next((name for name in CORES if len(times.get(name, ())) > 1), None)
    if nearest is None:
        limits.append("no_two_cores")
        return x.Finding("nothing_to_compare", values, tuple(limits))
    limits.add("cores_not_known", nearest == UNKNOWN)
    same, apart = _ends(times[nearest])
    ratios = {"slowdown": (same, apart)} | {
        f"{name}_slowdown": _ends(times[name])
        for name in (SAME_CORE, PLAIN)
        if len(times.get(name, ())) > 1
    }
    slowdowns, unclear = x.ratios(ratios)
    values |= {
        "first_bytes": params.first_bytes,
        "nearest_bytes": min(times[nearest]),
        "farthest_bytes": max(times[nearest]),
        "same_line_s": same.median,
        "far_apart_s": apart.median,
        **slowdowns,
    }
    if "plain_slowdown" in ratios:
        plain, atomic = (_by_round(*ratios[name]) for name in ("plain_slowdown", "slowdown"))
        limits.add("plain_is_forwarded", plain and atomic and plain.is_below(atomic))
    if {ATOMIC, PLAIN} <= alone.keys() and alone[PLAIN].is_below(alone[ATOMIC]):
        limits.append("at_once_alone")
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.add("reads_overlap", READERS in times)
    limits.add("no_hardware_threads", SAME_CORE not in times)
    if "slowdown" in unclear:
        message = x.unsure((same, apart)) or x.CANNOT_TELL
    else:
        message = _message(same, apart)
    if message == "neighbours_fight":
        values["fall_bytes"] = _cliff(times[nearest])
        if not params.first_bytes:
            values["line_bytes_seen"] = values["fall_bytes"]
    elif message == "alike" and line_bytes is not None:
        is_apart = params.first_bytes // WORD_BYTES * WORD_BYTES + min(times[nearest]) >= line_bytes
        message = "apart_anyway" if is_apart else message
    return x.Finding(message, values, tuple(limits), unclear)


def _message(same: x.Spread, apart: x.Spread) -> str:
    if same.is_as(apart):
        return "alike"
    return "near_is_faster" if same.is_below(apart) else "neighbours_fight"


def _by_round(one: x.Spread, other: x.Spread) -> x.Spread | None:
    """Return the ratio of two in each round that both have."""
    both = sorted(one.by_round.keys() & other.by_round.keys())
    return x.spreads(("", one.by_round[n] / other.by_round[n], n) for n in both).get("")


def _ends(by_distance: dict[int, x.Spread]) -> tuple[x.Spread, x.Spread]:
    return by_distance[min(by_distance)], by_distance[max(by_distance)]


def _cliff(by_distance: dict[int, x.Spread]) -> int:
    """Return the distance from which all times are closer to the farthest than to the nearest."""
    nearest, farthest = _ends(by_distance)
    middle_s = math.sqrt(nearest.median * farthest.median)
    beyond = max(at for at, found in by_distance.items() if found.median > middle_s)
    return min(at for at in by_distance if at > beyond)


def _line_bytes(machine: x.Machine) -> int | None:
    """Return the line size of the first cache, as the system reports it."""
    usable = x.usable_threads(machine)
    caches = x.caches_of(machine, usable[-1].id) if usable else []
    return caches[0].line_bytes if caches else None


def seconds(params: Params) -> float:
    """Estimate: four pairs and both controls; beside a neighbour a turn takes a while."""
    return 0.2 + params.rounds * len(DISTANCES_BYTES) * 6 * 1.5 * SAMPLE_S


_VIEW: dict[str, Any] = {
    "table": "increments",
    "x": x.Axis("distance_bytes"),
    "series": "pair",
    "order": ORDER,
}
_LINE = x.Limit("cache_line", "line_bytes", "x")

EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"increments": Increment, "alone": Alone},
    measure=measure,
    loop="kernels.py:increment_at_once",
    analyse=analyse,
    views=(
        x.Lines(
            "time",
            y=x.Axis("increment_s"),
            limits=(x.Limit("one_alone", "alone_s"), _LINE),
            **_VIEW,
        ),
        x.Lines(
            "together",
            y=x.Axis("together_per_s"),
            limits=(x.Limit("one_alone", "alone_per_s"), _LINE),
            **_VIEW,
        ),
    ),
    values=x.values(
        "nearest_bytes",
        "farthest_bytes",
        "same_line_s",
        "far_apart_s",
        "slowdown",
        "same_core_slowdown",
        "plain_slowdown",
        "alone_s",
        "alone_per_s",
        "plain_alone_s",
        "first_bytes",
        "fall_bytes",
        "line_bytes_seen",
        "line_bytes",
    ),
    keys=(
        x.Key("same_line_s", "time", CORES, at="nearest_bytes"),
        x.Key("far_apart_s", "time", CORES, at="farthest_bytes"),
        x.Key("fall_bytes", "time", at="fall_bytes"),
    ),
    next=x.Next("core-to-core"),
    parts=(x.Part.L1, x.Part.L2, x.Part.CORES),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=5),
    smallest=x.change(rounds=2),
    seconds=seconds,
    memory_bytes=lambda _params: BUFFER_BYTES + 2 * x.MIB,
    live=x.Live(Point, points),
)
