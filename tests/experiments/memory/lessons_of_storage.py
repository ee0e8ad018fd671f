"""Runs in which storage shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.storage.experiment import AT_RANDOM, IN_ORDER, SMALL, Latency, Params, Read
from tests.experiments.machines import GIB, MIB, machine

USUAL = {
    "sequential_read_bytes_per_s": 2e9, "random_4k_latency_s": 1e-4, "random_4k_bytes_per_s": 4e7,
    "random_4k_fraction": 0.02, "random_4k_deep_latency_s": 3.2e-4, "depth": 32,
    "deep_over_one": 9.0,
}  # fmt: skip
TIMES = (
    (SMALL, IN_ORDER, 5e-5), (SMALL, AT_RANDOM, 1e-4),
    (MIB, IN_ORDER, 5e-4), (MIB, AT_RANDOM, 6e-4),
)  # fmt: skip


def made(
    message: str, *limits: str, params: Params | None = None, timed: int = 10_000, **values: float
) -> LessonRun:
    return LessonRun(
        params=params or Params(),
        tables={
            "reads": [
                Read(
                    block_bytes=block,
                    way=way,
                    repeat=0,
                    bytes_per_s=block / took_s,
                    reads_per_s=1 / took_s,
                    latency_s=took_s,
                )
                for block, way, took_s in TIMES
            ],
            "latencies": [Latency(repeat=0, at_s=1e-4, reads=timed, read_fraction=1.0)],
        },
        machine=machine(),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


RUNS = {
    "no_gain_together": made("one_at_a_time_anyway", "not_in_this_machine", deep_over_one=1.0),
    "small_as_fast": made("small_reads_as_fast", "answered_from_memory", random_4k_fraction=0.98),
    "hard_disk": made("many_at_a_time_help", "hard_disk"),
    "slowest_known": made("size_costs_not_order", params=Params(file_bytes=2 * GIB), timed=100_000),
}
# A single setting changed: none of these reaches a goal.
SINGLE = [
    made("size_costs_not_order", params=Params(file_bytes=4 * GIB)),
    made("size_costs_not_order", params=Params(sample_s=10.0), timed=900_000),
    made("size_costs_not_order", params=Params(rounds=50), timed=60_000),
    made("size_costs_not_order", params=Params(few_blocks=True)),
]
