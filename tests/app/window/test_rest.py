from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication

from app.window.target import EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.window import Window
from tests.app.window.whole import STATES, Whole, show_page_failed, show_page_running
from widgets import theme as themes

REST_MS, LOOK_MS = 400, 100
FEW = 40  # layouts in a look; a window that lays itself out for ever does thousands
ROUNDS = 40  # of events, in each of which such a window asks for another layout


class Layouts(QObject):
    """Counts how often something is laid out anew."""

    count = 0

    def __enter__(self) -> Layouts:
        QApplication.instance().installEventFilter(self)
        return self

    def __exit__(self, *_error: object) -> None:
        QApplication.instance().removeEventFilter(self)

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

    with Layouts() as layouts:
        qtbot.wait(LOOK_MS)

    assert layouts.count < FEW


@pytest.mark.parametrize("state", STATES)
def test_every_state_comes_to_rest_whatever_the_size_of_the_text(look, tmp_path, state):
    whole = Whole(look, tmp_path)
    STATES[state](whole)
    whole.rest()

    counts = {1.0: layouts_at_rest()}
    whole.window.preferences.change(zoom=themes.ZOOMS[-1])
    layouts_at_rest()
    counts[themes.ZOOMS[-1]] = layouts_at_rest()
    whole.close()

    assert max(counts.values()) < ROUNDS / 2, counts


@pytest.mark.parametrize("show", [show_page_running, show_page_failed])
@pytest.mark.parametrize("zoom", [1.0, themes.ZOOMS[-1]])
def test_a_page_comes_to_rest_at_every_height(look, tmp_path, show, zoom):
    """A scroll bar that takes the room that it is needed for came and went at few heights."""
    whole = Whole(look, tmp_path)
    show(whole)
    whole.window.preferences.change(zoom=zoom)
    whole.rest()

    counts = {}
    for height in range(540, 740, 20):
        whole.window.resize(1280, height)
        layouts_at_rest()
        counts[height] = layouts_at_rest()
    whole.close()

    assert max(counts.values()) < ROUNDS / 2, counts


def layouts_at_rest() -> int:
    """Return how many layouts are asked for while nothing happens."""
    with Layouts() as layouts:
        for _ in range(ROUNDS):
            QApplication.processEvents()
    return layouts.count
