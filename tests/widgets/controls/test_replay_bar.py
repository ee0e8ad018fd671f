from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton

from tests.widgets.runs.samples import WORDS, worn
from widgets.controls.replay_bar import ReplayBar

LEFT = Qt.MouseButton.LeftButton
RING_ROWS = 10  # of the outermost column of pixels, which a whole ring only touches


@pytest.fixture
def bar(qtbot):
    bar = ReplayBar(worn(), WORDS)
    qtbot.addWidget(bar)
    bar.resize(800, 50)
    with qtbot.waitExposed(bar):
        bar.show()
    bar.activateWindow()
    bar.show_state(2.13, 11.84, is_playing=False)
    bar.asked = []
    bar.play_asked.connect(lambda speed: bar.asked.append(("play", speed)))
    bar.pause_asked.connect(lambda: bar.asked.append(("pause",)))
    bar.step_asked.connect(lambda back: bar.asked.append(("step", back)))
    bar.seek_asked.connect(lambda t_s: bar.asked.append(("seek", t_s)))
    bar.restart_asked.connect(lambda: bar.asked.append(("restart",)))
    return bar


def speed_chips(bar):
    return [each for each in bar.findChildren(QPushButton) if each.isCheckable()]


def test_the_ring_of_the_handle_is_whole_at_both_ends(bar):
    slider = bar.slider
    slider.setFocus()
    for value, edge in ((slider.minimum(), 0), (slider.maximum(), slider.width() - 1)):
        slider.setValue(value)
        picture = slider.grab().toImage()
        ground = picture.pixelColor(edge, 0)
        rows = [y for y in range(picture.height()) if picture.pixelColor(edge, y) != ground]
        assert 0 < len(rows) <= RING_ROWS, "a cut ring would be longer at the edge"


def test_it_shows_where_the_recording_stands(bar):
    assert bar.findChild(QLabel).text() == "2.1 of 11.8 s"
    assert bar.slider.value() == 2130
    assert bar.slider.maximum() == 11840
    assert bar.slider.accessibleDescription() == "2.1 of 11.8 s"
    assert bar.asked == []


def test_what_is_not_played_is_told_where_one_points_at_the_time(bar):
    assert bar.slider.toolTip() == bar.findChild(QLabel).toolTip() == ""
    bar.show_state(0.0, 5.84, is_playing=False, left_out_s=6.0)
    assert "6 s" in bar.slider.toolTip()
    assert bar.findChild(QLabel).toolTip() == bar.slider.toolTip()
    bar.show_state(0.0, 11.84, is_playing=False)
    assert bar.slider.toolTip() == ""


def test_the_last_position_of_the_slider_is_the_end_of_the_run(bar):
    bar.show_state(0.41000000000000003, 0.41000000000000003, is_playing=False)
    assert bar.slider.value() == bar.slider.maximum()
    bar.slider.setValue(0)
    bar.asked.clear()
    bar.slider.setValue(bar.slider.maximum())
    ((_, t_s),) = bar.asked
    assert t_s >= 0.41000000000000003


def test_the_button_plays_and_then_pauses(qtbot, bar):
    qtbot.mouseClick(bar.play_button, LEFT)
    bar.show_state(2.2, 11.84, is_playing=True)
    assert bar.play_button.accessibleName() == WORDS.say("replay.pause")
    qtbot.mouseClick(bar.play_button, LEFT)
    assert bar.asked == [("play", 1.0), ("pause",)]
    bar.show_state(2.2, 11.84, is_playing=False)
    assert bar.play_button.accessibleName() == WORDS.say("replay.play")


@pytest.mark.parametrize(
    ("key", "asked"),
    [
        (Qt.Key.Key_Space, ("play", 1.0)),
        (Qt.Key.Key_Comma, ("step", True)),
        (Qt.Key.Key_Period, ("step", False)),
        (Qt.Key.Key_End, ("seek", 11.84)),
        (Qt.Key.Key_Home, ("seek", 0.0)),
    ],
)
def test_keys_play_step_and_seek_while_the_bar_has_the_focus(qtbot, bar, key, asked):
    bar.setFocus()
    qtbot.keyClick(bar.focusWidget(), key)
    assert bar.asked == [asked]


def test_a_click_on_a_button_leaves_the_keys_to_the_bar(qtbot, bar):
    for button in (bar.step_button, *speed_chips(bar), bar.play_button):
        bar.restart_button.setFocus()
        qtbot.mouseClick(button, LEFT)
        bar.asked.clear()
        qtbot.keyClick(bar.window().focusWidget(), Qt.Key.Key_Comma)
        qtbot.keyClick(bar.window().focusWidget(), Qt.Key.Key_Space)
        assert bar.asked == [("step", True), ("play", bar.speed)]
    assert all(
        each.focusPolicy() & Qt.FocusPolicy.TabFocus for each in bar.findChildren(QPushButton)
    )


def test_space_pauses_what_plays(qtbot, bar):
    bar.show_state(2.2, 11.84, is_playing=True)
    bar.setFocus()
    qtbot.keyClick(bar.focusWidget(), Qt.Key.Key_Space)
    assert bar.asked == [("pause",)]


@pytest.mark.parametrize(
    ("button", "asked"),
    [
        ("back_button", ("step", True)),
        ("step_button", ("step", False)),
        ("restart_button", ("restart",)),
    ],
)
def test_buttons_step_and_begin_anew(qtbot, bar, button, asked):
    qtbot.mouseClick(getattr(bar, button), LEFT)
    qtbot.keyClick(getattr(bar, button), Qt.Key.Key_Space)
    assert bar.asked == [asked, asked]


def test_the_slider_seeks_where_it_is_pressed_and_dragged(qtbot, bar):
    middle = QPoint(bar.slider.width() // 2, bar.slider.height() // 2)
    qtbot.mousePress(bar.slider, LEFT, pos=middle)
    assert bar.asked[-1][1] == pytest.approx(11.84 / 2, abs=0.1)
    bar.show_state(1.0, 11.84, is_playing=True)  # it plays on meanwhile
    assert bar.slider.value() == pytest.approx(11840 / 2, abs=100)
    qtbot.mouseMove(bar.slider, QPoint(bar.slider.width() + 50, middle.y()))
    assert bar.asked[-1] == ("seek", 11.84)
    qtbot.mouseRelease(bar.slider, LEFT)


def test_another_speed_is_taken_at_once_while_it_plays_else_with_the_next_play(qtbot, bar):
    one, four = speed_chips(bar)
    qtbot.mouseClick(four, LEFT)
    assert bar.asked == []
    qtbot.mouseClick(bar.play_button, LEFT)
    bar.show_state(2.2, 11.84, is_playing=True)
    qtbot.keyClick(one, Qt.Key.Key_Space)
    assert bar.asked == [("play", 4.0), ("play", 1.0)]
    assert (one.isChecked(), four.isChecked()) == (True, False)


def test_showing_where_it_stands_asks_for_nothing_and_moves_nothing(qtbot, bar):
    place = bar.slider.geometry()
    for tenth in range(119):
        bar.show_state(tenth / 10, 11.84, is_playing=True)
        qtbot.wait(0)
        assert bar.slider.geometry() == place
    assert bar.asked == []


def test_every_control_has_a_name(bar):
    for each in (*bar.findChildren(QPushButton), bar.slider):
        assert each.accessibleName()


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_it_fits_a_narrow_column_at_large_text(qtbot, mode):
    bar = ReplayBar(worn(mode, 1.6), WORDS)
    qtbot.addWidget(bar)
    bar.show_state(2.1, 11.8, is_playing=True)
    assert bar.minimumSizeHint().width() < 620
