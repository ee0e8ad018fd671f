"""A lecture over the real window: how soon after its key each run moves on the slide.

`python -m tests.tools.bench.lecture_window DATA LECTURE`: a line of JSON for each of its items.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.context import Context
from app.lecture.file import read
from app.window.core.runner import Runner
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.lecture.conductor import Conductor
from app.window.lecture.windows import LectureWindows
from app.window.shell.window import Window
from tests.tools.pictures import until, wait_s
from widgets.lecture.slide_plot import SlidePlot
from widgets.style import theme as themes
from widgets.style.look import Look

READING_S = 6.0  # a class reads the question; the run is ready by then
LAST_ROWS_S = 1.0  # until they are drawn, where the first that may be seen are the last


class FirstPoint(QObject):
    """Notes when a plot has painted the first mark that may be seen."""

    def __init__(self, plot: SlidePlot) -> None:
        super().__init__(plot)
        self._plot, self._before = plot, plot.summary()
        self.at_s: float | None = None
        plot.installEventFilter(self)

    def eventFilter(self, _plot: QObject, event: QEvent) -> bool:
        """Look again as soon as it is painted."""
        if event.type() is QEvent.Type.Paint and self.at_s is None:
            QTimer.singleShot(0, self, self._look)
        return False

    def _look(self) -> None:
        if self.at_s is None and self._plot.summary() != self._before:
            self.at_s = time.perf_counter()


def main(data: Path, path: Path) -> None:
    """Lead through a lecture, and say what was seen of each run."""
    application = QApplication([])
    themes.add_fonts()
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    session = Session(Context(data=data), look, Settings())
    window = Window(session)
    window.painted.connect(window.wake)
    window.show()
    lecture = read(path)
    until(lambda: lecture.item[0].experiment in session.entries)
    session.asked_for_lecture.emit(lecture, path)
    conductor, shown = window.lecture_mode.conductor, window.lecture_mode.windows
    assert conductor is not None
    assert shown is not None
    for place, item in enumerate(lecture.item):
        conductor.go(place)
        until(lambda: conductor.runs.is_read(conductor.course.place))
        wait_s(READING_S)
        sys.stdout.write(
            json.dumps({"id": item.experiment, **_run(session.runner, conductor, shown)}) + "\n"
        )
        conductor.show_recording()  # which ends the run
        until(lambda: not session.runner.is_running)
    session.close()
    application.quit()


def _run(runner: Runner, conductor: Conductor, shown: LectureWindows) -> dict[str, object]:
    """Press the key that begins the run; return the seconds to its first row and visible mark."""
    audience = shown.audience
    if conductor.course.turn.options:
        QTest.keyClick(audience, Qt.Key.Key_PageDown)
    is_ready = runner.is_at_rest
    times: dict[str, float] = {}

    def note() -> None:
        run_state = runner.run_state
        now_s = time.perf_counter() - begun_s
        if run_state is not None and (run_state.rows or run_state.frames):
            times.setdefault("row_s", now_s)

    runner.moved.connect(note)
    plot = audience.slide.plot
    assert plot is not None
    first = FirstPoint(plot)
    begun_s = time.perf_counter()
    QTest.keyClick(audience, Qt.Key.Key_PageDown)
    until(lambda: first.at_s is not None or not runner.is_running)
    until(lambda: first.at_s is not None, LAST_ROWS_S)
    runner.moved.disconnect(note)
    point_s = first.at_s - begun_s if first.at_s is not None else None
    return {"is_ready": is_ready, **times, "point_s": point_s}


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
