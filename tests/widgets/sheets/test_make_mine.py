from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.widgets.sheets.below import WORDS, Below
from widgets.sheets.make_mine import MakeMine


@pytest.fixture
def window(qtbot) -> Below:
    return Below(qtbot)


@pytest.fixture
def sheet(window):
    made = MakeMine(window, WORDS, window.look, "my-ilp", "Write the scaler.")
    made.open()
    return made


def test_the_name_has_the_focus_is_chosen_whole_and_enter_copies(qtbot, sheet):
    assert QApplication.focusWidget() is sheet.name
    qtbot.keyClicks(sheet.name, "mine")
    with qtbot.waitSignal(sheet.wanted) as wanted:
        qtbot.keyClick(sheet.name, Qt.Key.Key_Return)

    assert wanted.args == ["mine", False]
    assert not sheet.isHidden()


def test_the_exercise_is_offered_where_there_is_one(qtbot, window, sheet):
    assert sheet.exercise.isVisible()
    sheet.exercise.click()
    with qtbot.waitSignal(sheet.wanted) as wanted:
        sheet.make.click()
    assert wanted.args == ["my-ilp", True]

    sheet.dismiss()
    plain = MakeMine(window, WORDS, window.look, "my-ilp", "")
    plain.open()
    assert not plain.exercise.isVisible()


def test_a_name_that_is_refused_can_be_mended(qtbot, sheet):
    sheet.make.click()
    assert not sheet.make.isEnabled()  # a second click writes nothing
    sheet.refuse("There is one already.")

    assert sheet.make.isEnabled()
    assert QApplication.focusWidget() is sheet.name
    with qtbot.waitSignal(sheet.wanted):
        qtbot.keyClick(sheet.name, Qt.Key.Key_Return)


def test_where_nothing_opens_the_folder_its_path_can_be_copied(sheet):
    sheet.show_path("/somewhere/my_ilp")

    assert sheet.path.isVisible()
    assert not sheet.name.isVisible()
    sheet.copier.click()
    assert QApplication.clipboard().text() == "/somewhere/my_ilp"


def test_escape_leaves_without_a_copy(qtbot, sheet):
    with qtbot.assertNotEmitted(sheet.wanted):
        qtbot.keyClick(sheet.name, Qt.Key.Key_Escape)
    assert sheet.isHidden()
