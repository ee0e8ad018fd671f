"""How many cores fill the memory pipe?

Method: loops go over three arrays of numbers that no cache can hold. They run on one thread, on two
and so on, each kept on one core (pinned). Four loops are those of the STREAM benchmark (copy c=a,
scale c=3a, add c=a+b, triad c=a+3b), one only reads; the best data rate counts. Each thread has
arrays of its own, which it has written first; rates are counted as STREAM does. Then the same is
measured inside the last-level cache. Last, the other cores load the memory more and more, while one
core times dependent reads.
Source: J. D. McCalpin, STREAM; Intel Memory Latency Checker, loaded latency. Based on a variant of
the STREAM benchmark code, and not comparable with published STREAM results.

Not shown: the traffic itself. A line is read before it is written, which is not counted. So copy
and scale really move half as much again, add and triad a third more.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from experiments import api as x
from experiments.tools.arrays import (
    MOVED,
    WORTH,
    Team,
    cache_count,
    counts,
    spread_out,
    suited,
    team_bytes,
)
from experiments.tools.buffers import huge_pages_told

from .loaded import LEVELS, Loaded, measure_loaded, scatters, under_load

K = TypeVar("K", bound=Hashable)
CLEARLY = 1.25  # times memory's rate; a cache is several times as fast
SAMPLE_S, THREAD_SAMPLE_S = 0.01, 0.0005  # a sample, and more for each thread to wake
KERNELS = tuple(MOVED)
NEARLY = 0.9
TOO_MUCH = 1.02  # of a theoretical limit: then something is wrong
SAYS_NO_GAIN = ("one_is_enough", "one_nearly_fills")
FEW_ROUNDS = 5


class Params(x.Params):
    """The parameters; `array_bytes` is one of three arrays, of all threads together."""

    array_bytes: int = x.param(256 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2")
    threads: int = x.param(2, minimum=1, maximum=1024, scale="log2")
    few_counts: bool = False
    rounds: int = x.param(12, minimum=1, maximum=50)
    huge_pages: bool = False
    loaded: bool = True


class Move(x.Row):
    """One repeat of one loop on `threads` threads, counted as STREAM counts."""

    threads: int = x.column(scale="log2")
    kernel: str
    repeat: int
    bytes_per_s: float


class CachedMove(Move):
    """The same with arrays that the last-level cache holds."""


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield rows for each number of threads and loop, in memory and in cache, then under load."""
    threads = spread_out(bench.machine)[: params.threads]
    if not threads:
        return
    if len(threads) < params.threads:
        yield x.Note("fewer_threads", {"threads": len(threads)})
    team = Team(bench, threads, params.array_bytes, huge=params.huge_pages)
    if params.huge_pages:
        yield from huge_pages_told(team.on_huge_fraction)
    arms = [
        (kind, n, kernel)
        for kind in (Move, CachedMove)
        for n in counts(len(team), few=params.few_counts)
        for kernel in KERNELS
    ]
    cores = min(len(team), x.physical_cores(bench.machine) or 1)
    share = 1 - _loaded_s(params) / seconds(params) if cores > 1 else 1.0
    laps: dict[object, int] = {}
    for arm, (kind, count, kernel) in bench.interleave(arms, params.rounds):
        share_bytes = team.share_bytes(count) if kind is Move else team.cached_bytes(count)
        if share_bytes is not None:
            move = mover(team, kernel, count, share_bytes)
            # Other data is in the cache by now.
            if kind is CachedMove or (kind, count, kernel) not in laps:
                once_s = move(1)
                laps.setdefault((kind, count, kernel), max(1, round(_sample_s(count) / once_s)))
            turns = laps[kind, count, kernel]
            moved_bytes = turns * count * MOVED[kernel] * share_bytes
            yield kind(
                threads=count,
                kernel=kernel,
                repeat=arm.round,
                bytes_per_s=moved_bytes / move(turns),
            )
        yield x.Progress(arm.fraction * share)
    if share < 1.0:
        chain_bytes = min(params.array_bytes, 2 * x.GIB)
        yield from measure_loaded(team, cores, chain_bytes, bench, _loaded_rounds(params), share)


def mover(team: Team, kernel: str, count: int, share_bytes: int) -> Callable[[int], float]:
    """Return a call that moves the arrays of the first `count` threads, and returns its seconds."""
    from experiments.kernels import streams

    loop = getattr(streams, kernel)
    arrays = [team.arrays(member, share_bytes) for member in range(count)]

    def move(laps: int) -> float:
        return team.run(
            {member: functools.partial(loop, *mine, laps) for member, mine in enumerate(arrays)}
        )

    return move


