"""The runs that a lesson is tested with: the recording, and those made to reach its branches."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from experiments.core.declare import Experiment
from experiments.core.parameters import from_json
from experiments.core.shelves import homes
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import read
from machine.model import from_json as machine_from_json

HOMES = homes()
READ: dict[str, LessonRun] = {}  # by experiment: many tests look at each


def recorded(experiment: Experiment[Any]) -> LessonRun:
    """Return the run that comes with the experiment, else the first made one; not to be changed."""
    path = HOMES[experiment.id].recording
    if path is None:
        return next(iter(made(experiment).values()))
    if experiment.id not in READ:
        recording = read(path)
        params = from_json(experiment.params, recording.started.params, check_choices=False)
        machine, finding = (
            machine_from_json(recording.started.machine),
            recording.finding(experiment),
        )
        READ[experiment.id] = lesson_run(params, recording.tables(experiment), machine, finding)
    return READ[experiment.id]


def made(experiment: Experiment[Any]) -> dict[str, LessonRun]:
    """Return the runs that the test of an experiment's lesson made, by the branch they reach."""
    shelf, _, name = HOMES[experiment.id].module.rpartition(".")[0].rpartition(".")
    return import_module(f"tests.{shelf}.lessons_of_{name}").RUNS
