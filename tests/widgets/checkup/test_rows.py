"""Rows of a checkup by mouse and keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from experiments.checkup.result import Word
from tests.widgets.sheets.below import WORDS, Below
from widgets.checkup.page_data import RowData, RowLink
from widgets.checkup.row_list import CheckRow, RowList

DEVICES = RowData(
    key="devices", word=Word.FINE, word_text="Fine", stage="Present", title="Devices",
    found="16 cores", expected="as on the order", rule="rule devices, version 1",
)  # fmt: skip
LINK = RowData(
    key="link gpu1", word=Word.LOOK, word_text="Look", stage="Configured", title="GPU 1 link",
    found="Gen5 ×8", expected="×16", meaning="The slot has <few> lanes.", advice="Move the card.",
    sure="3 samples.", rule="rule gpu-link, version 1",
    links=(RowLink("map pcie", "Show on map"), RowLink("experiment pinned", "Open")),
)  # fmt: skip
SPEED = replace(LINK, key="speed", title="Memory speed", links=())
Key = Qt.Key


@pytest.fixture
def rows(request, qtbot):
    window = Below(qtbot, zoom=getattr(request, "param", 1.0))
    rows = RowList(WORDS, window.look)
    window.layout().addWidget(rows)
    rows.window_below = window
    rows.show_rows([DEVICES, LINK, SPEED])
    settle()
    return rows


def settle():
    for _ in range(6):
        QApplication.processEvents()


def texts(rows):
    return [each.text() for each in rows.findChildren(QLabel) if each.isVisible() and each.text()]


def opened(rows):
    return [row.data.key for row in rows.rows if row.line.isChecked()]


def test_two_rows_of_one_key_leave_none_behind(rows):
    rows.show_rows([DEVICES, LINK, LINK])
    rows.show_rows([DEVICES, LINK])
    settle()
    assert len([each for each in rows.findChildren(CheckRow) if each.isVisible()]) == 2


def test_a_click_opens_a_row_and_another_closes_it(rows):
    line = rows.lines[1]
    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    settle()

    told = " ".join(texts(rows))
    assert "The slot has &lt;few&gt; lanes." in told
    assert "Move the card." in told
    assert LINK.sure in told
    assert LINK.rule in told

    QTest.mouseClick(line, Qt.MouseButton.LeftButton)
    settle()
    assert texts(rows) == []


def test_arrows_walk_and_open(rows):
    rows.lines[0].setFocus()
    QTest.keyClick(rows.lines[0], Key.Key_Down)
    assert rows.lines[1].hasFocus()
    QTest.keyClick(rows.lines[1], Key.Key_Right)
    QTest.keyClick(rows.lines[1], Key.Key_Right)  # it stays open
    assert opened(rows) == ["link gpu1"]
    QTest.keyClick(rows.lines[1], Key.Key_Left)
    assert opened(rows) == []
    QTest.keyClick(rows.lines[1], Key.Key_Return)
    assert opened(rows) == ["link gpu1"]
    QTest.keyClick(rows.lines[1], Key.Key_End)
    assert rows.lines[2].hasFocus()
    QTest.keyClick(rows.lines[2], Key.Key_Up)
    assert rows.lines[1].hasFocus()


def test_tab_stops_once_where_one_was_last_and_then_at_links(rows):
    rows.lines[1].setFocus()
    QTest.mouseClick(rows.lines[1], Qt.MouseButton.LeftButton)
    settle()

    tabbed = [each for each in rows.lines if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert tabbed == [rows.lines[1]]
    links = [each for each in rows.findChildren(QPushButton) if each.isVisible()]
    assert [each.accessibleName() for each in links] == [
        "Show on map: GPU 1 link",
        "Open: GPU 1 link",
    ]


def test_a_link_says_where_it_leads(rows):
    followed = []
    rows.followed.connect(followed.append)
    rows.lines[1].click()
    link = next(each for each in rows.findChildren(QPushButton))

    link.click()

    assert followed == ["map pcie"]


def test_what_ends_is_open_where_it_is_not_fine(rows):
    rows.lines[0].click()
    rows.open_where({Word.LOOK})

    assert opened(rows) == ["link gpu1", "speed"]


def test_new_values_keep_what_is_open_and_the_focus(rows):
    rows.lines[1].setFocus()
    rows.lines[1].click()
    line = rows.lines[1]

    rows.show_rows([LINK, replace(LINK, key="new"), replace(SPEED, advice="Later.")])
    rows.show_rows([DEVICES, replace(LINK, advice="Wait."), SPEED])
    settle()

    assert rows.lines[1] is line
    assert line.hasFocus()
    assert opened(rows) == ["link gpu1"]
    assert any("Wait." in text for text in texts(rows))
    assert not any("Move" in text for text in texts(rows))


def test_a_row_is_said_with_its_word(rows):
    assert rows.lines[1].accessibleName() == "GPU 1 link, Look, Gen5 ×8, ×16"
    assert rows.lines[1].accessibleDescription() == f"{LINK.meaning} {LINK.advice}"


@pytest.mark.parametrize("rows", [1.0, 1.6], indirect=True)
@pytest.mark.parametrize("width", [500, 900, 1300])
def test_every_text_has_room_at_any_width(rows, width):
    rows.window_below.resize(width, 720)
    long = replace(LINK, found="0 wrong words in 12.5 GiB, " * 3, expected="at least 90 % " * 4)
    rows.show_rows([DEVICES, long])
    for _ in range(20):
        QApplication.processEvents()
    line = rows.lines[1]

    assert line.height() >= line.heightForWidth(line.width())
    assert line.heightForWidth(300) > line.heightForWidth(1200)


def test_what_was_cut_is_in_the_tooltip(rows):
    rows.show_rows([replace(LINK, found="error " * 100)])
    settle()

    assert "error error" in rows.lines[0].toolTip()
    rows.show_rows([LINK])
    assert rows.lines[0].toolTip() == ""
