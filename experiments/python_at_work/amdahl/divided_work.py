"""Compiled work of a known length that workers can divide at any point."""

from __future__ import annotations

from collections.abc import Callable

from experiments import api as x
from experiments.tools.buffers import Buffer

FIRST_TURNS = 10_000


class DividedWork(x.Record, kw_only=False):
    """`job(start, end)` does that part, in fractions of the whole, which is `steps`."""

    steps: float
    job: Callable[[float, float], object]


def computing(bench: x.Bench, whole_s: float) -> DividedWork:
    """Return arithmetic that takes one worker at least `whole_s` and needs no memory."""
    from .kernels import mix

    with bench.pinned():
        turns = bench.repeat_for(lambda count: mix(count, 1), at_least_s=whole_s, start=FIRST_TURNS)
    return DividedWork(turns, lambda start, end: mix(int((end - start) * turns), 1))


def in_memory(bench: x.Bench, whole_s: float, array_bytes: int) -> DividedWork:
    """Return laps over an array that take one worker at least `whole_s`."""
    from experiments.kernels.sums import sum_in_a_row

    words = Buffer(array_bytes).words
    with bench.pinned():
        laps = bench.repeat_for(
            lambda count: sum_in_a_row(words, count), at_least_s=whole_s, start=1
        )

    def job(start: float, end: float) -> object:
        return sum_in_a_row(words[int(start * words.size) : int(end * words.size)], laps)

    return DividedWork(words.size * laps, job)
