from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from experiments.core import words
from widgets.sheets.report_sheet import KINDS, ReportSheet
from widgets.style import theme as themes
from widgets.style.look import Look

WORDS = words.load()
CHOICES = {"prediction": True, "data": True, "note": False}


@pytest.fixture
def sheet(qtbot) -> ReportSheet:
    window = QWidget()
    window.resize(1280, 720)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    sheet = ReportSheet(window, CHOICES, Look(themes.load("dark")), WORDS)
    sheet.open()
    return sheet


def test_nothing_can_be_written_before_it_is_shown(sheet, qtbot):
    assert not sheet.save.isEnabled()
    assert not sheet.copy.isEnabled()

    sheet.show_text("all of it")

    assert sheet.text.toPlainText() == "all of it"
    with qtbot.waitSignal(sheet.save_asked):
        sheet.save.click()
    with qtbot.waitSignal(sheet.copy_asked):
        sheet.copy.click()


def test_a_tick_asks_for_another_text_and_takes_the_old_one_away(sheet, qtbot):
    sheet.show_text("without the note")
    assert sheet.included == {"prediction", "data"}

    with qtbot.waitSignal(sheet.changed):
        sheet.checks["note"].click()

    assert sheet.included == {"prediction", "data", "note"}
    assert "without the note" not in sheet.text.toPlainText()
    assert not sheet.save.isEnabled()


@pytest.mark.parametrize("kind", KINDS)
def test_every_format_says_what_it_is_for(sheet, qtbot, kind):
    sheet.show_text("x")
    sheet.kinds.buttons[kind].click()
    assert sheet.kind == kind
    assert sheet.help.text() == WORDS.say(f"report.{kind}_help")
    sheet.show_text("y")
    assert sheet.save.isEnabled()
    assert sheet.copy.isEnabled() == (kind != "pdf")
    assert sheet.checks["data"].isVisible() == (kind in ("html", "json"))


def test_the_keyboard_reaches_everything_and_leaves(sheet, qtbot):
    sheet.show_text("x")
    seen = set()
    for _ in range(12):
        focused = QApplication.focusWidget()
        assert focused.accessibleName() or focused.text()
        seen.add(focused)
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert {sheet.text, sheet.save, sheet.copy, sheet.closer, *sheet.checks.values()} <= seen
    assert sheet.kinds.buttons["html"] in seen

    with qtbot.waitSignal(sheet.closed):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)


def test_it_fits_a_small_window(sheet):
    assert sheet.height() >= sheet.sheet.geometry().bottom()
    assert sheet.sheet.geometry().top() >= 0
    assert sheet.rect().contains(sheet.sheet.geometry())
