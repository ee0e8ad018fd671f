"""Runs in which start-cost shows something else than usual."""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.python_at_work.start_cost.experiment import Params, Start, analyse
from tests.experiments.machines import machine

USUAL_S = {
    "call": 5e-8, "coroutine": 2e-7, "task": 1e-5, "thread": 1e-4, "posix_spawn": 8e-4,
    "os_fork": 2e-3, "fork": 4e-3, "forkserver": 2e-2, "spawn": 8e-2, "thread_pool_warm": 3e-5,
    "thread_pool_cold": 2e-4, "process_pool_warm": 5e-4, "process_pool_cold": 8e-3,
}  # fmt: skip


def made(took_s: Mapping[str, float] = USUAL_S, *without: str, **params: object) -> LessonRun:
    asked = Params(**params)  # type: ignore[arg-type]
    rows = [
        Start(method=name, repeat=turn, count=10, each_s=each_s * noise, all_s=10 * each_s * noise)
        for name, each_s in took_s.items()
        if name not in without
        for turn, noise in enumerate((1.0, 1.01, 0.99, 1.005, 0.995))
    ]
    tables = {"starts": rows}
    return lesson_run(asked, tables, machine(), sent(analyse(asked, tables, machine())))


def only(*methods: str) -> dict[str, float]:
    return {name: USUAL_S[name] for name in methods}


LARGE_PARENT_S = USUAL_S | {"os_fork": 6e-2, "fork": 7e-2}
RUNS = {
    "usual": made(),
    "without_fork": made(USUAL_S, "posix_spawn", "os_fork", "fork", "forkserver"),
    "measured_in_part": made(only("call", "thread", "spawn")),
    "some_cost_no_more": made(USUAL_S | {"task": 1.5e-4}),
    "fork_is_costly": made(LARGE_PARENT_S),
    "children_import": made(child_imports="numpy"),
    "pool_saves_little": made(USUAL_S | {"thread_pool_warm": 9e-5}),
    "four_steps": made(only("call", "task", "thread", "os_fork")),
    "indifferent_to_memory": made(
        {name: LARGE_PARENT_S[name] for name in ("os_fork", "posix_spawn")}, parent_bytes=2**30
    ),
}
