from __future__ import annotations

import pytest

from app.window.core.target import EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.shell.window import Window
from tests.app.window.layouts import Layouts, is_restless
from tests.app.window.whole import Whole, show_page_failed, show_page_of_code, show_page_running
from widgets.style import theme as themes

LOOKS, LOOK_MS = 5, 100  # a window comes to rest within so many looks
FEW = 40  # layouts in a look; a window that lays itself out for ever does thousands


def comes_to_rest(qtbot) -> bool:
    qtbot.wait(LOOK_MS)
    for _ in range(LOOKS):
        with Layouts() as layouts:
            qtbot.wait(LOOK_MS)
        if layouts.count < FEW:
            return True
    return False


@pytest.mark.parametrize(
    "target",
    [
        Target(MAP),
        Target(LIVE),
        Target(EXPERIMENTS),
        Target(EXPERIMENTS, experiment="cache-ladder"),
        Target(EXPERIMENTS, experiment="clinic"),
        Target(RUNS),
    ],
    ids=["map", "live", "catalogue", "page", "code", "runs"],
)
def test_a_window_that_is_left_alone_comes_to_rest(qtbot, worn, session, target):
    window = Window(session)
    qtbot.addWidget(window)
    window.furnish()
    window.resize(820, 700)
    window.show()
    window.go(target)
    assert comes_to_rest(qtbot)

    window.resize(1440, 700)
    assert comes_to_rest(qtbot)


@pytest.mark.parametrize(
    ("show", "zoom"),
    [
        (show_page_running, 1.0),
        (show_page_running, themes.ZOOMS[-1]),
        (show_page_failed, themes.ZOOMS[-1]),
        (show_page_of_code, 1.0),
    ],
)
def test_a_page_comes_to_rest_at_every_height(worn, tmp_path, show, zoom):
    """A scroll bar that takes the room that it is needed for came and went at few heights."""
    whole = Whole(worn, tmp_path)
    show(whole)
    whole.window.preferences.change(zoom=zoom)
    whole.rest()

    restless = []
    for height in range(540, 740, 20):
        whole.window.resize(1280, height)
        if is_restless():
            restless.append(height)
    whole.close()

    assert restless == []
