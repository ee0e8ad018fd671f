"""Lecture mode: begins a lecture over the window, and gives the window back as it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.lecture.file import Lecture
from experiments.core.problems import Problem

if TYPE_CHECKING:
    from app.window.lecture.conductor import Conductor
    from app.window.lecture.show import Show
    from app.window.shell.window import Window


class LectureMode(QObject):
    """At most one lecture at a time."""

    def __init__(self, window: Window) -> None:
        super().__init__(window)
        self._window, self._session = window, window.session
        self.conductor: Conductor | None = None
        self.show: Show | None = None
        self._session.closing.connect(self.leave)

    def begin(self, lecture: Lecture, path: Path | None = None) -> None:
        """Begin a lecture with its first question; `path` is its file."""
        if self.conductor is not None or not self._session.is_awake:
            return
        if not lecture.item:
            self._session.troubled.emit(Problem("lecture_without_items"))
            return
        from app.window.lecture.conductor import Conductor
        from app.window.lecture.show import Show

        self.conductor = Conductor(self._session, lecture, path)
        self.conductor.left.connect(self._end)
        self._window.place.leave()
        self.show = Show(self.conductor, self._window.screen())

    def leave(self) -> None:
        """End the lecture, if there is one."""
        if self.conductor is not None:
            self.conductor.leave()

    def _end(self) -> None:
        conductor, show = self.conductor, self.show
        self.conductor = self.show = None
        if show is not None:
            show.close()
        if conductor is not None:
            conductor.live.deleteLater()
            conductor.recordings.deleteLater()
            conductor.deleteLater()
        self._window.activateWindow()
        self._window.place.arrive()
