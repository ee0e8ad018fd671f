"""The runs and recordings of a lecture: which one is shown, what of it, and what it says."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.evidence import evidence_of
from app.lecture.fallbacks import StandIns
from app.lecture.file import SUFFIX
from app.lecture.lecture_state import LectureState
from app.lecture.lectures import NAME
from app.loaded_run import LoadedRun, is_disturbed, lesson_run_of, load
from app.window.core.session import Session
from app.window.lecture.items import Prepared, stand_ins_of
from experiments.core.problems import Problem
from experiments.core.teaching.lesson_run import LessonRun
from experiments.core.teaching.playable import Playable, playable
from experiments.engine import messages
from experiments.engine.run_state import RunState
from widgets.plots.contents import label_column


class ShownRuns(QObject):
    """Follows the course; `measured` are the runs made here, by place.

    Recordings are read in the background before they are needed. `came` carries the place of an
    item when its recording is there, or cannot be read.
    """

    came = Signal(int)

    def __init__(
        self,
        session: Session,
        items: Sequence[Prepared],
        course: LectureState,
        path: Path | None = None,
    ) -> None:
        super().__init__()
        self._session, self._items, self._course, self._path = session, items, course, path
        self.measured: dict[int, RunState] = {}
        self._recorded: dict[int, LoadedRun | None] = {}
        self._asked: set[int] = set()  # recordings that are read, or were
        self._read: tuple[object, LessonRun | None] = (None, None)
        self._played: tuple[tuple[object, ...], Playable | None] = ((), None)

    def want(self, place: int) -> None:
        """Read the recording of an item, unless that was done."""
        if place in self._asked or not 0 <= place < len(self._items):
            return
        self._asked.add(place)
        nowhere = self._session.context.folder / NAME / SUFFIX  # there is nothing beside it
        stand_ins = stand_ins_of(self._session, self._path or nowhere)
        work = partial(_stand_in, stand_ins, self._items[place])
        take = partial(self._take, place)
        self._session.background.do_soon(work, take, failed=take)

    def is_read(self, place: int) -> bool:
        """Is it known whether there is a recording?"""
        return place in self._recorded

    def _take(self, place: int, loaded: LoadedRun | Problem | None) -> None:
        self._recorded[place] = loaded if isinstance(loaded, LoadedRun) else None
        self.came.emit(place)

    @property
    def recording(self) -> LoadedRun | None:
        """The recording of the item of now, if it is read."""
        return self._recorded.get(self._course.place)

    @property
    def run_state(self) -> RunState | None:
        """The run that is shown, or what of it has come."""
        return self.of(self._course)

    @property
    def is_disturbed(self) -> bool:
        """Was the run made here so disturbed that it cannot tell what was asked?"""
        return is_disturbed(self.measured.get(self._course.place))

    @property
    def run_id(self) -> str:
        """The id of the run that is shown as a whole, "" for none."""
        run_state = self.run_state if self._course.turn.is_measured else None
        return run_state.started.run if run_state is not None and run_state.started else ""

    def of(self, course: LectureState) -> RunState | None:
        """Return the run that is shown at the place of a course."""
        if not course.turn.is_recording:
            return self.measured.get(course.place)
        recording = self._recorded.get(course.place)
        return recording.run_state if recording is not None else None

    def expected(self, course: LectureState, table: str) -> Sequence[Any]:
        """Return the rows of the recording at the place of a course, before there are others."""
        recording = self._recorded.get(course.place)
        return recording.run_state.tables.get(table, ()) if recording is not None else ()

    def has_marks(self) -> bool:
        """Is there anything of the run that the class may see?"""
        run_state, view = self.run_state, self._items[self._course.place].view
        if run_state is None or view is None:
            return False
        column, hidden = label_column(view), self._course.turn.hidden_arms
        return view.table in run_state.frames or any(
            column is None or str(getattr(row, column)) not in hidden
            for row in run_state.tables.get(view.table, ())
        )

    def has_whole(self) -> bool:
        """Was the item of now measured here to its end?"""
        run_state = self.measured.get(self._course.place)
        return run_state is not None and lesson_run_of(run_state, self._session.machine) is not None

    def right(self) -> int | None:
        """Return the right option of the current item, None while it is unknown."""
        prepared, run = self._items[self._course.place], self._lesson_run()
        if run is None or prepared.options is None:
            return None
        return prepared.options.right(prepared.taught, run)

    def playable(self) -> Playable | None:
        """Return what moves in the run of the item of now. Raises UserError for a broken motion.

        A run that cannot tell gives way to the recording.
        """
        taught, run = self._items[self._course.place].taught, self._lesson_run()
        if taught is None or run is None:
            return None
        by = (run, self.recording)
        if [*map(id, by)] != [*map(id, self._played[0])]:
            self._played = (by, None)  # a broken one is told once
            evidence = evidence_of(self._session.words, taught, run, None, lambda: self.recording)
            if evidence is not None:
                self._played = (by, playable(taught, evidence.run, band=evidence.band))
        return self._played[1]

    def know_arms(self) -> None:
        """Give the course the arms that there are, in an order that new rows do not change."""
        run_state = self.run_state
        prepared = self._items[self._course.place]
        if prepared.view is None:
            return
        table = prepared.view.table
        rows = run_state.tables.get(table, []) if run_state is not None else []
        if (run_state is None or run_state.finished is None) and self.recording is not None:
            rows = [*self.recording.run_state.tables.get(table, []), *rows]
        self._course.know_arms(prepared.arms(rows))

    def _lesson_run(self) -> LessonRun | None:
        run_state = self.run_state
        if run_state is None or run_state.finished is None:
            return None
        if self._read[0] is not run_state.finished:
            here = None if self._course.turn.is_recording else self._session.machine
            self._read = (run_state.finished, lesson_run_of(run_state, here))
        return self._read[1]


def pause_s(loaded: LoadedRun | None) -> float:
    """Return the longest silence between two rows of a recording, 0 without one."""
    events = loaded.recording.events if loaded is not None and loaded.recording else ()
    times = [event.t_s for event in events if isinstance(event, messages.Row | messages.Frame)]
    return max((now - before for before, now in itertools.pairwise(times)), default=0.0)


def _stand_in(stand_ins: StandIns, prepared: Prepared) -> LoadedRun | None:
    """Return the recording that stands in for the run of an item. Raises UserError."""
    item, experiment = prepared.item, prepared.experiment
    best = stand_ins.find(item, experiment).best if experiment is not None else None
    return None if best is None else load(best.path, stand_ins.catalogue, is_opened=True)
