"""What the lesson of burst-random computes."""

from __future__ import annotations

from experiments import api as x

HELD_BACK = ("random",)
ALIKE, FAR = 1.25, 50.0  # times


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, str]:
    """Return what memory sends at once: the line of this machine's caches."""
    lines = {cache.line_bytes for cache in run.machine.cpu.caches if cache.line_bytes}
    return {"a_line": f"a whole line of {max(lines)} bytes" if lines else "a whole line of bytes"}


def highest_on_the_right(run: x.LessonRun) -> x.Spot:
    """Return the orders that took longest at the largest size, or about as long."""
    reads = run.tables["reads"]
    largest = max((read.size_bytes for read in reads), default=0)
    times = x.medians((read.order, read.element_s) for read in reads if read.size_bytes == largest)
    return x.Spot(names=tuple(o for o in times if times[o] * ALIKE >= max(times.values())))


fits_in_cache = x.limited("partly_in_cache")  # may caches hold a part of the largest data?
all_alike = x.found("all_the_same")  # did all three orders take the same?


def no_difference(run: x.LessonRun) -> bool:
    """Was the shuffled order nearly as fast as in order?"""
    return run.values.get("random_over_sequential", FAR) <= ALIKE


def far_slower(run: x.LessonRun) -> bool:
    """Was a chained read far slower than one in order?"""
    return run.values.get("dependent_over_sequential", 0.0) >= FAR
