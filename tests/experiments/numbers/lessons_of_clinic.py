"""Runs in which clinic shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.views import BROKEN
from experiments.numbers.clinic.checker import STOPS
from experiments.numbers.clinic.experiment import GPU_LENGTH, IMAGES, TRAIN, Params, Remarked
from tests.experiments.machines import machine

USUAL = {"remarks_broken": 13, "faults_total": 10, "shapes_gain": 1.6, "feed_gain": 4.0,
         "learnt_broken_fraction": 0.0, "learnt_mended_fraction": 0.99}  # fmt: skip

STOPPED = Remarked(piece=IMAGES, version=BROKEN, where=TRAIN, kind=STOPS, detail="")


def made(
    message: str,
    *limits: str,
    params: Params | None = None,
    unclear: tuple[str, ...] = (),
    **values: float,
) -> LessonRun:
    return LessonRun(
        params=params or Params(device="cuda:0", length=GPU_LENGTH),
        tables={"remarks": [STOPPED], "steps": []},
        machine=machine(gpus=1),
        message=message,
        values=USUAL | values,
        limits=limits,
        unclear=unclear,
    )


RUNS = {
    "both_gain": made("both_gain", "tf32_is_on"),
    "nothing_gained": made("nothing_gained", "tf32_is_on", shapes_gain=1.0, feed_gain=1.0),
    "learns_no_more": made("both_gain", "tf32_is_on", learnt_mended_fraction=0.05),
    "few_words_told": made("both_gain", params=Params(length=64, rounds=30)),
}
# A single setting changed: none of these reaches a goal.
SINGLE = [
    made("both_gain", params=params)
    for params in (
        Params(),
        Params(length=64),
        Params(rounds=99),
        Params(device="cuda:0", rounds=99),
    )
] + [
    made("feed_gains_shapes_unclear", params=Params(length=64, rounds=30), unclear=("shapes_gain",))
]
