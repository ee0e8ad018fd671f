from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel

from tests.widgets.sheets.below import WORDS, Below
from widgets.sheets.shortcut_sheet import Group, ShortcutSheet, halfway

GROUPS = [
    Group("Runs", [("Delete", "Delete the run"), ("Ctrl+Z", "Bring it back")]),
    Group("Empty", []),
    Group("Anywhere", [(f"Ctrl+{n}", f"Place number {n}") for n in range(9)]),
    Group("On a plot", [("← →", "Move the reading cursor of the plot that is pointed at")]),
]


def opened(qtbot, *, zoom: float = 1.0, size: tuple[int, int] = (1280, 720)) -> ShortcutSheet:
    window = Below(qtbot, zoom=zoom)
    window.resize(*size)
    sheet: Any = ShortcutSheet(GROUPS, WORDS, window.look, window)
    sheet.window_below = window
    sheet.open()
    QApplication.processEvents()
    return sheet


def test_every_key_stands_on_it_and_no_empty_group(qtbot):
    sheet = opened(qtbot)
    texts = [words.text() for words in sheet.findChildren(QLabel)]

    for group in GROUPS:
        assert (group.title in texts) == bool(group.keys)
        for keys, text in group.keys:
            assert keys in texts
            assert text in texts


def test_two_columns_where_there_is_room_and_one_where_there_is_not(qtbot):
    assert opened(qtbot).keys.column_count == 2
    assert opened(qtbot, zoom=2.0, size=(820, 560)).keys.column_count == 1


@pytest.mark.parametrize("zoom", [1.0, 1.6, 2.0])
def test_it_scrolls_where_the_window_is_small(qtbot, zoom):
    sheet = opened(qtbot, zoom=zoom, size=(820, 560))
    bar = sheet.area.verticalScrollBar()

    assert sheet.window_below.rect().contains(sheet.sheet.geometry())
    last = sheet.findChildren(QLabel)[-1]
    sheet.area.setFocus()
    for _ in range(20):
        qtbot.keyClick(sheet.area, Qt.Key.Key_PageDown)
    assert bar.value() == bar.maximum()
    seen = last.visibleRegion().boundingRect()
    assert seen.height() == last.height()


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_it_is_no_higher_than_its_keys(qtbot, zoom):
    sheet = opened(qtbot, zoom=zoom, size=(1440, 900))
    qtbot.waitUntil(lambda: sheet.keys.height() <= sheet.area.sizeHint().height())


def test_no_words_are_cut_in_a_large_window(qtbot):
    for words in opened(qtbot, zoom=1.6).findChildren(QLabel):
        assert words.width() >= words.minimumSizeHint().width(), words.text()
        assert words.visibleRegion().boundingRect().size() == words.size(), words.text()


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Question])
def test_it_closes_by_escape_and_by_the_key_that_opened_it(qtbot, key):
    sheet = opened(qtbot)

    with qtbot.waitSignal(sheet.closed):
        if key == Qt.Key.Key_Escape:
            qtbot.keyClick(QApplication.focusWidget(), key)
        else:
            qtbot.keyClicks(QApplication.focusWidget(), "?")


def test_it_closes_by_its_button_and_by_a_click_beside(qtbot):
    sheet = opened(qtbot)
    with qtbot.waitSignal(sheet.closed):
        sheet.closer.click()

    sheet = opened(qtbot)
    with qtbot.waitSignal(sheet.closed):
        qtbot.mouseClick(sheet, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))


def test_one_group_alone_is_no_wider_than_it_must_be(qtbot):
    window = Below(qtbot)
    sheet = ShortcutSheet(GROUPS[2:3], WORDS, window.look, window)
    sheet.open()
    QApplication.processEvents()

    assert sheet.keys.column_count == 1
    assert sheet.sheet.width() < 500


def test_the_columns_are_as_even_as_they_can_be():
    assert halfway([5, 4, 8, 4]) == 2
    assert halfway([3]) == 1
    assert halfway([1, 1, 9]) == 2
