"""Keeps what a class votes and sees while a lecture is on its way, and makes its handout."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

from shiboken6 import isValid

from app.lecture.handout import find, handout
from app.lecture.lecture_state import Turn
from app.lecture.options import Options
from app.lecture.record import LectureRecord, RecordKeeper
from app.reports.document import Document
from app.reports.pictures import drawer
from app.window.core.session import Session
from app.window.lecture.conductor import Conductor
from app.window.lecture.items import stand_ins_of
from app.window.lecture.shown_runs import ShownRuns
from experiments.core.problems import Problem

Held = tuple[Turn, Options | None, str]  # the last is the id of the run, "" for none


class RecordWriter:
    """Follows a lecture, and outlives it. It always writes the newest state."""

    def __init__(self, session: Session, conductor: Conductor, path: Path | None) -> None:
        """Take a lecture that begins now; `path` is its file."""
        self._session, self.path = session, path
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._keeper = RecordKeeper(conductor.lecture, path, self._session.context.folder, at)
        self._known: dict[int, Held] = {}  # by place
        self._owed: dict[int, Held] = {}  # what of it is still to be written
        self._one = threading.Lock()  # one thread at a time writes
        self._is_told = False
        self.follow(conductor)
        self._session.closing.connect(self.write)  # later the background does nothing any more

    def follow(self, conductor: Conductor) -> None:
        """Follow a lecture, too, that goes on where this one was left."""
        runs = conductor.runs
        conductor.changed.connect(lambda: self._take(conductor, runs))

    @property
    def has_something(self) -> bool:
        """Is there a vote, or a run that was shown?"""
        return any(
            run or turn.first.total or turn.votes.total for turn, _, run in self._known.values()
        )

    def write(self) -> Problem | None:
        """Write what is owed; return why that could not be done. For any thread."""
        problem = None
        with self._one:
            while self._owed:
                place, (turn, options, run) = self._owed.popitem()
                problem = self._keeper.keep(place, turn, options, run)
        return problem

    def handout(self) -> Document:
        """Return the handout; takes a while, as the runs are read and drawn. For any thread."""
        self.write()
        return handout_of(self._session, self._keeper.record, self._keeper.origin)

    def _take(self, conductor: Conductor, runs: ShownRuns) -> None:
        place, turn = conductor.course.place, conductor.course.turn
        held = (turn, conductor.prepared.options, runs.run_id)
        if held != self._known.get(place):
            self._known[place] = self._owed[place] = held
            self._session.background.do(self.write, lambda problem: self._tell(problem, conductor))

    def _tell(self, problem: Problem | None, conductor: Conductor) -> None:
        """Show the presenter once that the record is not kept; the lecture goes on."""
        if problem is None or self._is_told:
            return
        self._is_told = True
        told = Problem("lecture_not_kept", problem.values)
        if isValid(conductor):
            conductor.remark(told)
        else:
            self._session.troubled.emit(told)


def handout_of(session: Session, record: LectureRecord, path: Path) -> Document:
    """Return the handout of a record, whose lecture's file is `path` or stands beside it.

    It takes a while. For any thread.
    """
    found = find(record, stand_ins_of(session, path))
    return handout(session.words, record, found, drawer(session.words))
