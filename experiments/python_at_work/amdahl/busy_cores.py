"""Measures a core's clock beside busy cores, and the share of its time that others took.

The clock comes from additions that wait for each other, one a cycle, and from the thread's own
time. So time that the system or a host gave to others does not slow it; that share stands beside.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Iterator, Sequence

from experiments import api as x
from experiments.tools.arrays import counts
from experiments.tools.side_by_side import pin

CYCLES = 40_000_000  # in one call: between two calls threads wait for the GIL, as if it were taken
SAMPLE_S = 0.015  # roughly, to tell the time beforehand
TICKS, LOOK_S = 20, 0.1  # of the clock of threads, also beside load; a coarser one cannot tell


class CoreSpeed(x.Row):
    """The clock of a core beside busy ones, and what was taken of its time."""

    busy_cores: int
    repeat: int
    core_hz: float
    taken_fraction: float


def core_speeds(bench: x.Bench, threads: Sequence[int | None], repeat: int) -> Iterator[CoreSpeed]:
    """Yield the speed of the first of `threads`, one a core, for each number of busy ones.

    Nothing where there is one core, or where clocks cannot tell. Every second round goes backwards.
    """
    from experiments.kernels.clock import COUNTS_CYCLES

    if len(threads) < 2 or not COUNTS_CYCLES or not ticks_finely():
        return
    for busy in counts(len(threads))[:: -1 if repeat % 2 else 1]:
        core_hz, taken_fraction = _speed(bench, threads[:busy])
        yield CoreSpeed(
            busy_cores=busy, repeat=repeat, core_hz=core_hz, taken_fraction=taken_fraction
        )


@functools.cache
def ticks_finely() -> bool:
    """Return whether the clock of threads ticks often. Windows' ticks 64 times a second."""
    end_s, seen = time.perf_counter() + LOOK_S, set[float]()
    while len(seen) < TICKS and time.perf_counter() < end_s:
        seen.add(time.thread_time())
    return len(seen) == TICKS


def _speed(bench: x.Bench, threads: Sequence[int | None]) -> tuple[float, float]:
    """Count on each thread; return the first one's cycles in a second, and the share it lost."""
    from concurrent.futures import ThreadPoolExecutor

    from experiments.kernels.clock import count

    bench.check_stop()
    together, over = threading.Barrier(len(threads)), threading.Event()

    def beside(thread: int | None) -> None:
        pin(thread)
        together.wait()
        while not over.is_set():
            count(CYCLES)

    def measured(thread: int | None) -> tuple[float, float]:
        pin(thread)
        together.wait()
        try:
            count(CYCLES // 20)  # a core takes a moment to change its clock
            start_s, own_s = bench.now_s(), time.thread_time()
            cycles = count(CYCLES)
            own_s, whole_s = time.thread_time() - own_s, bench.now_s() - start_s
            return cycles / own_s, max(0.0, 1 - own_s / whole_s)
        finally:
            over.set()

    with ThreadPoolExecutor(len(threads)) as pool:
        found = pool.submit(measured, threads[0])
        for thread in threads[1:]:
            pool.submit(beside, thread)
        return found.result()


def beside_busy_cores(
    tables: x.Tables,
) -> tuple[dict[str, float], tuple[str, ...], bool | None]:
    """Return the effect of all busy cores on one: values, the unclear ones, is its clock lower?

    The last is None if it is unclear.
    """
    clocks = x.spreads_of(tables["core_speeds"], "core_hz", "busy_cores")
    taken = x.spreads((row.busy_cores, row.taken_fraction) for row in tables["core_speeds"])
    if 1 not in clocks or len(clocks) < 2:
        return {}, (), None
    alone, beside = clocks[1], clocks[max(clocks)]
    kept, unclear = x.ratios({"clock_beside_over_alone": (beside, alone)})
    values = {
        "clock_alone_hz": alone.median,
        "clock_beside_hz": beside.median,
        **kept,
        "taken_beside_fraction": taken[max(clocks)].median,
    }
    return values, unclear, None if unclear else beside.is_below(alone)
