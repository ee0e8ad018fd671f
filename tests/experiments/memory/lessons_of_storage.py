"""Runs in which storage shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.storage.experiment import Params
from tests.experiments.machines import GIB, machine

USUAL = {
    "sequential_read_bytes_per_s": 2e9, "random_4k_latency_s": 1e-4, "random_4k_bytes_per_s": 4e7,
    "random_4k_fraction": 0.02, "depth": 32, "deep_over_one": 9.0,
}  # fmt: skip


def made(message: str, *limits: str, file_bytes: int = GIB, **values: float) -> LessonRun:
    return LessonRun(
        params=Params(file_bytes=file_bytes),
        tables={"reads": []},
        machine=machine(),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


RUNS = {
    "no_gain_together": made("one_at_a_time_anyway", "not_in_this_machine", deep_over_one=1.0),
    "small_as_fast": made("small_reads_as_fast", "answered_from_memory", random_4k_fraction=0.98),
    "hard_disk": made("many_at_a_time_help", "hard_disk"),
    "spread_wide": made("size_costs_not_order", file_bytes=4 * GIB),
}
