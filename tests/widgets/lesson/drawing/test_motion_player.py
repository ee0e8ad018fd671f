from __future__ import annotations

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QLabel

from experiments.core import words
from experiments.core.teaching.diagram import Box, Diagram
from experiments.core.teaching.motion import Count, Motion, Say, Scene, Travel
from experiments.core.teaching.playable import Playable
from widgets.lesson.drawing import motion_player
from widgets.lesson.drawing.diagram import DiagramView
from widgets.lesson.drawing.motion_painter import MotionPainter
from widgets.lesson.drawing.motion_player import MotionPlayer
from widgets.lesson.drawing.playback import BETWEEN_S, ROUNDS

ENGLISH = words.load("en")
Key = Qt.Key
DURATION_S = 200e-9  # 6 s on the screen
LOAD = Playable(
    diagram=Diagram(
        size=(24, 4),
        shapes=(
            Box(at=(0, 1), size=(4, 2), label="core", name="core"),
            Box(at=(18, 1), size=(6, 2), label="memory", name="memory"),
        ),
    ),
    labels={"core": "core", "memory": "memory", "about": "A core, and memory far away."},
    motion=Motion(
        scenes=(
            Scene(
                title="near",
                events=(
                    Travel(along=("core", "memory"), start_s=0.0, end_s=20e-9, returns=True),
                    Count(shape="core", label="n", end_s=DURATION_S, every_s=20e-9),
                ),
            ),
            Scene(
                title="far",
                events=(
                    Travel(along=("core", "memory"), start_s=0.0, end_s=DURATION_S, returns=True),
                ),
            ),
        ),
        duration_s=DURATION_S,
        stills=(0.0, 100e-9, DURATION_S),
        says=(Say(text="leave", start_s=0.0), Say(text="back", start_s=20e-9)),
    ),
    texts={
        "title": "One load each",
        "point": "Point at the line.",
        "near": "a",
        "far": "b",
        "n": "loads: {n}",
        "leave": "Both leave.",
        "back": "One is back.",
    },
)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def spoken(monkeypatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(motion_player, "announce", lambda _widget, text: said.append(text))
    return said


@pytest.fixture
def player(look, shown, clock, spoken):
    made = MotionPlayer(ENGLISH, look, clock)
    made.show_motion(LOAD)
    return shown(made, 800)


def pass_s(player, clock, seconds: float) -> None:
    """Let time pass, a frame every 20 ms."""
    for _ in range(round(seconds / 0.02)):
        clock.now_s += 0.02
        player.playback.move_on()


def seen(player) -> str:
    return " ".join(each.text() for each in player.findChildren(QLabel) if each.isVisible())


def press(qtbot, player, *keys) -> None:
    for key in keys:
        qtbot.keyClick(player.slider, key)


def views(player) -> int:
    return sum(each.isVisible() for each in player.findChildren(DiagramView))


def test_it_plays_by_itself_three_rounds_and_then_stands_at_the_end(player, clock):
    assert player.playback.is_playing
    pass_s(player, clock, 3.0)
    assert player.playback.t_s == pytest.approx(DURATION_S / 2, rel=0.02)
    assert "100 of 200 ns" in seen(player)
    pass_s(player, clock, 3.1)
    assert player.playback.t_s == DURATION_S
    assert player.playback.is_playing

    pass_s(player, clock, (ROUNDS - 1) * (6.0 + BETWEEN_S) + 0.2)
    assert not player.playback.is_playing
    assert player.playback.t_s == DURATION_S


def test_title_hint_time_and_slowness_are_words(player):
    for text in ("One load each", "Point at the line.", "slowed 30 million times", "Both leave."):
        assert text in seen(player)


@pytest.mark.parametrize(
    ("slowed", "told"),
    [(1.0, "as fast as it was"), (0.1, "shown 10 times faster"), (3e4, "slowed 30 thousand times")],
)
def test_how_slow_it_is_shown_is_told_in_words(player, slowed, told):
    player.show_motion(replace(LOAD, motion=replace(LOAD.motion, slowed=slowed)))
    assert told in seen(player)


def test_with_less_motion_three_stills_stand_side_by_side_and_the_slider_moves_one(qtbot, player):
    player.show_motion(LOAD, is_calm=True)

    assert not player.playback.is_playing
    assert views(player) == 3
    assert all(text in seen(player) for text in ("0 ns", "100 ns", "200 ns"))
    press(qtbot, player, Key.Key_Right)
    assert views(player) == 1
    assert not player.playback.is_playing
    press(qtbot, player, Key.Key_Space)  # whoever asks for it may see it move
    assert player.playback.is_playing


def test_keys_play_pause_and_step_from_event_to_event_and_say_so(qtbot, player, spoken):
    press(qtbot, player, Key.Key_Space)
    assert not player.playback.is_playing
    assert spoken == ["0 of 200 ns. Both leave."]
    press(qtbot, player, Key.Key_Right)
    assert player.playback.t_s == 20e-9
    assert spoken[-1] == "20 of 200 ns. One is back."
    press(qtbot, player, Key.Key_Right)
    assert player.playback.t_s == DURATION_S
    press(qtbot, player, Key.Key_Left)
    assert player.playback.t_s == 20e-9
    press(qtbot, player, Key.Key_Home)
    assert player.playback.t_s == 0.0
    press(qtbot, player, Key.Key_End)
    assert player.playback.t_s == DURATION_S
    press(qtbot, player, Key.Key_Space)
    assert player.playback.is_playing
    assert player.playback.t_s == 0.0


def test_the_slider_goes_anywhere_by_page_and_by_mouse(qtbot, player):
    assert player.slider.accessibleName() == ENGLISH.say("lesson.motion_at")
    press(qtbot, player, Key.Key_Home, Key.Key_PageUp, Key.Key_PageUp)
    assert player.playback.t_s == pytest.approx(DURATION_S / 5)
    assert player.slider.accessibleDescription() == "40 of 200 ns. One is back."

    middle = QPoint(player.slider.width() // 2, player.slider.height() // 2)
    qtbot.mouseClick(player.slider, Qt.MouseButton.LeftButton, pos=middle)
    assert player.playback.t_s == pytest.approx(DURATION_S / 2, rel=0.02)
    assert not player.playback.is_playing


def test_while_something_is_measured_it_stands_and_cannot_play(qtbot, player):
    player.hold(True)
    assert not player.playback.is_playing
    press(qtbot, player, Key.Key_Space)
    assert not player.playback.is_playing
    player.hold(False)
    press(qtbot, player, Key.Key_Space)
    assert player.playback.is_playing


def test_what_is_hidden_stands_still(player):
    player.hide()
    assert not player.playback.is_playing


def test_a_recording_has_its_band(player):
    assert "RECORDED" not in seen(player)
    player.show_motion(replace(LOAD, band="RECORDED · a machine"))
    assert "RECORDED · a machine" in seen(player)


def test_a_drawing_without_motion_stands_there_with_what_it_shows_and_no_bar(player):
    player.show_still(LOAD.diagram, LOAD.labels)

    assert LOAD.labels["about"] in seen(player)
    assert not player.slider.isVisible()
    assert not player.playback.is_playing
    player.show_still(None, {})
    assert not player.isVisible()


def test_what_moves_is_drawn_over_a_ground_that_stays(player, qtbot):
    player.stand_at(0.0)
    begin = player.view.grab().toImage()
    player.stand_at(DURATION_S / 2)
    middle = player.view.grab().toImage()

    assert begin != middle
    width, height = middle.width(), middle.height()
    right = (
        begin.copy(width * 9 // 10, 0, width // 10, height // 2 - 8),
        middle.copy(width * 9 // 10, 0, width // 10, height // 2 - 8),
    )
    assert right[0] == right[1]  # the first load has long been back


def test_a_word_that_moves_above_tall_shapes_stays_within_the_picture(look):
    boxes = tuple(
        Box(at=(left, 0), size=(4, 4), label="core", name=name)
        for name, left in (("core", 0), ("memory", 20))
    )
    travel = Travel(along=("core", "memory"), start_s=0.0, end_s=DURATION_S, token="word")
    motion = replace(LOAD.motion, scenes=(Scene(events=(travel,)),))
    diagram, texts = Diagram(size=(24, 4), shapes=boxes), {"word": "a long word"}
    over = MotionPainter(diagram, LOAD.labels, look.theme, 600.0, motion, texts)

    margin = 40
    image = QImage(600, margin + round(over.height), QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.black)
    painter = QPainter(image)
    painter.translate(0, margin)
    over.draw_moment(painter, DURATION_S / 2)
    painter.end()
    whole, above = (image.copy(0, 0, 600, height) for height in (image.height(), margin))

    def has_ink(picture):
        empty = QImage(picture.size(), picture.format())
        empty.fill(Qt.GlobalColor.black)
        return picture != empty

    assert has_ink(whole)
    assert not has_ink(above)
