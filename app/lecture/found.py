"""The items of a lecture with their lessons, and with the runs that were shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.lecture.fallbacks import Origin, candidates
from app.lecture.file import SUFFIX, Item
from app.lecture.lectures import SHIPPED
from app.lecture.record import HeldItem, LectureRecord
from app.reports.run_report import Source, source_of
from app.runs.library import Kept
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.lessons import Taught, taught
from experiments.core.problems import Problem, UserError
from machine.record import record


@record
class FoundItem:
    """What there is of an item; `problem` says why a run is missing, or another stands in."""

    item: HeldItem
    experiment: Experiment[Any] | None = None
    lesson: Taught | None = None
    source: Source | None = None
    is_shown: bool = False  # it is the very run that the class saw
    problem: Problem | None = None


def find(
    held: LectureRecord, path: Path, data: Path, runs: Sequence[Kept], catalogue: Catalogue
) -> list[FoundItem]:
    """Return every item with the run that was shown, or a recording; may take a while.

    `path` is the file of the lecture or of its record, `data` the data folder, `runs` are those of
    the library. Of a lecture that nobody has held, the recordings are taken.
    """
    lecture = path.with_name(f"{held.name}{SUFFIX}")
    if not lecture.exists() and (SHIPPED / lecture.name).exists():
        lecture = SHIPPED / lecture.name

    def paths(item: HeldItem, experiment: Experiment[Any]) -> Iterator[Path]:
        """Yield the files that may hold the run, the best first."""
        if item.run:
            named = f"-{item.run[:8]}."  # all that is known of a damaged one
            for run in runs:
                if run.run == item.run or (run.problem and named in run.path.name):
                    yield run.path
        like = Item(experiment=item.experiment, recording=item.recording, set=item.set)
        for origin, each in candidates(like, experiment, lecture, data, catalogue):
            if origin is not Origin.MADE or each.is_file():
                yield each

    return [_found(item, bool(held.at), paths, catalogue) for item in held.item]


def _found(
    item: HeldItem,
    is_held: bool,
    paths: Callable[[HeldItem, Experiment[Any]], Iterator[Path]],
    catalogue: Catalogue,
) -> FoundItem:
    try:
        experiment = catalogue.load(item.experiment)
        lesson = _lesson(experiment, catalogue)
    except UserError as trouble:
        return FoundItem(item=item, problem=trouble.problem)
    found = FoundItem(item=item, experiment=experiment, lesson=lesson)
    if is_held and not item.run:
        return replace(found, problem=Problem("handout_not_shown"))
    problem, other = None, None
    for path in paths(item, experiment):
        try:
            source = source_of(path, catalogue)
            if source.experiment.id != experiment.id:
                other_id = source.experiment.id
                raise UserError(
                    "fallback_of_other", name=path.name, id=experiment.id, other=other_id
                )
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


def _lesson(experiment: Experiment[Any], catalogue: Catalogue) -> Taught | None:
    """Return a lesson; that of somebody's own experiment would execute what may never end."""
    return None if experiment.is_own else taught(experiment, catalogue.homes[experiment.id])
