"""What the lesson of burst-random computes."""

from __future__ import annotations

from experiments import api as x

HELD_BACK = ("random",)
ALIKE, FAR = 1.25, 50.0  # times


def numbers(run: x.LessonRun, _guess: x.Guess | None) -> dict[str, str]:
    """Return what memory sends at once: the line of this machine's caches."""
    lines = {cache.line_bytes for cache in run.machine.cpu.caches if cache.line_bytes}
    return {"a_line": f"a whole line of {max(lines)} bytes" if lines else "a whole line of bytes"}


def flattest_line(run: x.LessonRun) -> x.Spot:
    """Return the order whose time grew least from the smallest to the largest size."""
    times = x.medians(((row.order, row.size_bytes), row.element_s) for row in run.tables["reads"])
    growth: dict[str, float] = {}
    for order in {order for order, _ in times}:
        sizes = sorted(size for name, size in times if name == order)
        growth[order] = times[order, sizes[-1]] / times[order, sizes[0]]
    return x.Spot(names=(min(growth, key=lambda order: growth[order]),) if growth else ())


def fits_in_cache(run: x.LessonRun) -> bool:
    """May caches hold a part of the largest data?"""
    return "partly_in_cache" in run.limits


def all_alike(run: x.LessonRun) -> bool:
    """Did all three orders take the same?"""
    return run.message == "all_the_same"


def no_difference(run: x.LessonRun) -> bool:
    """Was the shuffled order nearly as fast as in order?"""
    return run.values.get("random_over_sequential", FAR) <= ALIKE


def far_slower(run: x.LessonRun) -> bool:
    """Was a chained read far slower than one in order?"""
    return run.values.get("dependent_over_sequential", 0.0) >= FAR
