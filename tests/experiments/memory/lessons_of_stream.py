"""Runs in which stream shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.stream.experiment import CachedMove, Move, Params
from tests.experiments.machines import MIB, machine

FULL_AT_4 = {1: 1e10, 2: 2e10, 4: 3e10, 8: 3.2e10}
IN_CACHE = {1: 2e10, 8: 1.6e11}  # each core as much as the first
USUAL = {
    "one_thread_bytes_per_s": 1e10, "triad_bytes_per_s": 3.2e10, "most_threads": 8,
    "threads_for_90_percent": 4, "cached_triad_bytes_per_s": 1.6e11,
}  # fmt: skip


def made(
    message: str,
    *limits: str,
    line: Mapping[int, float] = FULL_AT_4,
    in_cache: Mapping[int, float] = IN_CACHE,
    params: Params | None = None,
    **values: float,
) -> LessonRun:
    moves = [
        Move(threads=threads, kernel="triad", repeat=0, bytes_per_s=rate)
        for threads, rate in line.items()
    ]
    cached = [
        CachedMove(threads=threads, kernel="triad", repeat=0, bytes_per_s=rate)
        for threads, rate in in_cache.items()
    ]
    return LessonRun(
        params=params or Params(),
        tables={"moves": moves, "cached": cached, "loaded": []},
        machine=machine(cores=8),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


FULL = "full_before_all"
ONE = {1: 3e10, 8: 3.2e10}
RUNS = {
    "full_before_all": made(FULL),
    "one_fills": made("one_nearly_fills", line=ONE, threads_for_90_percent=1),
    "memory_not_full": made("still_rising", line={1: 1e10, 8: 7.8e10}),
    "one_thread": made("one_thread_alone", line={1: 1e10}, most_threads=1),
    "cache_no_faster": made(FULL, "part_of_the_cache", cached_triad_bytes_per_s=3.3e10),
    "others_gain": made("one_is_enough", "other_loops_gain", line=ONE),
    "in_cache": made(FULL, "partly_in_cache"),
    "from_the_last_cache": made(
        "one_thread_alone", params=Params(array_bytes=6 * MIB, threads=1), line={1: 1.5e11},
        most_threads=1, triad_bytes_per_s=1.5e11,
    ),
}  # fmt: skip
