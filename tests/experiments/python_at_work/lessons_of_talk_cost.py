"""Runs in which talk-cost shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.talk_cost.experiment import COPY, Params, Talk
from tests.experiments.machines import KIB, MIB, machine

SHARED_S = 1e-4
PIPE_S = {64: 4e-5, 1024: 4e-5, 64 * KIB: 8e-5, 256 * KIB: 2e-4, MIB: 8e-4, 16 * MIB: 2e-2}
USUAL = {
    "small_bytes": 64, "thread_queue_large_s": 4e-5,
    "pipe_small_s": 4e-5, "shared_memory_large_s": 1e-3,
    "copy_large_s": 8e-4, "wake_s": 4e-5, "through_pipe_waits": 257.0,
    "into_kept_memory_waits": 257.0, "through_wide_pipe_waits": 17.0,
    "into_kept_memory_holds_bytes": 64 * KIB,
    "into_kept_memory_s": 1.6e-2, "through_wide_pipe_s": 8e-3,
    "into_kept_memory_gain": 1.1, "through_wide_pipe_gain": 2.0,
}  # fmt: skip


def made(
    message: str,
    pipe_s: Mapping[int, float] = PIPE_S,
    *,
    params: Params | None = None,
    large_bytes: float = 16 * MIB,
    pipe_large_s: float = 2e-2,
    **values: float,
) -> LessonRun:
    ways = {"pipe": pipe_s} | {
        way: dict.fromkeys(pipe_s, took_s)
        for way, took_s in (("thread_queue", 4e-5), ("shared_memory", SHARED_S), (COPY, 5e-5))
    }
    talks = [
        Talk(method=way, message_bytes=size, repeat=0, round_trip_s=took_s)
        for way, line in ways.items()
        for size, took_s in line.items()
    ]
    return LessonRun(
        params=params or Params(),
        tables={"talks": talks, "steps": [], "waits": [], "pipes": []},
        machine=machine(),
        message=message,
        values=USUAL | {"large_bytes": large_bytes, "pipe_large_s": pipe_large_s} | values,
    )


PASS = "threads_pass_a_reference"
ARRAYS, LISTS = (Params(payload=kind, largest_bytes=64 * KIB) for kind in ("array", "list"))
RUNS = {
    "keeps_up": made("a_process_keeps_up", through_pipe_waits=1.0),
    "waking_is_cheap": made(PASS, through_wide_pipe_gain=1.05),
    "new_memory_costs": made(PASS, into_kept_memory_gain=3.0),
    "fits_the_pipe": made(PASS, large_bytes=16 * KIB, into_kept_memory_waits=1.0),
    "no_gain_by_sharing": made(
        PASS,
        params=LISTS,
        large_bytes=64 * KIB,
        pipe_large_s=1.2e-4,
        shared_memory_large_s=1.1e-4,
    ),
    "mostly_waking": made(PASS, params=ARRAYS, large_bytes=64 * KIB, pipe_large_s=1.2e-4),
}
