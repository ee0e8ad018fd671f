"""Two threads, two counters, nothing shared: do they disturb each other?

Caches move whole lines. Two cores that write into the same line take it from each other each time,
whether or not they write the same variable.

Method: two threads of compiled code, since an increment of Python's own takes so long that nothing
would be seen, each kept on a core of its own, increment a counter of its own as often as one alone
does in 10 ms; the counters lie 8 to 512 bytes apart, the first at the beginning of a line. Timed
until both are through, and each increment is really written. As a control, the same two threads
only read. Rounds are shuffled; compared are the medians.
Source: W. J. Bolosky and M. L. Scott, False Sharing and its Effect on Shared Memory Performance
(1993); the optimisation manuals of Intel and ARM.

What it cannot tell: what other programs pay, which do more than to count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import FAR, SAME_CACHE, SAME_CORE, SAME_PACKAGE, UNKNOWN, pairs
from experiments.tools.side_by_side import CAN_PIN, seconds_together

DISTANCES_BYTES = (8, 16, 32, 64, 128, 256, 512)
BUFFER_BYTES = 64 * 2**10
SAMPLE_S = 0.01
FIRST_COUNT = 1_000_000
PLAIN = "plain"
ALONE, READERS = "alone", "readers"
CORES = (SAME_CACHE, SAME_PACKAGE, FAR, UNKNOWN)  # pairs of cores, the nearest first
ORDER = (SAME_CORE, *CORES, READERS)


@x.record
class Params:
    """The parameters."""

    increment: str = x.param(PLAIN, choices=(PLAIN, "at_once"))
    rounds: int = x.param(21, minimum=1, maximum=100)


@x.record
class Increment:
    """One repeat of two threads; `pair` is what they share, or that they only read."""

    pair: str = x.column()
    distance_bytes: int = x.column("bytes", scale="log2")
    repeat: int = x.column()
    increment_s: float = x.column("s", scale="log10")
    together_per_s: float = x.column("per_s", scale="log10")


@x.record
class Alone:
    """One repeat of one thread without a neighbour."""

    repeat: int = x.column()
    increment_s: float = x.column("s", scale="log10")


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each pair of threads, distance and round, and for one thread alone."""
    from .kernels import increment, increment_at_once, read_often

    work = increment if params.increment == PLAIN else increment_at_once
    if not CAN_PIN:
        yield x.Note("not_pinned")
    placed = _placed(bench.machine)
    buffer = Buffer(BUFFER_BYTES)
    first = int(buffer.address)
    count, reads = (_count(bench, partial(kernel, first)) for kernel in (work, read_often))
    arms: list[tuple[str, int]] = [(ALONE, 0)]
    arms += [(pair, distance) for pair in placed for distance in DISTANCES_BYTES]
    for turn, (pair, distance) in bench.interleave(arms, params.rounds):
        if pair == ALONE:
            where = [next(iter(placed.values()), (None,))[-1]]
            taken_s = _together_s(bench, where, work, [first], count)
            yield Alone(repeat=turn.round, increment_s=taken_s / count)
        else:
            kernel, times = (read_often, reads) if pair == READERS else (work, count)
            places = [first, first + distance]
            taken_s = _together_s(bench, placed[pair], kernel, places, times)
            yield Increment(
                pair=pair,
                distance_bytes=distance,
                repeat=turn.round,
                increment_s=taken_s / times,
                together_per_s=2 * times / taken_s,
            )
        yield x.Progress(turn.fraction)


def _count(bench: x.Bench, work: Callable[[int], object]) -> int:
    return bench.repeat_for(work, at_least_s=SAMPLE_S, start=FIRST_COUNT)


def _placed(machine: x.Machine) -> dict[str, tuple[int | None, int | None]]:
    """Return the hardware threads of each pair; the readers take those of the nearest cores."""
    if not CAN_PIN:
        return {UNKNOWN: (None, None), READERS: (None, None)}
    placed: dict[str, tuple[int | None, int | None]] = {
        name: (one.id, other.id) for name, (one, other) in pairs(machine).items()
    }
    cores = next((placed[name] for name in CORES if name in placed), None)
    return placed | ({READERS: cores} if cores else {})


