"""The runs and recordings of a lecture: which one is shown, what of it, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from app.lecture.lecture_state import LectureState
from app.loaded_run import LoadedRun, lesson_run_of
from app.window.core.session import Session
from app.window.lecture.items import Prepared
from app.window.lecture.recordings import Recordings
from experiments.core.judging.trust import Trust
from experiments.core.teaching.lesson_run import LessonRun
from experiments.engine.run_state import RunState
from widgets.plots.contents import label_column


class ShownRuns:
    """Follows the course; `measured` are the runs made here, by place."""

    def __init__(
        self,
        session: Session,
        items: Sequence[Prepared],
        course: LectureState,
        recordings: Recordings,
    ) -> None:
        self._session, self._items = session, items
        self._course, self._recordings = course, recordings
        self.measured: dict[int, RunState] = {}
        self._read: tuple[object, LessonRun | None] = (None, None)

    @property
    def recording(self) -> LoadedRun | None:
        """The recording of the item of now, if it is read."""
        return self._recordings.get(self._course.place)

    @property
    def run_state(self) -> RunState | None:
        """The run that is shown, or what of it has come."""
        return self.of(self._course)

    @property
    def is_disturbed(self) -> bool:
        """Was the run made here so disturbed that it cannot tell what was asked?"""
        run_state = self.measured.get(self._course.place)
        finished = run_state.finished if run_state is not None else None
        finding = finished.finding if finished is not None else None
        return finding is not None and finding.trust is Trust.DISTURBED

    @property
    def run_id(self) -> str:
        """The id of the run that is shown as a whole, "" for none."""
        run_state = self.run_state if self._course.turn.is_measured else None
        return run_state.started.run if run_state is not None and run_state.started else ""

    def of(self, course: LectureState) -> RunState | None:
        """Return the run that is shown at the place of a course."""
        if not course.turn.is_recording:
            return self.measured.get(course.place)
        recording = self._recordings.get(course.place)
        return recording.run_state if recording is not None else None

    def expected(self, course: LectureState, table: str) -> Sequence[Any]:
        """Return the rows of the recording at the place of a course, before there are others."""
        recording = self._recordings.get(course.place)
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
        """Return the right option of the item of now, None while nobody knows."""
        prepared, run = self._items[self._course.place], self._lesson_run()
        if run is None or prepared.options is None or prepared.taught is None:
            return None
        return prepared.options.right(prepared.taught, run)

    def know_arms(self) -> None:
        """Tell the course the arms that there are, in an order that new rows do not change."""
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