def _sample_s(count: int) -> float:
    return SAMPLE_S + THREAD_SAMPLE_S * count


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Read off the best rates, and the number of threads beyond which more bring little."""
    limits = x.Limits()
    best = x.best_of(tables["moves"], "bytes_per_s", "kernel", choose=max)
    values: dict[str, float] = {f"{k}_bytes_per_s": best[k] for k in KERNELS if k in best}
    cached = x.best_of(tables["cached"], "bytes_per_s", "kernel", choose=max)
    values |= {"cached_triad_bytes_per_s": cached["triad"]} if "triad" in cached else {}
    values |= under_load(tables["loaded"])
    peak = machine.memory.peak_bytes_per_s
    if peak and best:
        values |= {"peak_bytes_per_s": peak, "peak_fraction": max(best.values()) / peak}
        limits.add("above_the_limit", values["peak_fraction"] > TOO_MUCH)
    cache_bytes = x.last_level_cache_bytes(machine)
    all_bytes = (cache_bytes or 0) * cache_count(machine, x.usable_threads(machine))
    limits.add("partly_in_cache", not all_bytes or params.array_bytes < x.BEYOND_CACHE * all_bytes)
    if "idle_latency_s" not in values:
        can_come = params.loaded and params.threads > 1
        limits.append("loaded_not_reached" if can_come else "no_loaded_latency")
    elif scatters(tables["loaded"]):
        limits.append("loaded_scatters")
    if not tables["cached"]:
        limits.append("cached_not_reached" if cache_bytes else "no_cache_known")
    elif x.is_guest(machine) and _is_no_faster(values):
        limits.append("part_of_the_cache")
    limits.append("write_allocate_not_counted")
    limits.add("small_pages", not params.huge_pages)
    limits.add("no_peak_known", "peak_fraction" not in values)
    if "triad" not in best:
        return x.Finding("nothing_moved", values, tuple(limits))
    triad = x.best_of(tables["moves"], "bytes_per_s", "threads", kernel="triad", choose=max)
    full = min(count for count, rate in triad.items() if rate >= NEARLY * max(triad.values()))
    rows = [row for row in tables["moves"] if row.kernel == "triad"]
    of = x.spreads_of(rows, "bytes_per_s", "threads", busy_cores=lambda threads: -threads)
    one, most = min(triad), max(triad)
    keeps_up = max(triad.values()) / triad[one] >= NEARLY * most / one
    message = _message(of, full, keeps_up=keeps_up)
    values |= {"threads_for_90_percent": full, "most_threads": most}
    values["one_thread_bytes_per_s"] = triad[one]
    if message in SAYS_NO_GAIN and _others_gain(tables["moves"], one, most):
        limits = x.Limits(["other_loops_gain", *limits])
    is_clear = message not in (x.TOO_FEW, x.CANNOT_TELL)
    unclear = () if is_clear else ("threads_for_90_percent",)
    return x.Finding(message, values, tuple(limits), unclear)


def _message(triad: dict[int, x.Spread], full: int, *, keeps_up: bool) -> str:
    """Return the message; all numbers of threads are one family against one thread.

    `keeps_up`: together they move nearly as many times one thread's data as there are threads.
    """
    one, most = min(triad), max(triad)
    if most == 1:
        return "one_thread_alone"
    if x.too_few((triad[one], triad[most])):
        return x.TOO_FEW
    more = {count: (each, triad[one]) for count, each in triad.items() if count > one}
    gain, are_all_known = _above(more)
    if not gain:
        return "one_is_enough" if are_all_known else x.CANNOT_TELL
    if full == 1:
        return "one_nearly_fills"
    if full not in gain:
        return x.CANNOT_TELL
    if full < most:
        return "full_before_all"
    before = max(count for count in triad if count < most)
    if not triad[before].is_below(triad[most]):
        return x.CANNOT_TELL
    return "still_rising" if keeps_up else "adds_less"


def _above(pairs: Mapping[K, tuple[x.Spread, x.Spread]]) -> tuple[set[K], bool]:
    """Return where the first of a pair is clearly above the second, and are all outcomes known?"""
    found = x.family(pairs, x.Spread.against)
    outcomes = [each.outcome for each in found.values()]
    above = {
        key for key, each in found.items() if each.outcome is x.Outcome.DIFFERS and each.is_above
    }
    return above, x.Outcome.UNKNOWN not in outcomes


def _others_gain(moves: Sequence[Move], one: int, most: int) -> bool:
    """Do all threads move clearly more than one in a loop other than the triad?"""
    of = x.spreads_of(moves, "bytes_per_s", "kernel", "threads", busy_cores=lambda way: -way[1])
    pairs = {
        kernel: (of[kernel, most], of[kernel, one])
        for kernel in KERNELS
        if kernel != "triad" and {(kernel, one), (kernel, most)} <= of.keys()
    }
    above, _ = _above(pairs)
    return any(pairs[k][1].median < NEARLY * pairs[k][0].median for k in above)


def _is_no_faster(values: Mapping[str, float]) -> bool:
    """Does the triad in the last-level cache move hardly more than in memory?"""
    cached, far = (values.get(f"{name}triad_bytes_per_s") for name in ("cached_", ""))
    return cached is not None and far is not None and cached < CLEARLY * far


def defaults(machine: x.Machine) -> Params:
    """Exceed all last-level caches four times, on one thread a core, within the free memory."""
    array_bytes, threads = suited(machine)
    return Params(array_bytes=array_bytes, threads=threads)


def seconds(params: Params) -> float:
    """Estimate at 10 GB/s a thread, up to 16 threads."""
    team = min(params.threads, WORTH)
    total_s = _loaded_s(params) + memory_bytes(params) / (1e9 * team)  # first written
    for count in counts(params.threads, few=params.few_counts):
        lap_s = params.array_bytes * sum(MOVED.values()) / len(MOVED) / (1e10 * min(count, WORTH))
        sample_s = _sample_s(count)
        total_s += len(KERNELS) * (params.rounds + 1) * max(lap_s, sample_s)
        total_s += len(KERNELS) * params.rounds * 1.2 * sample_s
    return total_s


def _loaded_s(params: Params) -> float:
    return 0.08 * len(LEVELS) * _loaded_rounds(params) if params.loaded else 0.0


def _loaded_rounds(params: Params) -> int:
    return -(-params.rounds // 2)  # a walk has several windows of its own


def memory_bytes(params: Params) -> int:
    """Return the most that the shares take, and the chain that is read under load."""
    chain_bytes = params.array_bytes if params.loaded else 0
    return team_bytes(params.array_bytes, params.threads) + chain_bytes


_MOVES: dict[str, Any] = {
    "x": x.Axis("threads"),
    "y": x.Axis("bytes_per_s"),
    "series": "kernel",
    "order": KERNELS,
    "statistic": "greatest",
}

EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"moves": Move, "cached": CachedMove, "loaded": Loaded},
    measure=measure,
    loop="kernels/streams.py:triad",
    analyse=analyse,
    views=(
        x.Lines(
            "moves",
            "moves",
            limits=(x.Limit("peak", "peak_bytes_per_s"),),
            **_MOVES,
        ),
        x.Lines("cached", "cached", **_MOVES),
        x.Lines(
            "loaded",
            "loaded",
            x.Axis("load_bytes_per_s"),
            x.Axis("latency_s"),
            point="level",
            limits=(
                x.Limit("peak", "peak_bytes_per_s", "x"),
                x.Limit("idle", "idle_latency_s"),
                x.Limit("without_pause", "loaded_latency_s"),
            ),
        ),
    ),
    values=x.values(
        *(x.Value(f"{kernel}_bytes_per_s", x.Part.MEMORY) for kernel in KERNELS),
        "threads_for_90_percent",
        "most_threads",
        "one_thread_bytes_per_s",
        "peak_bytes_per_s",
        "peak_fraction",
        x.Value("cached_triad_bytes_per_s", x.Part.L3),
        "idle_latency_s",
        x.Value("loaded_latency_s", x.Part.MEMORY),
        "loaded_bytes_per_s",
    ),
    keys=(
        x.Key("triad_bytes_per_s", "moves", ("triad",), at="most_threads"),
        x.Key("threads_for_90_percent", "moves", ("triad",), at="threads_for_90_percent"),
        x.Key("loaded_latency_s", "loaded", at="loaded_bytes_per_s"),
    ),
    next=x.Next("roofline", {"huge_pages": True}),
    parts=(x.Part.MEMORY, x.Part.CORES, x.Part.L3),
    uses=(x.Use.PINNING, x.Use.HUGE_PAGES),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(few_counts=True, at_most={"rounds": FEW_ROUNDS}),
    smallest=x.change(array_bytes=x.MIB, rounds=1),
    budget=x.Budget(
        full={"rounds": 2}, quick={"loaded": False, "rounds": x.ENOUGH, "array_bytes": x.MIB}
    ),
    seconds=seconds,
    memory_bytes=memory_bytes,
    is_in_tour=True,
)
