"""The items of a lecture with their lessons, and with the runs that were shown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from app.lecture.fallbacks import StandIns
from app.lecture.file import SUFFIX, Item
from app.lecture.lectures import SHIPPED
from app.lecture.record import HeldItem, LectureRecord
from app.reports.run_report import Source, source_of
from app.runs.library import Kept
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.problems import Problem, UserError
from experiments.core.teaching.lessons import Taught
from machine.model import Machine
from machine.record import Record


class HandoutItem(Record):
    """What there is of an item; `problem` says why a run is missing, or another stands in."""

    item: HeldItem
    experiment: Experiment[Any] | None = None
    lesson: Taught | None = None
    source: Source | None = None
    is_shown: bool = False  # it is the very run that the class saw
    problem: Problem | None = None


def find(
    held: LectureRecord,
    path: Path,
    data: Path,
    runs: Sequence[Kept],
    catalogue: Catalogue,
    machine: Machine | None = None,
) -> list[HandoutItem]:
    """Return every item with the run that was shown, or what stands in; may take a while.

    `path` is the file of the lecture or of its record, `data` the data folder, `runs` are those of
    the library, `machine` is this one. Of a lecture that nobody has held, recordings are taken.
    """
    lecture = path.with_name(f"{held.name}{SUFFIX}")
    if not lecture.exists() and (SHIPPED / lecture.name).exists():
        lecture = SHIPPED / lecture.name
    stand_ins = StandIns(
        lecture=lecture, data=data, catalogue=catalogue, runs=runs, machine=machine
    )
    return [_found(item, bool(held.at), stand_ins) for item in held.item]


def _found(item: HeldItem, is_held: bool, stand_ins: StandIns) -> HandoutItem:
    catalogue = stand_ins.catalogue
    try:
        experiment = catalogue.load(item.experiment)
        lesson = catalogue.lesson(experiment)
    except UserError as trouble:
        return HandoutItem(item=item, problem=trouble.problem)
    found = HandoutItem(item=item, experiment=experiment, lesson=lesson)
    if is_held and not item.run:
        return replace(found, problem=Problem("handout_not_shown"))
    like = Item(experiment=item.experiment, recording=item.recording, set=item.set)
    behind = stand_ins.find(like, experiment, item.run)
    problem, best = next(iter(behind.faults.values()), None), behind.best
    if best is None:
        return replace(found, problem=problem or Problem("handout_no_run"))
    try:
        source = source_of(best.path, catalogue)
    except UserError as trouble:  # it has just been deleted or changed
        return replace(found, problem=trouble.problem)
    if item.run and best.started.run == item.run:
        return replace(found, source=source, is_shown=True)
    gone = Problem("handout_run_gone") if item.run else None
    return replace(found, source=source, problem=problem or gone)
