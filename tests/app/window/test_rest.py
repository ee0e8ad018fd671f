from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from app.window.target import EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.window import Window

REST_MS = 400
FEW = 40  # layouts in that time; a window that lays itself out for ever does thousands


class Layouts(QObject):
    """Counts how often something is laid out anew."""

    count = 0

    def eventFilter(self, watched, event) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


@pytest.mark.parametrize(
    "target",
    [
        Target(MAP),
        Target(LIVE),
        Target(EXPERIMENTS),
        Target(EXPERIMENTS, experiment="cache-ladder"),
        Target(RUNS),
    ],
    ids=["map", "live", "catalogue", "page", "runs"],
)
@pytest.mark.parametrize("width", [820, 1440])
def test_a_window_that_is_left_alone_comes_to_rest(qtbot, session, target, width):
    window = Window(session)
    qtbot.addWidget(window)
    window.furnish()
    window.resize(width, 700)
    window.show()
    window.go(target)
    qtbot.wait(REST_MS)

    layouts = Layouts()
    QApplication.instance().installEventFilter(layouts)
    qtbot.wait(REST_MS)
    QApplication.instance().removeEventFilter(layouts)

    assert layouts.count < FEW
