"""A real window in which a run is started by a click: how soon it moves, how late its turns are.

`python -m tests.tools.bench.running_window DATA EXPERIMENT`: one line of JSON on standard output.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from app.context import Context
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.core.target import EXPERIMENTS
from app.window.shell.window import Window
from tests.tools.bench.heart import Heart
from tests.tools.pictures import until, wait_s
from widgets.style import theme as themes
from widgets.style.look import Look

READING_S = 3.0  # a person reads the page before the click; the process is warm by then


def main(data: Path, experiment: str) -> None:
    """Click, watch, and say what was seen."""
    application = QApplication([])
    themes.add_fonts()
    look = Look(themes.load("dark"))
    look.wear(look.theme)
    session = Session(Context(data=data), look, Settings(numbers=True))
    window = Window(session)
    window.resize(1440, 900)
    window.painted.connect(window.wake)
    window.show()
    until(lambda: experiment in session.entries)
    session.go(EXPERIMENTS, experiment=experiment)
    wait_s(READING_S)

    words = session.words.say("page.run")
    run = next(
        button
        for button in window.findChildren(QPushButton)
        if button.isVisible() and button.text().startswith(words)
    )
    first: list[float] = []
    session.runner.moved.connect(lambda: first.append(time.perf_counter()))
    clicked_s = time.perf_counter()
    QTest.mouseClick(run, Qt.MouseButton.LeftButton, pos=QPoint(9, 9))
    until(lambda: bool(first), 20)

    heart = Heart()
    heart.start()
    until(lambda: not session.runner.is_running, 90)
    heart.stop()
    run_state = session.runner.run_state
    said = {
        "outcome": run_state.finished.outcome,
        "first_s": first[0] - clicked_s,
        "gaps_s": heart.gaps_s,
    }
    sys.stdout.write(json.dumps(said) + "\n")
    session.close()
    application.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
