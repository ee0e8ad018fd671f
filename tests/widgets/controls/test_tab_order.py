from __future__ import annotations

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QHBoxLayout,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from widgets.controls.tab_order import go_on


@pytest.fixture
def area(qtbot) -> QWidget:
    """Return a head above two columns; what is read last was made first."""
    area = QWidget()
    qtbot.addWidget(area)
    foot, right, low, top, head = (QPushButton(name) for name in ("F", "R", "L2", "L1", "H"))
    left, both, whole = QVBoxLayout(), QHBoxLayout(), QVBoxLayout(area)
    left.addWidget(top)
    left.addWidget(low)
    both.addLayout(left)
    both.addWidget(right)
    whole.addWidget(head)
    whole.addLayout(both)
    whole.addWidget(foot)
    area.show()
    area.activateWindow()
    assert QTest.qWaitForWindowActive(area)
    return area


def way(area: QWidget, *, forward: bool = True) -> list[str]:
    """Go round once; return where Tab led, beginning at the head."""
    first = next(each for each in area.findChildren(QPushButton) if each.text() == "H")
    first.setFocus()
    found: list[str] = []
    while not found or QApplication.focusWidget() is not first:
        focused = QApplication.focusWidget()
        assert isinstance(focused, QPushButton)
        found.append(focused.text())
        go_on(area, forward=forward)
    return found


def test_tab_leads_line_by_line_and_column_by_column(area):
    assert way(area) == ["H", "L1", "L2", "R", "F"]


def test_backtab_leads_the_same_way_back(area):
    assert way(area, forward=False) == ["H", "F", "R", "L2", "L1"]


def test_what_is_hidden_or_disabled_is_left_out(area):
    for each in area.findChildren(QPushButton):
        each.setHidden(each.text() == "L1")
        each.setDisabled(each.text() == "R")

    assert way(area) == ["H", "L2", "F"]


def test_of_buttons_of_which_one_is_chosen_tab_stops_at_that_one(area):
    group = QButtonGroup(area)
    for each in area.findChildren(QPushButton):
        if each.text() in ("L1", "L2", "R"):
            each.setCheckable(True)
            group.addButton(each)
            each.setChecked(each.text() == "L2")

    assert way(area) == ["H", "L2", "F"]


def test_from_what_takes_no_tab_it_leads_to_what_comes_next(area):
    for each in area.findChildren(QPushButton):
        if each.text() == "L2":
            each.setFocus()
            each.setFocusPolicy(each.focusPolicy().ClickFocus)

    go_on(area, forward=True)

    assert QApplication.focusWidget().text() == "R"


def test_what_is_out_of_sight_comes_into_sight(qtbot):
    scroll, inner = QScrollArea(), QWidget()
    qtbot.addWidget(scroll)
    column = QVBoxLayout(inner)
    for number in range(40):
        column.addWidget(QPushButton(str(number)))
    scroll.setWidget(inner)
    scroll.resize(200, 200)
    scroll.show()
    scroll.activateWindow()
    assert QTest.qWaitForWindowActive(scroll)
    inner.findChildren(QPushButton)[0].setFocus()

    go_on(inner, forward=False)

    last = QApplication.focusWidget()
    assert last.text() == "39"
    assert not last.visibleRegion().isEmpty()


def test_where_nothing_takes_the_keyboard_it_stays(qtbot):
    empty = QWidget()
    qtbot.addWidget(empty)
    empty.show()

    assert not go_on(empty, forward=True)
