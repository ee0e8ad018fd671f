"""Runs in which matrix-order shows something else than usual."""

from __future__ import annotations

from typing import Any

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.inside_a_core.matrix_order.experiment import (
    BLOCKED,
    COLUMNS,
    ROWS,
    TRANSPOSE,
    WAYS,
    Params,
    Walk,
    analyse,
    sizes,
)
from tests.experiments.machines import machine

ROWS_S = 0.3e-9
NOISE = (1.0, 1.01, 0.99, 1.005, 0.995)


def walks(
    params: Params | None = None,
    *,
    columns: float = 10.0,
    spike: float = 4.0,
    blocked: float = 3.0,
    blocked_spike: float = 1.2,
    noise: tuple[float, ...] = NOISE,
    at_spike: tuple[float, ...] = (),
) -> list[Walk]:
    """Return rows of a machine: times over rows beside powers of two, and times more at them.

    `at_spike`: how columns scatter there, if not by `noise`.
    """
    beside = {ROWS: 1.0, COLUMNS: columns, BLOCKED: blocked}
    at_power = {ROWS: 1.0, COLUMNS: spike, BLOCKED: blocked_spike}
    return [
        Walk(size=size, way=way, repeat=turn, element_s=ROWS_S * times * factor)
        for size in sizes(params or Params())
        for way in WAYS
        for is_power in [size & (size - 1) == 0]
        for times in [beside[way] * (at_power[way] if is_power else 1.0)]
        for own in [at_spike if is_power and way == COLUMNS else ()]
        for turn, factor in enumerate(own or (noise[::-1] if way == COLUMNS else noise))
    ]


def made(params: Params | None = None, **given: Any) -> LessonRun:
    params = params or Params()
    rows = {"walks": walks(params, **given)}
    return lesson_run(params, rows, machine(), sent(analyse(params, rows, machine())))


RUNS = {
    "usual": made(),
    "swapping_costs_nothing": made(columns=1.0, spike=1.0, blocked=1.0),
    "no_spike": made(spike=1.0),
    "spike_unclear": made(spike=1.0, at_spike=(0.6, 1.5, 0.9, 1.8, 1.1)),
    "blocks_no_faster": made(blocked=10.0, blocked_spike=4.0),
    "transposes": made(Params(job=TRANSPOSE), columns=1.0),
    "transposed_twice": made(Params(job=TRANSPOSE), columns=6.0, blocked=0.3, spike=1.0),
    "helps_beside_it": made(blocked=1.0, blocked_spike=36.0),
}
