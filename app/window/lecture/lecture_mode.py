"""Lecture mode: begins a lecture over the window, and gives the window back as it was."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.lecture.file import Lecture
from experiments.core.problems import Problem, UserError

if TYPE_CHECKING:
    from app.reports.document import Document
    from app.window.lecture.conductor import Conductor, Left
    from app.window.lecture.record_writer import RecordWriter
    from app.window.lecture.windows import LectureWindows
    from app.window.shell.window import Window


MOST_LEFT = 5


class LectureMode(QObject):
    """Holds at most one lecture at a time; the lecture that was held last has a handout."""

    kept = Signal()  # there is another lecture to make a handout of

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        self.conductor: Conductor | None = None
        self.windows: LectureWindows | None = None
        self._writer: RecordWriter | None = None  # of the lecture on its way
        # The last ones that were left before their end.
        self._left: list[tuple[Left, RecordWriter]] = []
        self._held: RecordWriter | None = None  # of the one that was held last
        self._is_closing = False
        self._session.closing.connect(self._close)

    @property
    def has_handout(self) -> bool:
        """Was a lecture held, with votes or runs?"""
        return self._held is not None

    def begin(self, lecture: Lecture, path: Path | None = None) -> None:
        """Begin a lecture; `path` is its file. One that was left goes on where it stood."""
        if self.conductor is not None or not self._session.is_awake:
            return
        if not lecture.item:
            self._session.troubled.emit(Problem("lecture_without_items"))
            return
        from app.window.lecture.conductor import Conductor
        from app.window.lecture.record_writer import RecordWriter
        from app.window.lecture.windows import LectureWindows

        before, self._writer = self._take_left(lecture, path)
        self.conductor = Conductor(self._session, lecture, path, before)
        if self._writer is None:
            self._writer = RecordWriter(self._session, self.conductor, path)
        else:
            self._writer.follow(self.conductor)
        self.conductor.left.connect(self._end)
        self.conductor.wanted_anew.connect(partial(self._begin_anew, lecture, path))
        self._window.place.leave()
        self.windows = LectureWindows(self._session, self.conductor, self._window.screen())

    def leave(self) -> None:
        """End the lecture, if there is one."""
        if self.conductor is not None:
            self.conductor.leave()

    def show_handout(self) -> None:
        """Show the handout of the lecture that was held last, before it is saved."""
        if self._held is not None:
            self._show_handout(self._held.handout)

    def show_record(self, path: Path) -> None:
        """Show the handout of a record that the user has kept."""
        from app.lecture.record import read
        from app.window.lecture.record_writer import handout_of

        try:
            record = read(path)
        except UserError as trouble:
            self._session.troubled.emit(trouble.problem)
        else:
            self._show_handout(partial(handout_of, self._session, record, path))

    def _show_handout(self, make: Callable[[], Document]) -> None:
        from app.window.core.reporting import open_handout

        open_handout(self._session, self._window, make)

    def _close(self) -> None:
        self._is_closing = True
        self.leave()

    def _begin_anew(self, lecture: Lecture, path: Path | None) -> None:
        self.leave()
        self._take_left(lecture, path)
        self.begin(lecture, path)

    def _take_left(
        self, lecture: Lecture, path: Path | None
    ) -> tuple[Left, RecordWriter] | tuple[None, None]:
        """Return where this lecture was left, and forget it; None where it was not."""
        for place, (left, writer) in enumerate(self._left):
            if (left.lecture, writer.path) == (lecture, path):
                return self._left.pop(place)
        return None, None

    def _offer(self) -> None:
        """Offer the handout, if it has any content."""
        writer, self._writer = self._writer, None
        if writer is not None and writer.has_something and not self._is_closing:
            self._held = writer
            self.kept.emit()
            say = self._session.words.say
            self._session.tell(say("handout.ended"), say("handout.short"), self.show_handout)

    def _end(self) -> None:
        conductor, windows = self.conductor, self.windows
        self.conductor = self.windows = None
        if windows is not None:
            windows.close()
        if conductor is not None:
            if conductor.is_under_way and self._writer is not None:
                left = conductor.to_come_back(), self._writer
                self._left = [*self._left, left][-MOST_LEFT:]
            conductor.close()
        self._window.activateWindow()
        self._window.place.arrive()
        self._offer()
