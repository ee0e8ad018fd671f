from __future__ import annotations

import pytest
from PySide6.QtCore import Qt

from tests.widgets.sheets.below import WORDS, Below
from widgets.runs.bin_look import LISTED, BinLook
from widgets.runs.listed import ListedRun

LEFT = Qt.MouseButton.LeftButton


def opened(qtbot, count, *, zoom=1.0, size=(1280, 720)) -> BinLook:
    window = Below(qtbot, zoom=zoom)
    window.resize(*size)
    runs = [ListedRun(key=str(n), at="", title=f"question {n}", when="today") for n in range(count)]
    sheet = BinLook(window, runs, window.look, WORDS)
    sheet.window_below, sheet.asked = window, []  # type: ignore[attr-defined]
    sheet.back_asked.connect(sheet.asked.append)  # type: ignore[attr-defined]
    sheet.open()
    return sheet


def test_without_a_tick_all_come_back(qtbot):
    sheet = opened(qtbot, 3)

    qtbot.mouseClick(sheet.back_button, LEFT)

    assert sheet.asked == [["0", "1", "2"]]


def test_those_that_are_ticked_come_back(qtbot):
    sheet = opened(qtbot, 3)

    for key in ("1", "2"):
        qtbot.keyClick(sheet.checks[key], Qt.Key.Key_Space)
    qtbot.mouseClick(sheet.back_button, LEFT)

    assert sheet.asked == [["1", "2"]]


def test_leaving_brings_nothing_back(qtbot):
    sheet = opened(qtbot, 1)

    qtbot.mouseClick(sheet.leave_button, LEFT)

    assert sheet.asked == []
    assert sheet.isHidden()


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_very_many_stay_within_the_window_and_are_not_all_listed(qtbot, zoom):
    sheet = opened(qtbot, LISTED + 5, zoom=zoom, size=(820, 560))

    assert len(sheet.checks) == LISTED
    assert sheet.window_below.rect().contains(sheet.sheet.geometry())
    assert sheet.sheet.rect().contains(sheet.back_button.geometry())
    qtbot.mouseClick(sheet.back_button, LEFT)
    assert len(sheet.asked[0]) == LISTED + 5
