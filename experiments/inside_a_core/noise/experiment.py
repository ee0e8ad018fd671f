"""Who stole my time? A loop on each core that does nothing but read the clock, and what it misses.

Method: one thread on each core (pinned) reads the clock without pause, all at once, in slices. If
two readings lie more than 10 microseconds apart, something else had the core: a gap. Within a slice
this run neither writes nor computes anything else. Beside the gaps stand the system's own counts.
They are: how long the thread was ready but queued behind other programs; the time that a host says
it took (stolen); interrupts and switches. The rest is interrupts, or a host that says nothing. The
time of a reading shows whether the core's clock fell.
Source: the method of the tracers `osnoise` and `hwlat` of Linux (Documentation/trace).

Not shown: the use of a gap that the system does not count; shorter gaps. The window that draws this
run is another program too, and takes its share.
"""

from __future__ import annotations

import math
import threading
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from experiments import api as x
from experiments.tools.side_by_side import CAN_PIN, pin

from .accounts import of_cores

NS = 1e-9
LEAST_S = 1e-5  # a gap is longer
NOTED = 2**14  # gaps of a slice, at most
SHOWN = 10  # the longest of each core and slice stand on the timeline
BINS_PER_DOUBLING = 2
LOST, QUEUED, STOLEN, LEFT = CAUSES = ("lost", "queued", "stolen", "left")
COUNTED = ("gaps", "switches", "interrupts")
HARDLY_ANY = 0.01  # of the time
MOSTLY = 0.5  # of what was lost
BEYOND = 10  # so many gaps must have been longer for a quantile to hold
QUANTILES = {"p50": 0.5, "p999": 0.999}
WARM_UP_S, BETWEEN_S = 0.02, 0.01


class Params(x.Params):
    """The parameters; a round is a slice in which all threads watch."""

    threads: int = x.param(2, minimum=1, maximum=4096, scale="log2")
    slice_s: float = x.param(0.25, minimum=0.02, maximum=1.0, scale="log10")
    rounds: int = x.param(40, minimum=1, maximum=4096, scale="log2")


class Gap(x.Row):
    """One of the longest gaps of a slice and core; seconds from the first reading of all."""

    thread: int
    repeat: int
    start_s: float
    end_s: float


class Length(x.Row):
    """The gaps of about one length on all cores, from the first slice up to this."""

    repeat: int
    gap_s: float = x.column(scale="log10")
    gaps: int = x.column(scale="log10")


class Watched(x.Row):
    """One slice on one core: what the readings show, and what the system counted meanwhile."""

    thread: int
    repeat: int
    watched_s: float
    lost_s: float
    longest_gap_s: float
    gaps: int
    queued_s: float
    stolen_s: float
    switches: int
    interrupts: int
    reading_s: float


