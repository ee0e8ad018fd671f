from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from tests.widgets.runs.samples import WORDS, worn
from widgets.runs.side_by_side import MOST, NONE, BesideRow, RunsBeside, SideBySide


@pytest.fixture
def show(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(1200, 680)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()
    look = worn()

    def show(count=3, **more):
        heads = [(f"run {number}", "full") for number in range(count)]
        values = [BesideRow("speedup", [f"{number}×" for number in range(count - 1)] + [""])]
        given = {"question": "How far?", "heads": heads, "values": values} | more
        sheet = SideBySide(window, RunsBeside(**given), look, WORDS)
        sheet.open()
        return sheet

    return show


def texts(sheet):
    return [each.text() for each in sheet.findChildren(QLabel) if each.isVisible()]


def test_it_has_a_column_for_each_run_and_a_dash_for_what_one_lacks(show):
    told = texts(show(4, cautions=["Careful."]))
    for text in ("How far?", "run 0", "run 3", "speedup", "0×", "2×", NONE, "Careful."):
        assert text in told
    assert WORDS.say("runs.beside", {"count": 4}) in told
    assert WORDS.say("runs.beside_settings") not in told


def test_settings_and_machines_are_shown_where_they_differ(show):
    rows = [BesideRow("Rounds", ["3", "5", "5"])]
    told = texts(show(settings=rows, machines=("old", "new", "new")))
    for text in (WORDS.say("runs.beside_settings"), "Rounds", "5", "old", "new"):
        assert text in told


def test_a_cell_says_what_it_is_to_those_who_do_not_see_its_place(show):
    names = [each.accessibleName() for each in show().findChildren(QLabel)]
    assert "speedup, run 1: 1×" in names


def test_the_most_runs_stay_inside_the_window_and_escape_closes(qtbot, show):
    values = [BesideRow(f"value {number}", ["1.23 ms"] * MOST) for number in range(40)]
    sheet = show(MOST, values=values)
    assert sheet.sheet.height() <= sheet.height()
    assert sheet.sheet.width() <= sheet.width()
    with qtbot.waitSignal(sheet.closed):
        qtbot.keyClick(sheet, Qt.Key.Key_Escape)
