"""How fast does the core really run, so that a time can be read in cycles?

What the system says of the clock is the base or the greatest one, and in a virtual machine it is
often made up. So it is measured beside what is to be read in cycles: additions that wait for each
other, one a cycle. A disturbance makes the clock look slower, so the best of some samples counts;
but a core can run faster for a moment than it does for long, so it is that of the round in the
middle.
"""

from __future__ import annotations

from collections.abc import Iterator

from experiments.core.bench import Bench
from experiments.core.declare import Tables, column
from experiments.core.statistics import spread
from machine.record import record

SAMPLE_S = 0.002
SAMPLES = 3
FIRST_CYCLES = 100_000


@record
class Clock:
    """The clock of the measuring core, once in each round."""

    repeat: int = column()
    core_hz: float = column("hz")


def clocks(bench: Bench, repeat: int) -> Iterator[Clock]:
    """Yield the clock of the core that this thread is on; nothing where it cannot be measured."""
    from experiments.kernels.clock import COUNTS_CYCLES, count

    if not COUNTS_CYCLES:
        return
    cycles = bench.repeat_for(count, at_least_s=SAMPLE_S, start=FIRST_CYCLES)
    fastest_s = min(bench.time(lambda: count(cycles)) for _ in range(SAMPLES))
    yield Clock(repeat=repeat, core_hz=count(cycles) / fastest_s)


def core_hz(tables: Tables) -> float | None:
    """Return the median of the clocks that were measured; None if there are none."""
    found = spread(clock.core_hz for clock in tables.get("clocks", ()))
    return found.median if found else None
