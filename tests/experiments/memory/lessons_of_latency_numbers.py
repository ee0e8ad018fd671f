"""Runs in which latency-numbers shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.memory.latency_numbers.experiment import Number, Params
from tests.experiments.machines import GIB, MIB, machine

CACHES = {"l1_s": 1e-9, "call_s": 3e-8, "thread_s": 5e-5, "process_s": 2e-2}
MEMORY = {"memory_s": 1e-7}
ALL = CACHES | MEMORY | {"disk_s": 8e-5}


def made(
    message: str,
    values: dict[str, float],
    *limits: str,
    memory_bytes: int,
    rounds: int = 2,
    file_bytes: int = 64 * MIB,
) -> LessonRun:
    rows = [Number(what="l1", repeat=repeat, took_s=1e-9) for repeat in range(rounds)]
    return LessonRun(
        params=Params(memory_bytes=memory_bytes, rounds=rounds, file_bytes=file_bytes),
        tables={"numbers": rows},
        machine=machine(),
        message=message,
        values=values,
        limits=limits,
    )


RUNS = {
    "memory_missing": made("numbers_in_part", CACHES, "no_memory", memory_bytes=MIB),
    "disk_missing": made("numbers_in_part", CACHES | MEMORY, "no_disk", memory_bytes=2 * GIB),
    "thread_behind_loopback": made(
        "felt_in_seconds", CACHES | MEMORY, "thread_behind_loopback", memory_bytes=GIB, rounds=20
    ),
    "vanished_in_many": made("numbers_in_part", CACHES, "no_memory", memory_bytes=MIB, rounds=20),
    "disk_asked_far": made("felt_in_seconds", ALL, memory_bytes=GIB, rounds=20, file_bytes=GIB),
}
# A single setting changed: none of these reaches a goal.
SINGLE = [
    made("numbers_in_part", CACHES, "no_memory", memory_bytes=MIB),
    made("felt_in_seconds", ALL, memory_bytes=64 * GIB),
    made("felt_in_seconds", ALL, memory_bytes=GIB, rounds=50),
    made("felt_in_seconds", ALL, memory_bytes=GIB, file_bytes=64 * GIB),
]
