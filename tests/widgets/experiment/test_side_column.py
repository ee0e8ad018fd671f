"""The blocks of the side column: state, result, and the tabs below."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QProgressBar,
    QPushButton,
    QStackedWidget,
    QWidget,
)

from experiments.core import words
from experiments.core.catalogue import Catalogue
from tests.widgets.experiment.seen import texts, unfold
from widgets.experiment.comparison_table import ComparedRow, Comparison
from widgets.experiment.result import Result
from widgets.experiment.side_column import WIDEST_SHARE, SideColumn, Tab
from widgets.experiment.state import StateBlock
from widgets.form.form import ParamsForm
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")


@pytest.fixture
def look(qapp) -> Look:
    return Look(themes.load("dark"))


def test_a_state_hides_what_does_not_belong_to_it(qtbot):
    block = StateBlock(ENGLISH)
    qtbot.addWidget(block)
    bar = block.findChild(QProgressBar)
    block.show_state("Running", "about 4 s left", fraction=0.25, detail="round 1 of 4")
    assert texts(block) == ["Running", "about 4 s left", "round 1 of 4"]
    assert bar.value() / bar.maximum() == 0.25

    block.show_state("Full run, just now", sentence="It was so.")
    assert texts(block) == ["Full run, just now", "It was so."]
    assert not bar.isVisibleTo(block)


def test_a_bar_moves_by_itself_while_nobody_knows_how_long(qtbot):
    block = StateBlock(ENGLISH)
    qtbot.addWidget(block)
    block.show_state("Starting", busy=True)

    assert block.findChild(QProgressBar).maximum() == 0


def test_a_state_is_told_to_those_who_do_not_see_it(qtbot):
    block = StateBlock(ENGLISH)
    qtbot.addWidget(block)
    block.show_state("Running", "about 4 s left", detail="round 1 of 4")

    assert block.accessibleName() == "Running"
    assert block.accessibleDescription() == "about 4 s left round 1 of 4"


@pytest.fixture
def column(qtbot, look) -> SideColumn:
    column = SideColumn(ENGLISH, look, [])
    qtbot.addWidget(column)
    return column


def shown_tab(column) -> QWidget:
    return column.findChild(QStackedWidget).currentWidget()


def test_what_is_new_is_shown_first(column):
    column.offer([Tab.SETTINGS])
    assert column.tab is Tab.SETTINGS

    column.offer([Tab.RESULT, Tab.SETTINGS])
    assert column.tab is Tab.RESULT


def test_a_choice_stays_while_the_same_is_offered(column):
    column.offer([Tab.RESULT, Tab.SETTINGS])
    column.choose(Tab.SETTINGS)
    column.offer([Tab.RESULT, Tab.SETTINGS])

    assert column.tab is Tab.SETTINGS


def test_one_tab_alone_needs_no_choice(column):
    column.offer([Tab.SETTINGS])

    tabs = column.findChild(QButtonGroup).buttons()
    assert len(tabs) == len(Tab)
    assert not any(tab.isVisibleTo(column) for tab in tabs)


def test_another_form_takes_the_place_of_the_one_before(column):
    column.offer([Tab.SETTINGS])
    form = QWidget()
    column.set_form(form)

    assert shown_tab(column) is form


def test_another_comparison_is_shown_from_its_beginning(qtbot, column):
    def compared(ratio):
        rows = [ComparedRow(f"value {n}", "1 ns", "2 ns", ratio) for n in range(40)]
        return Comparison(a="one", b="other", rows=rows)

    column.resize(345, 600)
    column.show()
    column.show_comparison(compared("2×"))
    column.offer([Tab.COMPARISON])
    bar = shown_tab(column).verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 100)
    bar.setValue(100)
    column.show_comparison(compared("2×"))
    assert bar.value() == 100

    column.show_comparison(compared("3×"))
    assert bar.value() == 0


def test_another_result_is_shown_from_its_beginning(qtbot, column):
    values = [(f"value {n}", "1 ns") for n in range(60)]
    column.resize(345, 600)
    column.show()
    column.show_result(Result(values=values, limits=["A limit."]))
    column.offer([Tab.RESULT])
    unfold(column.result)
    bar = shown_tab(column).verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 100)
    bar.setValue(100)
    column.show_result(Result(values=values, limits=["A limit."]))
    assert bar.value() == 100

    column.show_result(Result(values=values, limits=["Another limit."]))
    assert bar.value() == 0


def test_what_can_be_done_stands_below_the_result_and_is_seen_however_long_that_is(qtbot, look):
    again = QPushButton("Run again")
    column = SideColumn(ENGLISH, look, [again])
    qtbot.addWidget(column)
    column.resize(345, 600)
    column.show()
    column.offer([Tab.RESULT])
    column.show_result(Result(values=[(f"value {n}", "1 ns") for n in range(60)]))
    qtbot.waitUntil(lambda: 100 < again.mapTo(column, QPoint()).y() < 500)

    unfold(column.result)
    qtbot.waitUntil(lambda: again.mapTo(column, QPoint()).y() > 500)
    assert again.mapTo(column, QPoint(0, again.height())).y() <= 600


def test_large_text_leaves_room_for_the_plots(qapp, column, look):
    look.theme = themes.load("dark", 2.0)
    column.fit(1000)

    assert column.width() == round(1000 * WIDEST_SHARE)


def test_one_scroll_bar_is_enough_where_the_head_leaves_no_room(qtbot, column):
    column.resize(345, 600)
    column.show()
    column.show_result(Result(values=[(f"value {n}", "1 ns") for n in range(40)]))
    column.offer([Tab.RESULT])
    unfold(column.result)
    inner = shown_tab(column).verticalScrollBar()
    qtbot.waitUntil(lambda: inner.maximum() > 0)  # the tab scrolls by itself
    assert column.verticalScrollBar().maximum() == 0

    column.state.show_state("Full run", sentence="\n".join(["a long finding"] * 30))
    qtbot.waitUntil(lambda: column.verticalScrollBar().maximum() > 0)
    qtbot.waitUntil(lambda: inner.maximum() == 0)


@pytest.fixture(params=[1.0, 2.0])
def worn(request, look) -> Iterator[Look]:
    """Return a look that the application wears, for as long as the test goes on."""
    look.wear(themes.load("dark", request.param))
    yield look
    look.wear(themes.load("dark"))


def test_it_comes_to_rest_at_every_height(qtbot, worn, column, monkeypatch):
    experiment = Catalogue().load("gil-threads")
    form = ParamsForm(experiment, ENGLISH, worn)
    form.show_params(experiment.params(), {"pythons": tuple(f"3.{n}" for n in range(8, 15))})
    column.set_form(form)
    values = [(f"value {n}", "1 ns") for n in range(9)]
    column.show_result(Result(values=values, limits=["What is meant. " * 20]))
    column.state.show_state("Full run", sentence="A finding of some length. " * 4)
    column.fit(1100)
    column.show()
    column.offer([Tab.SETTINGS])
    stack = column.findChild(QStackedWidget)
    unroll, asked = stack.unroll, []
    monkeypatch.setattr(stack, "unroll", lambda **given: (asked.append(given), unroll(**given)))

    for height in range(240, 900, 60):
        column.resize(column.width(), height)
        for _ in range(20):
            QApplication.processEvents()
        asked.clear()
        for _ in range(20):
            QApplication.processEvents()
        assert asked == [], height
