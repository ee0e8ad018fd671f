from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from tests.app.window.lecture.lectures import Key


@pytest.fixture
def two(hall, monkeypatch):
    """A hall with two screens, which are one and the same."""
    from app.window.lecture.show import Show

    screens = QGuiApplication.screens()
    monkeypatch.setattr(Show.__init__, "__defaults__", (lambda: [*screens, *screens],))
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
    assert not two.is_on
    assert not presenter.isVisible()
    assert not audience.isVisible()
