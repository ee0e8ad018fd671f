from __future__ import annotations

import pytest

from app.window.core.target import EXPERIMENTS, LIVE, MAP, RUNS, Target
from app.window.shell.window import Window
from tests.app.window.layouts import Layouts, is_restless
from tests.app.window.whole import Whole, show_page_failed, show_page_of_code, show_page_running
from widgets.style import theme as themes

REST_MS, LOOK_MS = 400, 100
FEW = 40  # layouts in a look; a window that lays itself out for ever does thousands


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


@pytest.mark.parametrize("show", [show_page_running, show_page_failed, show_page_of_code])
@pytest.mark.parametrize("zoom", [1.0, themes.ZOOMS[-1]])
def test_a_page_comes_to_rest_at_every_height(look, tmp_path, show, zoom):
    """A scroll bar that takes the room that it is needed for came and went at few heights."""
    whole = Whole(look, tmp_path)
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
