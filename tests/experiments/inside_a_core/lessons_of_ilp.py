"""Runs in which ilp shows something else than usual."""

from __future__ import annotations

from collections.abc import Iterable

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.inside_a_core.ilp.experiment import (
    COUNTS,
    LINKED,
    OPERATIONS,
    ChainTime,
    Params,
    analyse,
)
from tests.experiments.machines import machine

HZ = 3e9
LATENCY = dict(zip(OPERATIONS, (4, 4, 14, 1, 3, 4), strict=True))
INTERVAL = dict(zip(OPERATIONS, (0.5, 0.5, 4, 0.25, 1, 4), strict=True))


def steps(
    operations: Iterable[str] = OPERATIONS,
    *,
    overlaps: bool = True,
    registers: int = 17,
    linked_gain: float = 1.0,
) -> list[ChainTime]:
    """Return rows of a core whose units begin an operation in each interval."""

    def cycles(name: str, chains: int) -> float:
        usual = max(LATENCY[name] / chains if overlaps else LATENCY[name], INTERVAL[name])
        if name == LINKED and chains > 1:
            return usual / linked_gain
        return usual * (1.5 if chains >= registers and name != LINKED else 1)

    return [
        ChainTime(operation=name, chains=chains, repeat=turn, operation_s=each / HZ, cycles=each,
                  per_cycle=1 / each)
        for name in operations
        for chains in COUNTS
        for turn, noise in enumerate((1.0, 1.01, 0.99, 1.005, 0.995))
        for each in [cycles(name, chains) * noise]
    ]  # fmt: skip


def made(rows: list[ChainTime]) -> LessonRun:
    named = {row.operation for row in rows}
    params = Params(operations=tuple(name for name in OPERATIONS if name in named))
    tables = {"steps": rows, "clocks": []}
    return lesson_run(params, tables, machine(), sent(analyse(params, tables, machine())))


RUNS = {
    "usual": made(steps()),
    "one_at_a_time": made(steps(overlaps=False)),
    "without_control": made(steps(OPERATIONS[:3])),
    "others_count_too": made(steps(linked_gain=1.6)),
    "registers_run_out": made(steps(registers=12)),
    "gain_alike": made(steps(("add", "integer_add"))),
    "gain_differently": made(steps(("add", "integer_multiply"))),
}
