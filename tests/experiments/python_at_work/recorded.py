"""The runs that come with the experiments of this shelf and with lectures, as lessons see them."""

from __future__ import annotations

from pathlib import Path

from experiments.core.catalogue import Catalogue
from experiments.core.parameters import from_json
from experiments.core.shelves import homes
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.core.teaching.lessons import Taught, taught
from experiments.engine.recording import read
from machine.model import from_json as machine_from_json
from tests.shipped import SHIPPED

LECTURES = Path(__file__).parents[3] / "resources/lectures"


def lesson_of(name: str) -> Taught:
    """Return the lesson of an experiment."""
    lesson = taught(Catalogue().load(name), homes()[name])
    assert lesson is not None
    return lesson


def recorded(name: str, path: Path | None = None) -> LessonRun:
    """Return the run that comes with an experiment, or that of another file."""
    recording, experiment = read(path or SHIPPED[name]), Catalogue().load(name)
    return lesson_run(
        from_json(experiment.params, recording.started.params, check_choices=False),
        recording.tables(experiment),
        machine_from_json(recording.started.machine),
        recording.finding(experiment),
    )


def all_recorded(name: str) -> list[LessonRun]:
    """Return the run that comes with an experiment, and those of it that come with lectures."""
    paths = [SHIPPED[name], *LECTURES.glob(f"*.{name}.*.gz")]
    return [recorded(name, path) for path in paths]
