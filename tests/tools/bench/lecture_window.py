"""A lecture over the real window: how soon after its key each run moves on the slide.

`python -m tests.tools.bench.lecture_window DATA EXPERIMENT...`: a line of JSON for each of them.
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
from app.lecture.file import Item, Lecture
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.lecture.conductor import Conductor
from app.window.lecture.show import Show
from app.window.shell.window import Window
from tests.tools.pictures import until, wait_s
from widgets.lecture.slide_plot import SlidePlot
from widgets.style import theme as themes
from widgets.style.look import Look

READING_S = 5.0  # a class reads the question; the process is warm by then
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


def main(data: Path, experiments: list[str]) -> None:
    """Lead through a lecture of these experiments, and say what was seen of each run."""
    application = QApplication([])
    themes.add_fonts()
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    session = Session(Context(data=data), look, Settings())
    window = Window(session)
    window.painted.connect(window.wake)
    window.show()
    until(lambda: experiments[0] in session.entries)
    items = tuple(Item(experiment=each) for each in experiments)
    session.asked_for_lecture.emit(Lecture(item=items), None)
    conductor, shown = window.lecture_mode.conductor, window.lecture_mode.show
    assert conductor is not None
    assert shown is not None
    for place, experiment in enumerate(experiments):
        conductor.go(place)
        until(lambda: conductor.recordings.is_read(conductor.course.place))
        wait_s(READING_S)
        sys.stdout.write(json.dumps({"id": experiment, **_run(conductor, shown)}) + "\n")
        conductor.show_recording()  # which ends the run
        until(lambda: not session.runner.is_running)
    session.close()
    application.quit()


def _run(conductor: Conductor, shown: Show) -> dict[str, object]:
    """Press the key that begins the run; return the seconds to its first row and visible mark."""
    runner, audience = conductor.session.runner, shown.audience
    experiment = conductor.prepared.experiment
    assert experiment is not None
    if conductor.course.turn.options:
        QTest.keyClick(audience, Qt.Key.Key_PageDown)
    is_warm = runner.is_warm(experiment)
    times: dict[str, float] = {}

    def note() -> None:
        run_state = runner.run_state
        now_s = time.perf_counter() - begun_s
        if run_state is not None and run_state.started is not None:
            times.setdefault("started_s", now_s)
            if run_state.rows or run_state.frames:
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
    return {"is_warm": is_warm, **times, "point_s": point_s}


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