def _together_s(
    bench: x.Bench,
    threads: Sequence[int | None],
    kernel: Callable[[Any, int], object],
    places: Sequence[int],
    times: int,
) -> float:
    jobs = [partial(kernel, place, times) for place in places]
    return seconds_together(bench, list(zip(threads, jobs, strict=True)))


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the nearest with the farthest counters of two cores, and find the cliff."""
    times: dict[str, dict[int, x.Spread]] = {}
    every = x.spreads(
        ((r.pair, r.distance_bytes), r.increment_s, r.repeat) for r in tables["increments"]
    )
    for (pair, distance), found in every.items():
        times.setdefault(pair, {})[distance] = found
    limits = ["virtual_machine"] if x.is_virtual(machine) else []
    values: dict[str, float] = {}
    alone = x.spread(row.increment_s for row in tables["alone"])
    if alone:
        values |= {"alone_s": alone.median, "alone_per_s": 1 / alone.median}
    if (line_bytes := _line_bytes(machine)) is not None:
        values["line_bytes"] = line_bytes
    nearest = next((name for name in CORES if len(times.get(name, ())) > 1), None)
    if nearest is None:
        limits.append("no_two_cores")
        return x.Finding("nothing_to_compare", values, tuple(limits))
    if nearest == UNKNOWN:
        limits.append("cores_not_known")
    if SAME_CORE not in times:
        limits.append("no_hardware_threads")
    if params.increment == PLAIN:
        limits.append("plain_is_forwarded")
    elif alone:
        limits.append("at_once_alone")
    if READERS in times:
        limits.append("reads_overlap")
    same, apart = _ends(times[nearest])
    pairs_of = {"slowdown": (same, apart)}
    if SAME_CORE in times:
        pairs_of["same_core_slowdown"] = _ends(times[SAME_CORE])
    slowdowns, unclear = x.ratios(pairs_of)
    values |= {
        "nearest_bytes": min(times[nearest]),
        "farthest_bytes": max(times[nearest]),
        "same_line_s": same.median,
        "far_apart_s": apart.median,
        **slowdowns,
    }
    if not same.differs_from(apart):
        message = x.TOO_FEW if x.too_few((same, apart)) else "no_difference"
        return x.Finding(message, values, tuple(limits), unclear)
    if same.is_below(apart):
        return x.Finding("near_is_faster", values, tuple(limits), unclear)
    values["line_bytes_seen"] = _cliff(times[nearest])
    return x.Finding("neighbours_fight", values, tuple(limits), unclear)


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


def defaults(_machine: x.Machine) -> Params:
    """Return the same for all machines: the work takes 10 ms on any."""
    return Params()


def quick(params: Params) -> Params:
    """Take three rounds."""
    return replace(params, rounds=3)


def seconds(params: Params) -> float:
    """Estimate: four pairs and the readers, each grown to a sample."""
    return 0.2 + params.rounds * len(DISTANCES_BYTES) * 5 * 1.2 * SAMPLE_S


_VIEW: dict[str, Any] = {
    "table": "increments",
    "x": x.Axis("distance_bytes", "log2"),
    "series": "pair",
    "order": ORDER,
}
_LINE = x.Limit("cache_line", "line_bytes", "x")

EXPERIMENT = x.Experiment(
    version=1,
    params=Params,
    tables={"increments": Increment, "alone": Alone},
    measure=measure,
    analyse=analyse,
    views=(
        x.Lines(
            key="time",
            y=x.Axis("increment_s", "log10"),
            limits=(x.Limit("one_alone", "alone_s"), _LINE),
            **_VIEW,
        ),
        x.Lines(
            key="together",
            y=x.Axis("together_per_s", "log10"),
            limits=(x.Limit("one_alone", "alone_per_s"), _LINE),
            **_VIEW,
        ),
    ),
    values=(
        x.Value("nearest_bytes", "bytes"),
        x.Value("farthest_bytes", "bytes"),
        x.Value("same_line_s", "s"),
        x.Value("far_apart_s", "s"),
        x.Value("slowdown", "ratio"),
        x.Value("same_core_slowdown", "ratio"),
        x.Value("alone_s", "s"),
        x.Value("alone_per_s", "per_s"),
        x.Value("line_bytes_seen", "bytes"),
        x.Value("line_bytes", "bytes"),
    ),
    parts=(x.Part.L1, x.Part.L2, x.Part.CORES),
    needs=(x.Need.NUMBA,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=quick,
    smallest=lambda params: replace(params, rounds=2),
    seconds=seconds,
    memory_bytes=lambda _params: BUFFER_BYTES + 2 * x.MIB,
)
