"""The items of a lecture with their lessons, and with the runs that were shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.lecture.record import HeldItem, LectureRecord
from app.reports.run_report import Source, source_of
from app.runs.library import Kept
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.lessons import Taught, taught
from experiments.core.problems import Problem, UserError
from experiments.core.resources import FOLDER
from machine.record import record


@record
class Found:
    """What there is of an item; `problem` says why a run is missing, or another stands in."""

    item: HeldItem
    experiment: Experiment[Any] | None = None
    lesson: Taught | None = None
    source: Source | None = None
    is_shown: bool = False  # it is the very run that the class saw
    problem: Problem | None = None


def find(
    held: LectureRecord, folder: Path | None, runs: Iterable[Kept], catalogue: Catalogue
) -> list[Found]:
    """Return every item with the run that was shown, or a recording; may take a while.

    `folder` is that of the lecture's or the record's file, `runs` are those of the library. Of a
    lecture that nobody has held, the recordings are taken.
    """
    kept = list(runs)
    return [_found(item, held, folder, kept, catalogue) for item in held.item]


def _found(
    item: HeldItem,
    held: LectureRecord,
    folder: Path | None,
    kept: Sequence[Kept],
    catalogue: Catalogue,
) -> Found:
    try:
        experiment = catalogue.load(item.experiment)
        lesson = _lesson(experiment, catalogue)
    except UserError as trouble:
        return Found(item=item, problem=trouble.problem)
    found = Found(item=item, experiment=experiment, lesson=lesson)
    if held.at and not item.run:
        return replace(found, problem=Problem("handout_not_shown"))
    problem, other = None, None
    for path in _paths(item, folder, kept, catalogue):
        try:
            source = source_of(path, catalogue)
            if source.experiment.id != experiment.id:
                raise UserError("lecture_other_experiment", name=path.name, id=experiment.id)
            source.recording.tables(experiment)  # those of an older version may be others
        except UserError as trouble:
            problem = problem or trouble.problem
            continue
        if not item.run or source.recording.started.run == item.run:
            known = None if item.run else problem
            return replace(found, source=source, is_shown=bool(item.run), problem=known)
        other = other or source
    if other is not None:
        return replace(found, source=other, problem=problem or Problem("handout_run_gone"))
    return replace(found, problem=problem or Problem("handout_no_run"))


def _paths(
    item: HeldItem, folder: Path | None, kept: Sequence[Kept], catalogue: Catalogue
) -> Iterator[Path]:
    """Yield the files that may hold the run, the best first."""
    if item.run:
        named = f"-{item.run[:8]}."  # all that is known of a damaged one
        yield from (run.path for run in kept
                    if run.run == item.run or (run.problem and named in run.path.name))  # fmt: skip
    if item.recording:
        beside = [each / item.recording for each in (folder, FOLDER / "lectures") if each]
        yield next((path for path in beside if path.exists()), beside[0])
    if shipped := catalogue.recording(item.experiment):
        yield shipped


def _lesson(experiment: Experiment[Any], catalogue: Catalogue) -> Taught | None:
    """Return a lesson; that of somebody's own experiment would execute what may never end."""
    return None if experiment.is_own else taught(experiment, catalogue.homes[experiment.id])
