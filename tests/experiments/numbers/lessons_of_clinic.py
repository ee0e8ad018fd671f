"""Runs in which clinic shows something else than usual."""

from __future__ import annotations

from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.views import BROKEN
from experiments.numbers.clinic.checker import NO_MULTIPLE, STOPS
from experiments.numbers.clinic.experiment import (
    GPU_LENGTH,
    IMAGES,
    LEAVES,
    PLANTED,
    TRAIN,
    Params,
    Remarked,
)
from tests.experiments.machines import machine

USUAL = {"remarks_broken": 19, "faults_total": 14, "faults_that_stop": 6, "shapes_gain": 1.6,
         "feed_gain": 4.0, "learnt_broken_fraction": 0.0, "learnt_mended_fraction": 0.99,
         "learnt_flowers_sigmoid_fraction": 0.36, "learnt_flowers_mended_fraction": 0.85,
         }  # fmt: skip


def made(
    message: str,
    *limits: str,
    params: Params | None = None,
    unclear: tuple[str, ...] = (),
    **values: float,
) -> LessonRun:
    return LessonRun(
        params=params or Params(device="cuda:0", length=GPU_LENGTH),
        tables={"remarks": remarks(), "steps": []},
        machine=machine(gpus=1),
        message=message,
        values=USUAL | values,
        limits=limits,
        unclear=unclear,
    )


def remarks(*stopping: str) -> list[Remarked]:
    """Return a remark on each program, and that these stop; by default pictures and leaves."""
    return [
        Remarked(piece=piece, version=BROKEN, where=where, kind=kind, detail="")
        for pieces, where, kind in (
            (PLANTED, "inputs", NO_MULTIPLE), (stopping or (IMAGES, LEAVES), TRAIN, STOPS),
        )
        for piece in pieces
    ]  # fmt: skip


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
