"""The measured clock of a core, by which times are read in cycles.

The system names the base clock or the highest one, and virtual machines often invent it. So the
clock is measured beside the experiment: additions that wait for each other take one cycle each. A
disturbance makes the clock look slower, so the best of some samples counts. A core may briefly run
faster than it can for long, so the median of the rounds is used.
"""

from __future__ import annotations

from collections.abc import Iterator

from experiments.core.bench import Bench
from experiments.core.declare import Row, Tables
from experiments.core.judging.statistics import spread

SAMPLE_S = 0.002
SAMPLES = 3
FIRST_CYCLES = 100_000


class Clock(Row):
    """The clock of the measuring core, once in each round."""

    repeat: int
    core_hz: float


def clocks(bench: Bench, repeat: int) -> Iterator[Clock]:
    """Yield the clock of the core that this thread is on; nothing where it cannot be measured."""
    from experiments.kernels.clock import COUNTS_CYCLES, count

    if not COUNTS_CYCLES:
        return
    cycles = bench.repeat_for(count, at_least_s=SAMPLE_S, start=FIRST_CYCLES)
    fastest_s = min(bench.time(lambda: count(cycles)) for _ in range(SAMPLES))
    yield Clock(repeat=repeat, core_hz=count(cycles) / fastest_s)


class RoundClock:
    """The clock of the core that this thread is on, measured as each round begins."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self._last = bench, -1

    def of(self, repeat: int) -> Iterator[Clock]:
        """Yield the clock of a round when it is first asked for; nothing afterwards."""
        if repeat > self._last:
            self._last = repeat
            yield from clocks(self._bench, repeat)


def core_hz(tables: Tables) -> float | None:
    """Return the median of the clocks that were measured; None if there are none."""
    found = spread(clock.core_hz for clock in tables.get("clocks", ()))
    return found.median if found else None
