"""The time from a run's last event to the explanation on the screen."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app import garbage
from experiments.core.catalogue import Catalogue
from experiments.core.shelves import homes
from experiments.core.teaching.lessons import taught
from experiments.core.units import show
from experiments.engine.recording import read
from tests.tools.bench.lines import Line
from widgets.lesson.steps import Step

BUDGET_S = 0.1


def lines() -> Iterator[Line]:
    from PySide6.QtWidgets import QApplication

    from widgets.style import theme as themes
    from widgets.style.look import Look

    application = QApplication.instance() or QApplication([])
    themes.add_fonts()
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    known = homes()
    shown = [each for each in Catalogue() if known[each.id].recording is not None]
    written = [each.id for each in shown if taught(each, known[each.id]) is not None]
    garbage.leave_to_us()  # as the window does
    times = {id_: _explained_s(application, look, id_) for id_ in written}
    gc.enable()
    lasted, computed = ({id_: pair[place] for id_, pair in times.items()} for place in (0, 1))
    yield Line(
        f"from the last event to the explanation, the slowest of {len(times)} lessons",
        _slowest(lasted),
        show(BUDGET_S, "s"),
        max(lasted.values()) <= BUDGET_S,
    )
    yield Line("of it the window's own thread computes", _slowest(computed))


def _slowest(times: dict[str, float]) -> str:
    slowest = max(times, key=lambda id_: times[id_])
    half = sorted(times.values())[len(times) // 2]
    return f"{show(times[slowest], 's')} ({slowest}), half {show(half, 's')}"


def _explained_s(application: Any, look: Any, id_: str) -> tuple[float, float]:
    """Return the seconds until a run like the shipped one is explained, and those of this thread.

    Its question was answered before.
    """
    from tests.app.window.stage import Stage, settle

    path = homes()[id_].recording
    assert path is not None
    recording = read(path)
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(look, Path(folder), numbers=False)
        stage.page.resize(1360, 820)
        stage.page.show()
        stage.page.arrive()
        stage.know_machine()
        stage.page.open(id_)
        lesson = stage.page.lesson.model
        lesson.answer(None)
        lesson.observe()
        stage.do.run.trigger()
        stage.runner.hear(recording.started, *recording.events)
        settle(lambda: not stage.drawing.isActive())
        eye = _eye()
        application.installEventFilter(eye)
        start_s, thread_s = time.perf_counter(), time.thread_time()
        stage.runner.hear(recording.finished)
        assert lesson.step is Step.EXPLAIN
        settle(lambda: eye.seen_s is not None)
        took_s, computed_s = eye.seen_s - start_s, eye.computed_s - thread_s
        application.removeEventFilter(eye)
        stage.close()
    garbage.collect_due()
    return took_s, computed_s


def _eye() -> Any:
    """Return a filter of events that notes when an explanation has first been painted."""
    from PySide6.QtCore import QEvent, QObject
    from PySide6.QtWidgets import QLabel

    from widgets.lesson.explanation import Explanation

    class Eye(QObject):
        seen_s: float | None = None
        computed_s = 0.0

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            is_words = event.type() == QEvent.Type.Paint and isinstance(watched, QLabel)
            if is_words and self.seen_s is None and isinstance(watched.parent(), Explanation):
                self.seen_s, self.computed_s = time.perf_counter(), time.thread_time()
            return False

    return Eye()
