"""Runs in which waiting shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.python_at_work.waiting.experiment import (
    COMPUTING,
    COROUTINES,
    PROCESSES,
    SERIAL,
    THREADS,
    Params,
    Wait,
    analyse,
    arms,
)
from tests.experiments.machines import machine

START_S = {SERIAL: 5e-4, COROUTINES: 5e-5, THREADS: 2e-4, PROCESSES: 2e-3, COMPUTING: 0.0}


def made(params: Params, starts_s: dict[str, float] | None = None) -> LessonRun:
    """Return a run in which waits overlap, and starts and work do not."""
    start_s = START_S | (starts_s or {})

    def all_s(way: str, count: int) -> float:
        waits = count if way in (SERIAL, COMPUTING) else 1
        waits += way == COROUTINES and params.one_blocks
        return waits * params.wait_s + count * (start_s[way] + params.work_s)

    rows = [
        Wait(way=way, waits=count, repeat=turn, all_s=all_s(way, count) * noise)
        for way, count in arms(params)
        for turn, noise in enumerate((1.0, 1.01, 0.99, 1.005, 0.995))
    ]
    tables = {"waits": rows, "weights": []}
    return lesson_run(params, tables, machine(), sent(analyse(params, tables, machine())))


RUNS = {
    "few": made(Params(wait_s=0.006, most_waits=16)),
    "only_one_way_gained": made(Params(), {THREADS: 0.1}),
    "neither_gained": made(Params(work_s=1.0), {THREADS: 0.03, COROUTINES: 0.03}),
    "one_blocks": made(Params(one_blocks=True)),
    "gains_beside_work": made(Params(wait_s=0.2, work_s=0.005)),
    "gains_little_without_work": made(Params(most_waits=4, one_blocks=True)),
}
