"""How far away is a byte? The time of one chained read, from the first cache to memory.

Method: one thread, kept on the last core (pinned), walks through a block of memory (the working
set) in steps. Each place names the next. In shuffled order nothing can be fetched ahead. So a step
takes as long as the way to the cache or memory that answers. The same places in order show the time
that fetching ahead hides. Each place is a line of 64 bytes, pages are of 4 KiB. From 2 MiB on, the
shuffled walk is also taken through pages of 2 MiB, if the system gives them. The time that it saves
is the translation of addresses. For that the largest size is compared round by round; the others
are walked in every fifth round. Sizes are shuffled in each round; the best repeat counts, because
all disturbance only adds. The clock of the core is measured in each round, so that the steps can be
read in cycles.
Source: google/multichase, lmbench `lat_mem_rd -t`.

Not shown: the cost of the translation that pages of 2 MiB still need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, count, takewhile
from typing import Any

from msgspec.structs import replace

from experiments import api as x
from experiments.tools.buffers import (
    GIVEN,
    HUGE_PAGE_BYTES,
    Buffer,
    huge_pages_fraction,
    huge_pages_told,
)
from experiments.tools.chasing import LINE_BYTES, SAMPLE_S, step_s
from experiments.tools.core_clock import Clock, RoundClock, core_hz

SMALLEST_BYTES = 4 * x.KIB
FAR_UP_BYTES = 256 * x.MIB
LEAST_MEMORY_BYTES = 256 * x.MIB  # or as many as four of the largest cache
APART = 1.01  # the last two working sets are, at least
FREE_SHARE = 0.5
STILL_RISING = 1.1  # times as slow as in half as much
SPIKE = 1.3  # times as slow as in a larger working set; noise of undisturbed runs stays below 1.2
RANDOM, IN_A_ROW, HUGE = "random", "sequential", "huge"
LEVELS = ("l1", "l2", "l3")
SLOWED_DOWN = 1.5  # times a cache's latency: the plot shows its end there
NEARLY_MEMORY, MUCH_FASTER = 0.5, 2.0  # of the latency of memory; times
EVERY = 5  # rounds; in the others only the largest size is walked
FEW_ROUNDS = 5
POINT_BYTES = 64 * x.MIB  # laid out in 50 ms
BEYOND_L3 = 2  # times the L3: there memory answers, and page walks are not yet most of the time
MOST_POINTS = 16  # for each doubling of the size


class Params(x.Params):
    """The parameters."""

    largest_bytes: int = x.param(256 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2")
    points_per_octave: int = x.param(4, minimum=1, maximum=MOST_POINTS)
    rounds: int = x.param(15, minimum=1, maximum=50)
    huge_pages: bool = True


class Point(x.Params):
    """A single point of the ladder."""

    size_bytes: int = x.param(32 * x.KIB, minimum=SMALLEST_BYTES, maximum=POINT_BYTES, scale="log2")
    order: str = x.param(RANDOM, choices=(RANDOM, IN_A_ROW))


class Step(x.Row):
    """One repeat at one size; `order` is "random", "sequential", or "huge": random, huge pages."""

    size_bytes: int = x.column(scale="log2")
    order: str
    repeat: int
    latency_s: float = x.column(scale="log10")


def sizes(params: Params) -> list[int]:
    """Return the working sets, smallest first, up to the size asked for; whole lines.

    The largest have one an octave: laying them out takes long, and shows little more.
    """
    largest = params.largest_bytes // LINE_BYTES * LINE_BYTES
    places = count(0, Fraction(1, params.points_per_octave))
    steps = ((place, SMALLEST_BYTES * 2.0**place) for place in places)
    below = [
        round(size / LINE_BYTES) * LINE_BYTES
        for place, size in takewhile(lambda step: step[1] * APART < largest, steps)
        if size <= FAR_UP_BYTES or place.denominator == 1
    ]
    return [*below, largest]


def huge_sizes(params: Params) -> list[int]:
    """Return the working sets that are walked through huge pages as well: one an octave."""
    fine = sizes(params)
    return [s for s in fine if s >= HUGE_PAGE_BYTES and (s == fine[-1] or s & (s - 1) == 0)]


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each size, order and round, and the clock of each round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffers = {HUGE: Buffer(max(sizes(params)), huge=True)} if params.huge_pages else {}
        if params.huge_pages:
            given = huge_pages_fraction(buffers[HUGE])
            yield from huge_pages_told(given)
            if (given or 0.0) < GIVEN:
                del buffers[HUGE]
        buffers |= dict.fromkeys((RANDOM, IN_A_ROW), Buffer(max(sizes(params))))
        largest = max(sizes(params))
        arms = [(size, order) for size in sizes(params) for order in (RANDOM, IN_A_ROW)]
        arms += [(size, HUGE) for size in huge_sizes(params) if HUGE in buffers]
        clock = RoundClock(bench)
        for arm, (size_bytes, order) in bench.interleave(arms, params.rounds):
            yield from clock.of(arm.round)
            if size_bytes < largest and arm.round % EVERY:
                continue
            latency_s = step_s(
                buffers[order], size_bytes, bench, turn=arm.round, at_random=order != IN_A_ROW
            )
            yield Step(size_bytes=size_bytes, order=order, repeat=arm.round, latency_s=latency_s)
            yield x.Progress(arm.fraction)


def points(bench: x.Bench) -> Callable[[Point], x.Measured]:
    """Make one buffer, and return what yields the row of a point; `repeat` counts the points."""
    with bench.pinned():
        buffer, turns = Buffer(POINT_BYTES), count()

    def point(asked: Point) -> x.Measured:
        size_bytes, turn = asked.size_bytes // LINE_BYTES * LINE_BYTES, next(turns)
        with bench.pinned():
            latency_s = step_s(
                buffer, size_bytes, bench, turn=turn, at_random=asked.order != IN_A_ROW
            )
        yield Step(size_bytes=size_bytes, order=asked.order, repeat=turn, latency_s=latency_s)

    return point


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Read each level's latency off the best repeats; speak only of what was measured.

    If a read took longer than in the next larger working set, the level takes the larger set's
    time.
    """
    best, best_huge = (
        x.best_of(tables["steps"], "latency_s", "size_bytes", order=order)
        for order in (RANDOM, HUGE)
    )
    cache_bytes = x.cache_sizes(machine)
    values: dict[str, float] = {f"{name}_bytes": size for name, size in cache_bytes.items()}
    limits = x.Limits(["spike"] if _has_spike(best) else [])
    unread: list[str] = []
    below_bytes = 0
    for name, level_bytes in cache_bytes.items():
        inside = [size for size in best if below_bytes < size <= level_bytes // 2]
        if inside:
            values[f"{name}_latency_s"] = best[_read_off(best, max(inside))]
        else:
            unread.append(name)
        below_bytes = level_bytes
    beyond_bytes = x.BEYOND_CACHE * max(cache_bytes.values(), default=8 * x.MIB)
    if best and max(best) >= beyond_bytes:
        values["memory_latency_s"] = best[max(best)]
        half = max((size for size in best if size <= max(best) // 2), default=max(best))
        limits.add("still_rising", best[max(best)] > STILL_RISING * best[half])
    else:
        limits.append("no_memory_latency")
    unclear: tuple[str, ...] = ()
    if "memory_latency_s" in values and max(best) in best_huge:
        largest = max(best)
        values["memory_huge_latency_s"] = best_huge[largest]
        # Of the same best repeats that stand beside it.
        values["translation_fraction"] = max(0.0, 1 - best_huge[largest] / best[largest])
        told = _translation(tables["steps"], largest)
        limits += told
        unclear = () if told else ("translation_fraction",)
    elif "memory_latency_s" in values:
        limits.append("no_huge_latency" if params.huge_pages else "page_translation_included")
    if x.is_guest(machine) and (part := _part_of_l3(best, values)):
        if min((s for s in sizes(params) if s > part["l3_seen_bytes"]), default=None) in best:
            values |= part
            limits.append("part_of_l3")
        else:  # it may be fast at larger sizes
            del values["l3_latency_s"]
            limits.append("end_of_l3_unknown")
    limits += [f"no_{name}_latency" for name in unread]
    limits += [f"no_{name}_cache_known" for name in LEVELS if name not in cache_bytes]
    in_a_row = x.best_of(tables["steps"], "latency_s", "size_bytes", order=IN_A_ROW)
    if best and (largest := max(sizes(params))) in in_a_row:
        values["in_a_row_latency_s"] = in_a_row[largest]
    if (clock_hz := core_hz(tables)) is None:
        limits.append("no_clock")
    else:
        values |= _in_cycles(values, clock_hz)
    limits += ["where_read"] if best else []
    if "l1_latency_s" in values and "memory_latency_s" in values:
        values["memory_over_l1"] = values["memory_latency_s"] / values["l1_latency_s"]
        climbed = "ladder_climbed" if clock_hz is None else "ladder_climbed_in_cycles"
        return x.Finding(climbed, values, tuple(limits), unclear)
    if "memory_latency_s" in values:
        return x.Finding("memory_alone", values, tuple(limits), unclear)
    reached = "ladder_in_part" if "l1_latency_s" in values else "nothing_read_off"
    return x.Finding(reached, values, tuple(limits))


def _translation(steps: Sequence[Step], size: int) -> list[str]:
    """Return what is clear about looking small pages up, at one size, round by round."""
    of = x.spreads_of(steps, "latency_s", "order", size_bytes=size)
    small, huge = of[RANDOM], of[HUGE]
    limits = ["pages_take_a_share"] if huge.is_below(small) else []
    limits += ["pages_cost_nothing"] if huge.is_as(small) else []
    return limits


def _has_spike(best: Mapping[int, float]) -> bool:
    """Did a read take much longer in some working set than in a larger one?"""
    found = [best[size] for size in sorted(best, reverse=True)]
    least = accumulate(found, min)  # from here on upwards
    return any(one > SPIKE * low for one, low in zip(found, least, strict=True))


def _read_off(best: Mapping[int, float], size: int) -> int:
    """Return a working set, or the next larger one if that took less.

    A smaller one is never really slower. Of several larger ones, one may be fast by luck.
    """
    after = min((each for each in best if each > size), default=size)
    return min(size, after, key=best.__getitem__)


def _part_of_l3(best: dict[int, float], values: dict[str, float]) -> dict[str, float]:
    """Return the size up to which the L3 is fast, if reads at half its size nearly go to memory.

    A host can give its guests a few ways of the cache, and report the size of the whole. The
    latency of this L3 is then read at half of the part. For a whole L3 it would be read at half of
    the whole.
    """
    l3_s = values.get("l3_latency_s")
    beyond = [size for size in best if size >= BEYOND_L3 * values.get("l3_bytes", 0)]
    if l3_s is None or not beyond or "l2_bytes" not in values:
        return {}
    inside = sorted(size for size in best if values["l2_bytes"] < size <= values["l3_bytes"] // 2)
    fast = list(takewhile(lambda size: best[size] * MUCH_FASTER <= l3_s, inside))
    if not fast or l3_s < NEARLY_MEMORY * best[min(beyond)]:
        return {}
    for end in reversed(fast):
        read_off = _read_off(best, max((s for s in fast if s <= end // 2), default=min(fast)))
        if best[end] <= SLOWED_DOWN * best[read_off]:
            return {"l3_seen_bytes": end, "l3_read_bytes": read_off, "l3_latency_s": best[read_off]}
    return {}


def _in_cycles(values: dict[str, float], clock_hz: float) -> dict[str, float]:
    """Return the clock, and the measured levels in its cycles."""
    latencies = {name: values.get(f"{name}_latency_s") for name in (*LEVELS, "memory")}
    cycles = {
        f"{name}_latency_cycles": latency_s * clock_hz
        for name, latency_s in latencies.items()
        if latency_s is not None
    }
    return {"core_hz": clock_hz, **cycles}


def quick(params: Params) -> Params:
    """Take half the points, in few rounds, and only as much memory as is quickly laid out."""
    largest, rounds = min(params.largest_bytes, x.GIB), min(params.rounds, EVERY)
    reduced = replace(params, largest_bytes=largest, points_per_octave=2, rounds=rounds)
    if seconds(reduced) > x.Budget().quick_s:  # too few rounds could not compare the pages
        reduced = replace(reduced, rounds=1, huge_pages=False)
    return reduced


def seconds(params: Params) -> float:
    """Estimate: the samples, laying out the chains, and flushing what that left in a cache."""
    ladder: Sequence[int] = sizes(params)
    huge: Sequence[int] = huge_sizes(params) if params.huge_pages else []
    ladders = -(-params.rounds // EVERY)
    writing_s = (1.2 + 0.3 * params.huge_pages) * max(ladder) / x.GIB
    largest_s = _walks_s(ladder[-1:], huge[-1:])
    return writing_s + ladders * _walks_s(ladder, huge) + (params.rounds - ladders) * largest_s


def _walks_s(small: Sequence[int], huge: Sequence[int]) -> float:
    samples_s = (2 * len(small) + len(huge)) * 4 * SAMPLE_S
    layout_s = sum(small) / LINE_BYTES * 45e-9 + sum(huge) / LINE_BYTES * 20e-9
    past_s = sum(size > x.MIB for size in [*small, *huge]) * 0.025
    return samples_s + layout_s + past_s


_LADDER: dict[str, Any] = {
    "table": "steps",
    "x": x.Axis("size_bytes"),
    "y": x.Axis("latency_s"),
    "series": "order",
    "order": (RANDOM, IN_A_ROW, HUGE),
    "statistic": "least",
    "limits": (
        x.Limit("l1", "l1_bytes", "x"),
        x.Limit("l2", "l2_bytes", "x"),
        x.Limit("l3_seen", "l3_seen_bytes", "x"),
        x.Limit("l3", "l3_bytes", "x"),
        x.Limit("in_a_row", "in_a_row_latency_s"),
    ),
}

EXPERIMENT = x.Experiment(
    version=3,
    params=Params,
    tables={"steps": Step, "clocks": Clock},
    measure=measure,
    confirmed_by="l1_misses",
    loop="kernels/chains.py:walk",
    analyse=analyse,
    views=(
        x.Lines("ladder", only=(RANDOM, HUGE), **_LADDER),
        x.Lines("fetched_ahead", only=(RANDOM, IN_A_ROW), **_LADDER),
    ),
    values=x.values(
        x.Value("l1_latency_s", x.Part.L1),
        x.Value("l2_latency_s", x.Part.L2),
        x.Value("l3_latency_s", x.Part.L3, within="l3_seen_bytes"),
        x.Value("memory_latency_s", x.Part.MEMORY),
        "memory_huge_latency_s",
        x.Value("translation_fraction", x.Part.TRANSLATION),
        "memory_over_l1",
        "l1_latency_cycles",
        "l2_latency_cycles",
        x.Value("l3_latency_cycles", within="l3_seen_bytes"),
        "memory_latency_cycles",
        x.Value("core_hz", x.Part.CORES),
        "in_a_row_latency_s",
        "l1_bytes",
        "l2_bytes",
        "l3_bytes",
        x.Value("l3_seen_bytes", x.Part.L3),
        "l3_read_bytes",
    ),
    keys=(
        x.Key("l1_latency_s", "ladder", (RANDOM,), at="l1_bytes"),
        x.Key("memory_latency_s", "ladder", (RANDOM,)),
        x.Key("in_a_row_latency_s", "fetched_ahead", (IN_A_ROW,)),
    ),
    next=x.Next("burst-random", {"points_per_octave": lambda points: min(2 * points, MOST_POINTS)}),
    parts=(
        x.Part.CORES,
        x.Part.TRANSLATION,
        x.Part.L1,
        x.Part.L2,
        x.Part.L3,
        x.Part.MEMORY,
    ),
    uses=(x.Use.PINNING, x.Use.HUGE_PAGES),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(
        largest_bytes=x.beyond_cache(machine, LEAST_MEMORY_BYTES, FREE_SHARE / 2)  # laid out twice
    ),
    quick=quick,
    smallest=x.change(largest_bytes=2 * x.MIB, points_per_octave=1, rounds=2),
    budget=x.Budget(full={"rounds": FEW_ROUNDS}),
    seconds=seconds,
    memory_bytes=lambda p: (1 + p.huge_pages) * (max(sizes(p)) + HUGE_PAGE_BYTES),
    live=x.Live(Point, points),
    is_in_tour=True,
)
