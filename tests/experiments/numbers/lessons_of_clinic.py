"""Runs in which clinic shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.views import BROKEN
from experiments.numbers.clinic.checker import STOPS
from experiments.numbers.clinic.experiment import GPU_LENGTH, IMAGES, TRAIN, Params, Remarked
from tests.experiments.machines import machine

USUAL = {"remarks_broken": 13, "faults_total": 10, "shapes_gain": 1.6, "feed_gain": 4.0}

STOPPED = Remarked(piece=IMAGES, version=BROKEN, where=TRAIN, kind=STOPS, detail="")


def made(message: str, *limits: str, **values: float) -> LessonRun:
    return LessonRun(
        params=Params(device="cuda:0", length=GPU_LENGTH),
        tables={"remarks": [STOPPED], "steps": []},
        machine=machine(gpus=1),
        message=message,
        values=USUAL | values,
        limits=limits,
    )


RUNS = {
    "both_gain": made("both_gain", "tf32_is_on"),
    "nothing_gained": made("nothing_gained", "tf32_is_on", shapes_gain=1.0, feed_gain=1.0),
}
