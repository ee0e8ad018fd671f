from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.exceptions import capture_exceptions

from tests.widgets.sheets.below import WORDS, Below
from widgets.controls.basics import label
from widgets.sheets.overlay import MARGIN, Overlay


@pytest.fixture
def window(qtbot) -> Below:
    return Below(qtbot)


@pytest.fixture
def overlay(window) -> Overlay:
    made: Any = Overlay(window, width_px=400)
    made.add_head("A title", WORDS.say("overlay.close"), window.look)
    made.one, made.two = QPushButton("one"), QPushButton("two")
    made.content.addWidget(made.one)
    made.content.addWidget(made.two)
    made.open()
    return made


def test_it_covers_the_window_and_follows_its_size(window, overlay):
    window.resize(900, 600)

    assert overlay.geometry() == window.rect()
    assert abs(overlay.sheet.geometry().center().x() - 450) <= 1


def test_no_shortcut_of_the_window_acts_while_it_is_open(qtbot, window, overlay):
    for key, modifier in (
        (Qt.Key.Key_F5, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_P, Qt.KeyboardModifier.NoModifier),
        (Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier),
    ):
        qtbot.keyClick(QApplication.focusWidget(), key, modifier)
    assert window.used == []

    overlay.dismiss()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_F5)
    assert window.used == ["F5"]


def test_tab_goes_round_on_the_sheet_both_ways(qtbot, overlay):
    assert overlay.closer.hasFocus()
    seen = []
    for _ in range(3):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        seen.append(QApplication.focusWidget())
    assert seen == [overlay.one, overlay.two, overlay.closer]

    qtbot.keyClick(overlay.closer, Qt.Key.Key_Backtab)
    assert overlay.two.hasFocus()


def test_escape_closes_it_and_gives_the_focus_back(qtbot, window, overlay):
    with qtbot.waitSignal(overlay.closed):
        qtbot.keyClick(overlay.two, Qt.Key.Key_Escape)

    assert window.button.hasFocus()


def test_a_click_beside_the_sheet_closes_it_and_one_on_it_does_not(qtbot, overlay):
    on_sheet = overlay.sheet.geometry().topLeft() + QPoint(3, 3)
    qtbot.mouseClick(overlay, Qt.MouseButton.LeftButton, pos=on_sheet)
    assert overlay.isVisible()

    with qtbot.waitSignal(overlay.closed):
        qtbot.mouseClick(overlay, Qt.MouseButton.LeftButton, pos=QPoint(2, 2))


def test_the_close_button_closes_it(qtbot, window, overlay):
    with qtbot.waitSignal(overlay.closed):
        qtbot.mouseClick(overlay.closer, Qt.MouseButton.LeftButton)

    assert window.used == []


def test_it_is_gone_after_it_was_closed(qtbot, window, overlay):
    with qtbot.waitSignal(overlay.destroyed), capture_exceptions() as raised:
        overlay.dismiss()
        window.resize(700, 500)

    assert raised == []


def test_its_height_follows_what_is_on_it_up_to_the_window(qtbot, window, overlay):
    before = overlay.sheet.height()
    text = label("Many words. " * 40, wrap=True)
    overlay.content.addWidget(text)
    qtbot.waitUntil(lambda: overlay.sheet.height() > before + 60)

    text.setText("Many words. " * 4000)
    qtbot.waitUntil(lambda: overlay.sheet.height() == window.height() - 2 * MARGIN)


def test_it_grows_with_the_text(qtbot):
    window = Below(qtbot, zoom=1.6)
    overlay = Overlay(window, width_px=400)
    overlay.open()

    assert overlay.sheet.width() == pytest.approx(640, rel=0.03)
