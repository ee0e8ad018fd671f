"""Runs in which uneven shows something else than usual."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.uneven.experiment import (
    BLOCK,
    IN_SET_FRACTION,
    TURN_S,
    ChunkSpan,
    Params,
    WayTime,
)
from tests.experiments.machines import machine

USUAL = {
    "workers": 4, "serial_s": 1.0, "block_s": 0.6, "interleaved_s": 0.3, "dynamic_1_s": 0.35,
    "dynamic_best_s": 0.27, "best_chunk": 4, "ideal_s": 0.25,
}  # fmt: skip
MESSAGE_S = 3e-5  # a hand-out and its answer, roughly as measured
LEAST_ITERATIONS = 20  # with fewer, each point costs as much


def made(
    message: str,
    *limits: str,
    busy: float = 0.5,
    cores: int = 4,
    params: Params = Params(),  # noqa: B008  (frozen)
    slices: Sequence[ChunkSpan] = (),
    **values: float,
) -> LessonRun:
    shares = [
        WayTime(way=BLOCK, chunk=64, repeat=n, wall_s=0.6, efficiency_fraction=busy)
        for n in range(3)
    ]
    return LessonRun(
        params=params,
        tables={"shares": shares, "slices": slices, "costs": []},
        machine=machine(cores=cores),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


def spans(way: str, *pieces: tuple[int, float, float]) -> list[ChunkSpan]:
    """Return the pieces of a way: (worker, start, end) in seconds."""
    return [ChunkSpan(way=way, worker=n, start_s=s, end_s=e) for n, s, e in pieces]


def modelled(params: Params) -> LessonRun:
    """Return the run in which a hand-out costs the same, however much is to be computed."""
    iterations = IN_SET_FRACTION * max(params.iterations, LEAST_ITERATIONS)
    serial_s = params.rows * params.columns * iterations * TURN_S
    shared_s = serial_s / params.workers if params.workers > 1 else serial_s
    return made(
        "handing_out_wins",
        params=params,
        serial_s=serial_s,
        dynamic_1_s=max(shared_s, params.rows * MESSAGE_S),
    )


REACHING = {"rows_slower_than_one_worker": Params(columns=4, iterations=10)}

RUNS = {
    "ways_alike": made("ways_alike", "shuffled", busy=0.95, block_s=0.27),
    "blocks_won": made("block_wins", dynamic_best_s=0.8, dynamic_1_s=3.0),
    "one_core": made("ways_alike", cores=1),
    "below_ideal": made("handing_out_wins", "below_ideal", dynamic_best_s=0.24),
    "dealt_as_well": made("handing_out_wins", "interleaved_as_good"),
    "drawn": made(
        "handing_out_wins",
        slices=[
            *spans(BLOCK, (0, 0.001, 0.101), (1, 0.001, 0.501)),
            *spans("dynamic_16", (0, 0.001, 0.1), (1, 0.001, 0.2), (0, 0.11, 0.25)),
        ],
    ),
    **{goal: modelled(params) for goal, params in REACHING.items()},
}
