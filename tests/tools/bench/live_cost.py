"""The cost of Live at 2 Hz: the window and the worker that looks at the machine together."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.core.units import show
from tests.tools.bench.lines import Line

SETTLING_S, SECONDS = 4.0, 20.0  # a process is told its time in steps of 10 ms
BUDGET_FRACTION = 0.01
SIZE = (1440, 900)


def lines() -> Iterator[Line]:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        own, worker = _measure(Path(folder))
    yield Line("Live at 2 Hz, the window alone, share of one core", show(own, "fraction"))
    yield Line(
        "Live at 2 Hz, window and worker, share of one core",
        show(own + worker, "fraction"),
        show(BUDGET_FRACTION, "fraction"),
        own + worker <= BUDGET_FRACTION,
    )


def _measure(folder: Path) -> tuple[float, float]:
    """Return the shares of one core that this process and the worker use while Live is seen."""
    import psutil
    from PySide6.QtCore import QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    from app.context import Context
    from app.window.core.session import Session
    from app.window.core.settings import Settings
    from app.window.core.target import LIVE, Target
    from app.window.live.place import LivePlace
    from app.window.shell.window import Window
    from widgets.style import theme
    from widgets.style.look import Look

    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    theme.add_fonts()
    look = Look(theme.load("dark"))
    look.wear(look.theme)
    session = Session(Context(data=folder), look, Settings())
    loop = QEventLoop()

    def wait(seconds: float) -> None:
        QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()

    window = Window(session)
    try:
        window.resize(*SIZE)
        window.show()
        window.wake()
        window.go(Target(LIVE))
        place = window.place
        assert isinstance(place, LivePlace)
        wait(SETTLING_S)
        assert place.samples, "no sample came"
        worker = psutil.Process(session.watcher.pid)
        own_s, worker_s = time.process_time(), sum(worker.cpu_times()[:2])
        start_s, count = time.perf_counter(), len(place.samples)
        wait(SECONDS)
        passed_s = time.perf_counter() - start_s
        own_s = time.process_time() - own_s
        worker_s = sum(worker.cpu_times()[:2]) - worker_s
        assert len(place.samples) - count >= SECONDS, "too few samples came"
        return own_s / passed_s, worker_s / passed_s
    finally:
        session.close()
        window.deleteLater()
