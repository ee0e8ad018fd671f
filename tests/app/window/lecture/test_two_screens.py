from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.window.core.other_load import SAMPLES
from experiments.engine import messages
from tests.app.window.lecture.lectures import Key


@pytest.fixture
def two(hall, monkeypatch):
    """A hall with two screens, which are one and the same."""
    from app.window.lecture.windows import LectureWindows

    screens = QGuiApplication.screens()
    monkeypatch.setattr(LectureWindows.__init__, "__defaults__", (lambda: [*screens, *screens],))
    hall.begin()
    return hall


def move(widget, y: float) -> None:
    at = QPointF(widget.width() / 2, y)
    event = QMouseEvent(
        QMouseEvent.Type.MouseMove,
        at,
        widget.mapToGlobal(at),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    widget.mouseMoveEvent(event)


def test_with_one_screen_there_is_the_slide_and_a_strip_on_demand(hall):
    hall.begin()
    audience = hall.show.audience
    assert audience.isFullScreen()
    assert not hall.show.presenter.isVisible()
    assert not audience.strip.isVisible()
    move(audience, audience.height() - 1)
    assert audience.strip.isVisible()
    assert "Ask first." not in audience.strip.text  # notes are not for the class
    move(audience, 10)
    assert not audience.strip.isVisible()
    hall.press(Key.Key_P)
    assert audience.strip.isVisible()
    assert hall.say("place", place=1, count=3) in audience.strip.text
    hall.press(Key.Key_P)
    assert not audience.strip.isVisible()


def test_the_presenter_sees_notes_items_and_both_pictures(two):
    presenter = two.show.presenter
    assert presenter.isVisible()
    texts = [presenter.items.model().index(row, 0).data() for row in range(3)]
    assert texts[2] == "Pipes"
    labels = [each.text() for each in presenter.findChildren(QLabel)]
    assert "Ask first." in labels
    assert two.say("then", step=two.say("next.vote")) in labels
    two.press(Key.Key_PageDown, on=presenter)
    assert two.at == (1, "vote")


def test_a_button_does_what_its_key_does(two):
    presenter = two.show.presenter
    QTest.mouseClick(presenter.buttons["forward"], Qt.MouseButton.LeftButton)
    assert two.at == (1, "vote")
    presenter.buttons["vote_again"].setFocus()
    two.press(Key.Key_Space, on=presenter.buttons["vote_again"])
    assert two.at == (1, "again")
    two.press(Key.Key_Right, on=presenter.buttons["freeze"])  # other keys stay the lecture's
    assert two.at == (1, "run")


def test_a_click_in_the_list_goes_there(two):
    items = two.show.presenter.items
    where = items.visualRect(items.model().index(2, 0)).center()
    QTest.mouseClick(items.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert two.at == (3, "question")


def test_a_screen_that_is_unplugged_leaves_the_slide(hall, monkeypatch):
    from app.window.lecture.windows import LectureWindows

    (screen,) = QGuiApplication.screens()
    known = [screen, screen]
    monkeypatch.setattr(LectureWindows.__init__, "__defaults__", (lambda: known,))
    hall.begin()
    assert hall.show.presenter.isVisible()
    known.pop()
    QGuiApplication.instance().screenRemoved.emit(screen)
    assert not hall.show.presenter.isVisible()
    assert hall.show.audience.isVisible()
    known.append(screen)
    QGuiApplication.instance().screenAdded.emit(screen)
    assert hall.show.presenter.isVisible()
    hall.press(Key.Key_PageDown, on=hall.show.presenter)
    assert hall.at == (1, "vote")


def test_the_presenter_is_told_how_the_machine_stands(two):
    def sample(busy: float) -> messages.Sample:
        threads = [{"id": number, "busy": busy} for number in range(4)]
        return messages.Sample(
            t_s=0.0, threads=threads, memory={}, disks=[], network=[], gpus=[], missing=[]
        )

    def told() -> str:
        labels = two.show.presenter.findChildren(QLabel)
        return " ".join(each.text() for each in labels if each.isVisible())

    for busy, key in ((0.01, "quiet"), (0.9, "busy")):
        for _ in range(SAMPLES):
            two.whole.session.sampled.emit(sample(busy))
        free = max(0, round(4 - 4 * busy))
        assert two.say("free", free=free, count=4) in told()
        assert (two.whole.words.say("frame.quiet") in told()) == (key == "quiet")
    assert two.say("warm") in told()
    two.to_run()
    two.whole.session.sampled.emit(sample(0.9))
    assert two.say("free", free=0, count=4) not in told()  # its own load tells nothing


def test_while_frozen_the_class_sees_no_change(two):
    two.press(Key.Key_F)
    before = two.show.audience.slide.grab().toImage()
    two.press(Key.Key_L, Key.Key_PageDown, Key.Key_A)
    assert two.show.audience.slide.grab().toImage() == before
    labels = [each.text() for each in two.show.presenter.findChildren(QLabel)]
    assert two.say("frozen") in labels
    assert two.say("hidden", step=two.say("next.vote")) in labels


def test_trouble_is_the_presenters_alone(two):
    two.to_run()
    why = two.end("lost")
    presenter = two.show.presenter
    assert presenter.problem.isVisible()
    assert presenter.problem.text() == why
    assert not two.data.problem


def test_light_and_dark_swap_and_leave(two):
    before = two.show.audience.slide.grab().toImage()
    two.press(Key.Key_L)
    assert two.show.audience.slide.grab().toImage() != before
    two.press(Key.Key_S)
    assert two.show.presenter.isVisible()
    presenter, audience = two.show.presenter, two.show.audience
    two.press(Key.Key_Escape, on=presenter)
    assert presenter.over.isVisible()
    assert not audience.over.isVisible()  # the class need not know
    two.press(Key.Key_Enter, on=presenter)
    assert not two.is_on
    assert not presenter.isVisible()
    assert not audience.isVisible()
