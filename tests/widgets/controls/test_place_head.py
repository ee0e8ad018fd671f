from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton, QWidget

from experiments.core.words import load as load_words
from widgets.controls.basics import chip, column, label
from widgets.controls.place_head import PlaceHead, chip_row
from widgets.frame.rail import Rail, Stop
from widgets.style.look import Look
from widgets.style.theme import load

STOPS = [Stop("map", "Map", "Ctrl+1"), Stop("live", "Live", ""), Stop("runs", "Runs", "")]


@pytest.fixture
def page(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    return page


@pytest.fixture
def head(qtbot, page):
    made = PlaceHead(
        label("about", "soft"), label("Title", "title"), chip_row(chip("A"), chip("B"))
    )
    page.setLayout(column(made, None))
    page.resize(800, 300)
    with qtbot.waitExposed(page):
        page.show()
    return made


def words(head: PlaceHead, text: str) -> QLabel:
    return next(each for each in head.findChildren(QLabel) if each.text() == text)


def chips_y(head):
    return head.findChild(QPushButton).parentWidget().y()


def test_chips_stand_beside_the_line_and_below_the_title_where_room_ends(qtbot, head):
    beside = words(head, "Title").y()
    assert chips_y(head) < beside

    head.window().resize(100, 300)

    qtbot.waitUntil(lambda: chips_y(head) > words(head, "Title").y())
    assert words(head, "Title").y() == beside


def test_a_long_line_makes_no_window_wider(head):
    least = head.minimumSizeHint().width()

    words(head, "about").setText("a very long name of a machine " * 10)

    assert head.minimumSizeHint().width() == least


def test_a_low_rail_leaves_out_the_words_of_the_tools_first(qtbot):
    look = Look(load("dark", 1.6))
    window = QWidget()
    qtbot.addWidget(window)
    rail = Rail(STOPS, [Stop("search", "Find", "Ctrl+K")], load_words("en"), look)
    rail.setParent(window)
    rail.resize(rail.width(), 900)
    with qtbot.waitExposed(window):
        window.show()
    whole = rail.layout().totalMinimumSize().height()
    place = next(each for each in rail.findChildren(QToolButton) if each.text() == "Map")

    def has_words(button) -> bool:
        return button.toolButtonStyle() is button.toolButtonStyle().ToolButtonTextUnderIcon

    assert has_words(rail.tool("search"))
    rail.resize(rail.width(), whole - 1)
    assert not has_words(rail.tool("search"))
    assert has_words(place)
    rail.resize(rail.width(), rail.minimumSizeHint().height())
    assert not has_words(place)
    assert rail.layout().totalMinimumSize().height() <= rail.height()
