"""The sheets before a soak, and about what was bought."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit

from experiments.checkup.result import Word
from experiments.core.problems import UserError
from tests.widgets.sheets.below import WORDS, Below
from widgets.checkup.order_sheet import OrderSheet
from widgets.checkup.page_data import RowData
from widgets.checkup.soak_sheet import SoakSheet, SoakWanted
from widgets.controls.slider import StopSlider

Key = Qt.Key


@pytest.fixture
def below(qtbot):
    return Below(qtbot)


def soak(below, *, on_battery=False, has_sensor=True):
    sheet = SoakSheet(WORDS, below.look, below, on_battery=on_battery, has_sensor=has_sensor)
    sheet.taken = []
    sheet.wanted.connect(sheet.taken.append)
    sheet.open()
    return sheet


def compared(text):
    """Answer each line with itself."""
    if "too long" in text:
        raise UserError("order_too_long", count=200, most=100)
    return [
        RowData(
            key=str(at), word=Word.FINE, word_text="Here", stage="", title=line, found=line.upper()
        )
        for at, line in enumerate(text.splitlines())
    ]


def order(below, text=""):
    sheet = OrderSheet(WORDS, below.look, below, text, compared)
    sheet.taken, sheet.kept = [], []
    sheet.wanted.connect(sheet.taken.append)
    sheet.left.connect(sheet.kept.append)
    sheet.open()
    return sheet


def texts(sheet):
    return [each.text() for each in sheet.findChildren(QLabel) if each.isVisible()]


def retype(field, text):
    """Replace the text as a person does who pastes it: QTest types ASCII only."""
    field.selectAll()
    QTest.keyClick(field, Key.Key_Delete)
    QGuiApplication.clipboard().setText(text)
    field.paste()


def test_a_soak_begins_with_what_is_set_up(below):
    sheet = soak(below)
    QTest.mouseClick(sheet.start, Qt.MouseButton.LeftButton)

    assert sheet.taken == [SoakWanted(20 * 60.0, 95.0)]
    assert not sheet.isVisible()


def test_minutes_and_temperature_can_be_typed_or_moved(below):
    sheet = soak(below)
    minutes, celsius = (each.findChild(QLineEdit) for each in sheet.inputs.values())
    slider = sheet.inputs["minutes"].findChild(StopSlider)
    slider.setFocus()
    QTest.keyClick(slider, Key.Key_End)
    assert minutes.text() == "30"
    retype(celsius, "80 °C")
    sheet.start.click()

    assert sheet.taken == [SoakWanted(30 * 60.0, 80.0)]


@pytest.mark.parametrize("typed", ["9", "31", "soon", "-1", ""])
def test_what_is_no_length_cannot_begin_and_says_so(below, typed):
    sheet = soak(below)
    minutes = sheet.inputs["minutes"].findChild(QLineEdit)
    minutes.setFocus()
    retype(minutes, typed)
    before = texts(sheet)
    sheet.cancel.setFocus()  # the sentence waits for the end of typing

    assert not sheet.start.isEnabled()
    assert len(texts(sheet)) > len(before)
    QTest.keyClick(sheet, Key.Key_Escape)
    assert sheet.taken == []


def test_on_battery_it_is_refused_with_the_reason(below):
    sheet = soak(below, on_battery=True)

    assert WORDS.say("checkup_page.soak_sheet.battery") in texts(sheet)
    assert not sheet.start.isEnabled()
    assert not any(each.isEnabled() for each in sheet.inputs.values())
    assert sheet.cancel.hasFocus()
    QTest.keyClick(sheet.cancel, Key.Key_Return)
    assert sheet.taken == []


def test_without_a_sensor_no_temperature_is_asked_for_and_the_reason_is_told(below):
    sheet = soak(below, has_sensor=False)

    assert WORDS.say("checkup.no_sensor") in texts(sheet)
    assert sheet.inputs["minutes"].isVisible()
    assert not sheet.inputs["stop_celsius"].isVisible()
    sheet.start.click()
    assert sheet.taken == [SoakWanted(20 * 60.0, 95.0)]


def test_each_line_that_is_pasted_is_answered_at_once(below):
    sheet = order(below)
    assert sheet.lines.hasFocus()
    assert WORDS.say("checkup_page.order_sheet.empty") in texts(sheet)

    QGuiApplication.clipboard().setText("a processor\na cooler")
    sheet.lines.paste()

    assert [row.data.found for row in sheet.answers.rows] == ["A PROCESSOR", "A COOLER"]
    assert WORDS.say("checkup_page.order_sheet.empty") not in texts(sheet)
    QTest.keyClick(sheet.lines, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert (sheet.taken, sheet.kept) == (["a processor\na cooler"], [])
    assert not sheet.isVisible()


def test_what_is_no_order_is_told_and_cannot_be_saved(below):
    sheet = order(below, "too long")

    assert WORDS.say("problems.order_too_long", {"count": 200, "most": 100}) in texts(sheet)
    assert not sheet.save.isEnabled()
    QTest.keyClick(sheet.lines, Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert sheet.taken == []


def test_esc_hands_on_what_was_typed(below):
    sheet = order(below, "a disk")
    QTest.keyClick(sheet.lines, Key.Key_Escape)

    assert (sheet.taken, sheet.kept) == ([], ["a disk"])


def test_tab_leaves_the_lines_for_answers_and_buttons(below):
    sheet = order(below, "a disk")
    reached = []
    for _ in range(5):
        QTest.keyClick(below.window().focusWidget(), Key.Key_Tab)
        reached.append(below.window().focusWidget())

    assert sheet.lines.toPlainText() == "a disk"
    assert {sheet.save, sheet.cancel, sheet.answers.lines[0]} <= {*reached}
