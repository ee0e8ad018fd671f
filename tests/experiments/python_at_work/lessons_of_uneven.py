"""Runs in which uneven shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.python_at_work.uneven.experiment import BLOCK, Params, WayTime
from tests.experiments.machines import machine

USUAL = {
    "workers": 4, "serial_s": 1.0, "block_s": 0.6, "interleaved_s": 0.3, "dynamic_1_s": 0.35,
    "dynamic_best_s": 0.27, "best_chunk": 4, "ideal_s": 0.25,
}  # fmt: skip


def made(
    message: str, *limits: str, busy: float = 0.5, cores: int = 4, **values: float
) -> LessonRun:
    shares = [
        WayTime(way=BLOCK, chunk=64, repeat=n, wall_s=0.6, efficiency_fraction=busy)
        for n in range(3)
    ]
    return LessonRun(
        params=Params(),
        tables={"shares": shares, "slices": [], "costs": []},
        machine=machine(cores=cores),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


RUNS = {
    "ways_alike": made("ways_alike", "shuffled", busy=0.95, block_s=0.27),
    "blocks_won": made("block_wins", dynamic_best_s=0.8, dynamic_1_s=3.0),
    "one_core": made("ways_alike", cores=1),
    "below_ideal": made("handing_out_wins", "below_ideal", dynamic_best_s=0.24),
    "dealt_as_well": made("handing_out_wins", "interleaved_as_good"),
}