class Share(x.Row):
    """The share of a core's time in one slice that its gaps lost, or that a cause explains."""

    cause: str
    thread: int
    repeat: int
    taken_fraction: float


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield for each slice what each core lost and to whom, its longest gaps, and the lengths."""
    if not CAN_PIN:
        yield x.Note("not_pinned")
    usable = [thread.id for thread in x.usable_threads(bench.machine)]
    threads, lengths, first_ns = usable[: params.threads] or [0], Counter[int](), 0
    watch_together(threads, WARM_UP_S, 0, bench)
    for turn, slice_s in bench.interleave([params.slice_s], params.rounds):
        seen = watch_together(threads, slice_s, turn.round, bench)
        first_ns = first_ns or min(begin_ns for begin_ns, *_ in seen)
        for _, row, gaps_ns in seen:
            yield row
            yield from shares(row)
            for start, end in sorted(gaps_ns, key=lambda gap: gap[0] - gap[1])[:SHOWN]:
                start_s, end_s = (start - first_ns) * NS, (end - first_ns) * NS
                yield Gap(thread=row.thread, repeat=turn.round, start_s=start_s, end_s=end_s)
        found = Counter(place_of((end - start) * NS) for *_, of in seen for start, end in of)
        lengths.update(found)
        for place in sorted(found):
            gap_s = LEAST_S * 2 ** (place / BINS_PER_DOUBLING)
            yield Length(repeat=turn.round, gap_s=gap_s, gaps=lengths[place])
        yield x.Progress(turn.fraction)


def watch_together(
    threads: Sequence[int], slice_s: float, repeat: int, bench: x.Bench
) -> list[tuple[int, Watched, list[list[int]]]]:
    """Return for each thread when it began, in ns, what it saw, and its gaps from when to when."""
    from concurrent.futures import ThreadPoolExecutor

    import numpy as np

    from .kernels import watch

    bench.check_stop()
    together = threading.Barrier(len(threads))

    def one(thread: int) -> tuple[Any, ...]:
        pin(thread)
        gaps = np.ones((NOTED, 2), dtype=np.int64)  # written, so that no page is missing later
        together.wait()
        begun = x.Spent.now()
        seen = watch(round(slice_s / NS), round(LEAST_S / NS), gaps)
        return *seen, gaps, begun, x.Spent.now()

    before = of_cores()
    with ThreadPoolExecutor(len(threads)) as pool:
        results = [*pool.map(one, threads)]
    after, rows = of_cores(), []
    for thread, result in zip(threads, results, strict=True):
        begin, end, readings, found, lost, gaps, begun, ended = result
        gaps_ns = gaps[:found].tolist()  # as many as have room
        then, now = (counts.get(thread, (0.0, 0)) for counts in (before, after))
        row = Watched(
            thread=thread,
            repeat=repeat,
            watched_s=(end - begin) * NS,
            lost_s=lost * NS,
            longest_gap_s=max((stop - start for start, stop in gaps_ns), default=0) * NS,
            gaps=found,
            queued_s=ended.queued_s - begun.queued_s,
            stolen_s=now[0] - then[0],
            switches=ended.involuntary - begun.involuntary,
            interrupts=now[1] - then[1],
            reading_s=(end - begin - lost) * NS / readings,
        )
        rows.append((begin, row, gaps_ns))
    return rows


def fractions(rows: Sequence[Watched]) -> dict[str, float]:
    """Return the shares of the watched time that gaps lost, and that each cause explains."""
    watched_s, lost_s, queued_s, stolen_s = (
        math.fsum(getattr(row, name) for row in rows)
        for name in ("watched_s", "lost_s", "queued_s", "stolen_s")
    )
    taken_s = (lost_s, queued_s, stolen_s, max(0.0, lost_s - queued_s - stolen_s))
    return {cause: each_s / watched_s for cause, each_s in zip(CAUSES, taken_s, strict=True)}


def shares(row: Watched) -> Iterator[Share]:
    """Yield what the gaps of a slice lost, and how much of that each cause explains."""
    for cause, taken in fractions([row]).items():
        yield Share(cause=cause, thread=row.thread, repeat=row.repeat, taken_fraction=taken)


def place_of(gap_s: float) -> int:
    """Return in which bin of the histogram a gap lies."""
    return round(BINS_PER_DOUBLING * math.log2(gap_s / LEAST_S))


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Add up all slices: an account of the whole time, in which load is the finding itself."""
    rows, limits = tables["slices"], x.Limits()
    if not rows:
        return x.Finding("nothing_watched")
    taken, watched_s = fractions(rows), math.fsum(row.watched_s for row in rows)
    values = {
        **{f"{cause}_fraction": share for cause, share in taken.items()},
        **{f"{n}_per_s": sum(getattr(row, n) for row in rows) / watched_s for n in COUNTED},
        "longest_gap_s": max(row.longest_gap_s for row in rows),
        "reading_s": x.medians((0, row.reading_s) for row in rows)[0],
        **quantiles(tables["lengths"]),
    }
    limits.add("not_counted", not any(row.queued_s or row.interrupts for row in rows))
    is_untold = not taken[STOLEN] and taken[LEFT] >= HARDLY_ANY
    limits.add("stolen_untold", x.is_virtual(machine) and is_untold)
    limits.append("window_takes_too")
    return x.Finding(_message(taken), values, tuple(limits))


def _message(taken: dict[str, float]) -> str:
    """Return which cause explains most of what was lost."""
    if taken[LOST] < HARDLY_ANY:
        return "hardly_any"
    if taken[QUEUED] > MOSTLY * taken[LOST]:
        return "other_programs"
    return "the_host" if taken[STOLEN] > MOSTLY * taken[LOST] else "not_explained"


def quantiles(lengths: Sequence[Length]) -> dict[str, float]:
    """Return the lengths that half and 99.9 % of the gaps keep to, where enough are longer."""
    of = sorted(x.best_of(lengths, "gaps", "gap_s", choose=max).items())
    so_far = [0, *accumulate(gaps for _, gaps in of)]
    return {
        f"gap_{name}_s": of[bisect_left(so_far, share * so_far[-1]) - 1][0]
        for name, share in QUANTILES.items()
        if so_far[-1] * (1 - share) >= BEYOND
    }


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"lengths": Length, "shares": Share, "gaps": Gap, "slices": Watched},
    measure=measure,
    loop="kernels.py:watch",
    analyse=analyse,
    views=(
        x.Lines(
            "histogram",
            "lengths",
            x.Axis("gap_s"),
            x.Axis("gaps"),
            statistic="greatest",
            limits=(x.Limit("p999", "gap_p999_s", axis="x"),),
        ),
        x.Bars("causes", "shares", "cause", "taken_fraction", order=CAUSES),
        x.Timeline("lanes", "gaps", "thread", "start_s", "end_s", group="thread"),
    ),
    values=x.values(
        *(f"{cause}_fraction" for cause in CAUSES),
        *(f"{name}_per_s" for name in COUNTED),
        "longest_gap_s",
        *(f"gap_{name}_s" for name in QUANTILES),
        "reading_s",
    ),
    keys=(
        x.Key("longest_gap_s", "histogram", at="longest_gap_s"),
        x.Key("lost_fraction", "causes", (LOST,)),
        x.Key("stolen_fraction", "causes", (STOLEN,)),
    ),
    next=x.Next("gil-threads", {"rounds": 100}),
    parts=(x.Part.CORES,),
    needs=(x.Need.POSIX,),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(threads=max(1, len(x.usable_threads(machine)))),
    quick=x.change(at_most={"rounds": 14}),
    smallest=x.change(rounds=5, slice_s=0.02),
    budget=x.Budget(full={"rounds": 14}, quick={"rounds": 5}),
    seconds=lambda params: 0.5 + params.rounds * (params.slice_s + BETWEEN_S),
    memory_bytes=lambda params: params.threads * NOTED * 16,
    measures_load=True,
)
