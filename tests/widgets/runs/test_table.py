from __future__ import annotations

import dataclasses
import random

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor, QContextMenuEvent, QFontMetrics
from PySide6.QtWidgets import QApplication, QStyleOptionHeaderV2

from tests.widgets.runs.samples import WORDS, damaged, run, worn
from widgets.runs.listed import Prediction, Result
from widgets.runs.model import Column
from widgets.runs.painting import ICON, MARGIN
from widgets.runs.table import RunsTable
from widgets.style import theme
from widgets.style.theme import STEP

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton

HIT = Prediction(guess="2×", said="said 2×", right="3×", was="was 3×", verdict="hit")
SURPRISE = Prediction(
    guess="2×", said="said 2×", right="90×", was="was 90×", verdict="surprise", is_surprise=True
)


@pytest.fixture
def look(qapp):
    return worn()


@pytest.fixture
def table(qtbot, look):
    table = RunsTable(look, WORDS)
    qtbot.addWidget(table)
    table.resize(940, 500)
    with qtbot.waitExposed(table):
        table.show()
    table.activateWindow()
    table.setFocus()
    qtbot.waitUntil(table.hasFocus)
    return table


def keys(table):
    return [each.key for each in table.runs.shown]


def selected(table):
    return [each.key for each in table.selected()]


def centre(table, row, column=Column.RUN):
    return table.visualRect(table.runs.index(row, column)).center()


def click(qtbot, table, row, column=Column.RUN, modifier=Qt.KeyboardModifier.NoModifier):
    qtbot.mouseClick(table.viewport(), LEFT, modifier, centre(table, row, column))


# --- what is shown ------------------------------------------------------------------------------


def test_the_newest_stands_first_and_what_is_pinned_before_all(table):
    table.show_runs([run(2), run(5), run(1, is_pinned=True), run(3)])

    assert keys(table) == ["run 1", "run 5", "run 3", "run 2"]


def test_a_search_finds_all_of_its_words_wherever_they_are_shown(table):
    table.show_runs(
        [
            run(1, note="Window open"),
            run(2, machine="Big Machine", tags=("office",)),
            run(3, settings=("Rounds 7",), ending="Stopped"),
            damaged(4),
        ]
    )
    for text, found in (
        ("WINDOW open", ["run 1"]),
        ("big office", ["run 2"]),
        ("rounds stopped", ["run 3"]),
        ("3×", ["run 3"]),
        ("damaged", ["run 4"]),
        ("office window", []),
        ("", ["run 3", "run 2", "run 1", "run 4"]),
    ):
        table.search(text)
        assert keys(table) == found, text


def test_tags_that_are_asked_for_must_all_be_there(table):
    table.show_runs([run(1, tags=("a",)), run(2, tags=("a", "b")), run(3)])
    table.search("", frozenset({"a"}))
    assert keys(table) == ["run 2", "run 1"]
    table.search("", frozenset({"a", "b"}))
    assert keys(table) == ["run 2"]


@pytest.mark.parametrize(
    ("column", "order"),
    [
        (Column.WHEN, ["run 1", "run 2", "run 3"]),
        (Column.RUN, ["run 3", "run 1", "run 2"]),
        (Column.RESULT, ["run 2", "run 3", "run 1"]),
        (Column.SETTINGS, ["run 1", "run 3", "run 2"]),
        (Column.MACHINE, ["run 2", "run 1", "run 3"]),
    ],
)
def test_a_click_on_a_heading_sorts_by_it_and_a_second_one_the_other_way(
    qtbot, table, column, order
):
    table.show_runs(
        [
            run(1, title="b", machine="m", results=(Result("x", "30", 30.0),)),
            run(2, title="C", machine="A", results=(Result("x", "4", 4.0),), settings=("z",)),
            run(3, title="A", machine="n", results=(Result("x", "5", 5.0),), settings=("Y",)),
        ]
    )
    header = table.horizontalHeader()
    place = QPoint(header.sectionViewportPosition(column) + 20, header.height() // 2)
    orders = []
    for _ in range(2):
        qtbot.mouseClick(header.viewport(), LEFT, pos=place)
        orders.append(keys(table))

    assert sorted(orders) == sorted([order, order[::-1]])


def test_what_is_pinned_stays_on_top_in_every_order(table):
    table.show_runs([run(1), run(2, is_pinned=True), run(3)])
    table.sortByColumn(Column.RUN, Qt.SortOrder.AscendingOrder)
    assert keys(table) == ["run 2", "run 1", "run 3"]
    table.sortByColumn(Column.RUN, Qt.SortOrder.DescendingOrder)
    assert keys(table) == ["run 2", "run 3", "run 1"]


def test_every_cell_says_its_words_to_those_who_do_not_see_it(table):
    results = (Result("speedup", "2×", 2.0), Result("time", "3 s", 3.0))
    table.show_runs(
        [
            run(
                1,
                is_pinned=True,
                results=results,
                settings=("A 1", "B 2"),
                ending="Stopped",
                prediction=HIT,
            )
        ]
    )
    texts = [table.runs.index(0, column).data() for column in Column]
    assert texts == [
        "pinned", "when 1 · full", "Question 1 · Stopped", "speedup 2× · time 3 s",
        "hit · said 2× · was 3×", "A 1 · B 2", "Test CPU",
    ]  # fmt: skip


def test_a_hint_shows_whatever_people_write_as_they_wrote_it(table):
    table.show_runs([run(1, question="<b>x</b>", note="two\nlines & more")])
    hint = table.runs.index(0, Column.RUN).data(Qt.ItemDataRole.ToolTipRole)
    assert "&lt;b&gt;x&lt;/b&gt;<br>two<br>lines &amp; more" in hint
    assert "exactly 1" in table.runs.index(0, Column.WHEN).data(Qt.ItemDataRole.ToolTipRole)
    assert "It found 1." in table.runs.index(0, Column.RESULT).data(Qt.ItemDataRole.ToolTipRole)


def test_a_hint_says_what_the_line_does_not_and_the_title_where_it_is_cut_off(table):
    table.show_runs([run(2), run(1, title="much too long " * 9, all_settings=("A 1", "B 2"))])
    painter = table.itemDelegate()

    def hint(row):
        index = table.runs.index(row, Column.RUN)
        return painter.tip(index, table.visualRect(index))

    assert hint(0) == "<qt>exactly 2 · Test CPU<br>run 2</qt>"
    assert hint(1).startswith("<p>much too long")
    assert hint(1).endswith("<qt>exactly 1 · Test CPU<br>A 1 · B 2<br>run 1</qt>")


def test_a_line_keeps_its_experiment_beside_name_and_note(table):
    pictures = []
    for question, note in (("How far?", "Window open"), ("How far?", ""), ("", "Window open")):
        table.show_runs([run(1, title="mine", question=question, note=note)])
        pictures.append(table.grab().toImage())

    assert pictures[0] != pictures[1] != pictures[2] != pictures[0]


def test_a_prediction_is_three_lines_of_which_none_is_cut_in_a_small_window(qtbot, table, look):
    table.show_runs([run(1)])
    before = table.rowHeight(0)
    table.resize(766, 500)  # what a window of 1280 pixels leaves it
    told = dataclasses.replace(
        SURPRISE, said="said after 1 s: four at once", was="was more than twice as long",
        miss="by up to 18 times",
    )  # fmt: skip
    table.show_runs([run(number, prediction=told) for number in range(12)])
    qtbot.waitUntil(table.verticalScrollBar().isVisible)

    cell = table.visualRect(table.runs.index(0, Column.PREDICTION))
    metrics = QFontMetrics(look.theme.font("note"))
    icon = ICON + STEP
    widths = [metrics.horizontalAdvance(each) for each in (told.said, told.was)]
    widths.append(icon + metrics.horizontalAdvance(f"surprise · {told.miss}"))
    assert not table.isColumnHidden(Column.PREDICTION)
    assert max(widths) <= cell.width() - 2 * MARGIN
    assert cell.height() >= 3 * metrics.height() > before - 3 * STEP
    table.show_runs([run(1)])
    assert table.rowHeight(0) == before


def test_by_how_much_a_guess_missed_is_said_and_what_counts(table):
    missed = dataclasses.replace(
        SURPRISE, miss="45 times too low", counts="A hit is within 10 times."
    )
    table.show_runs([run(1, prediction=missed)])
    index, role = table.runs.index(0, Column.PREDICTION), Qt.ItemDataRole.ToolTipRole

    assert index.data() == "surprise · 45 times too low · said 2× · was 90×"
    assert "A hit is within 10 times." in index.data(role)
    heading = table.runs.headerData(Column.PREDICTION, Qt.Orientation.Horizontal, role)
    assert WORDS.say("runs.prediction_hint") in heading
    assert "3 times" in heading


@pytest.mark.parametrize("mode", ["dark", "light"])
@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_every_kind_of_run_is_drawn(qtbot, mode, zoom):
    table = RunsTable(worn(mode, zoom), WORDS)
    qtbot.addWidget(table)
    table.resize(940, 700)
    table.show_runs(
        [
            run(1, is_pinned=True, tags=("a" * 90, "b"), settings=("A 1", "B 2")),
            run(2, ending="Failed", is_troubled=True, note="n", question="q"),
            run(5, prediction=HIT),
            run(6, prediction=SURPRISE),
            run(3, ending="Stopped", title="x" * 300, results=()),
            damaged(4),
        ]
    )
    picture = table.grab().toImage()
    blank = RunsTable(worn(mode, zoom), WORDS)
    qtbot.addWidget(blank)
    blank.resize(940, 700)
    assert picture != blank.grab().toImage()


@pytest.mark.parametrize("mode", ["dark", "light"])
def test_a_line_parts_selected_runs_as_clearly_as_others(qtbot, mode):
    def step(first: QColor, second: QColor) -> float:
        return abs(first.lightnessF() - second.lightnessF())

    table = RunsTable(worn(mode, 1.0), WORDS)
    qtbot.addWidget(table)
    table.resize(900, 500)
    table.show_runs([run(number) for number in range(4)])
    plain = table.visualRect(table.runs.index(2, Column.RUN))
    others = table.viewport().grab().toImage()
    table.selectAll()
    chosen = table.viewport().grab().toImage()

    x, line = plain.right() - 8, plain.bottom()
    ground, drawn = (others.pixelColor(x, y) for y in (line - 2, line))
    wash, seen = (chosen.pixelColor(x, y) for y in (line - 2, line))
    assert step(wash, seen) >= step(ground, drawn) > 0.0


def test_columns_that_say_nothing_are_left_out(table):
    def hidden():
        return [column for column in Column if table.isColumnHidden(column)]

    table.show_runs([run(1), run(2)])
    assert hidden() == [Column.PREDICTION, Column.SETTINGS, Column.MACHINE]
    table.show_runs([run(1), run(2, machine="Another CPU")])
    assert hidden() == [Column.PREDICTION, Column.SETTINGS]
    table.show_runs([run(1, settings=("rounds 3",)), run(2)])
    assert hidden() == [Column.PREDICTION, Column.MACHINE]
    table.show_runs([run(1, prediction=HIT), run(2)])
    assert hidden() == [Column.SETTINGS, Column.MACHINE]


def test_columns_that_have_no_room_are_left_out_and_come_back(table):
    table.resize(1100, 500)
    table.show_runs([run(1, settings=("rounds 3",), prediction=HIT), run(2, machine="Another CPU")])

    def hidden():
        return [column for column in Column if table.isColumnHidden(column)]

    assert hidden() == []
    table.resize(780, 500)
    assert hidden() == [Column.SETTINGS, Column.MACHINE]
    table.resize(640, 500)
    assert hidden() == [Column.PREDICTION, Column.SETTINGS, Column.MACHINE]
    table.resize(300, 500)
    assert hidden() == [Column.RESULT, Column.PREDICTION, Column.SETTINGS, Column.MACHINE]
    table.resize(1100, 500)
    assert hidden() == []


def test_room_that_is_left_goes_to_the_results_too(table):
    table.show_runs([run(1)])
    table.resize(620, 500)
    before = table.columnWidth(Column.RESULT)
    table.resize(1400, 500)

    assert before < table.columnWidth(Column.RESULT) < table.columnWidth(Column.RUN)


def test_larger_text_makes_higher_lines(table, look):
    table.show_runs([run(1), run(2)])
    before = table.rowHeight(0)
    look.wear(theme.load("dark", 1.6))
    assert table.rowHeight(0) > before * 1.3


# --- choosing -----------------------------------------------------------------------------------


def test_the_first_run_is_chosen_when_the_list_comes(qtbot, table):
    with qtbot.waitSignal(table.chosen):
        table.show_runs([run(1), run(2)])
    assert selected(table) == ["run 2"]


def test_several_are_chosen_by_mouse_and_all_by_keys(qtbot, table):
    table.show_runs([run(number) for number in range(6)])
    click(qtbot, table, 1)
    click(qtbot, table, 3, modifier=SHIFT)
    assert selected(table) == ["run 4", "run 3", "run 2"]
    click(qtbot, table, 5, modifier=CTRL)
    assert selected(table) == ["run 4", "run 3", "run 2", "run 0"]
    qtbot.keyClick(table, Qt.Key.Key_A, CTRL)
    assert len(selected(table)) == 6


def test_arrows_move_and_shift_with_them_chooses_more(qtbot, table):
    table.show_runs([run(number) for number in range(6)])
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert selected(table) == ["run 4"]
    qtbot.keyClick(table, Qt.Key.Key_Down, SHIFT)
    assert selected(table) == ["run 4", "run 3"]


def test_what_is_chosen_and_scrolled_to_outlives_a_refresh(qtbot, table):
    runs = [run(number) for number in range(200)]
    table.show_runs(runs)
    table.select(["run 100", "run 98"])
    table.verticalScrollBar().setValue(2000)
    current = table.runs.shown[table.currentIndex().row()].key

    table.show_runs([run(300), *[run(number, note="new") for number in range(200)]])

    assert selected(table) == ["run 100", "run 98"]
    assert table.runs.shown[table.currentIndex().row()].key == current == "run 100"
    assert table.verticalScrollBar().value() == 2000


def test_what_takes_the_place_of_deleted_runs_is_chosen(table):
    table.show_runs([run(number) for number in range(5)])
    table.select(["run 2"])
    table.show_runs([run(number) for number in (0, 1, 3, 4)])
    assert selected(table) == ["run 1"]
    table.show_runs([run(3), run(4)])
    assert selected(table) == ["run 3"]
    table.show_runs([])
    assert selected(table) == []


def test_runs_that_were_chosen_stay_so_while_others_are_searched_for(table):
    table.show_runs([run(number) for number in range(5)])
    table.select(["run 2", "run 4"])
    table.search("question 2")
    assert selected(table) == ["run 2"]


# --- keys and mouse -----------------------------------------------------------------------------


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_opens_the_current_run(qtbot, table, key):
    table.show_runs([run(1), run(2)])
    with qtbot.waitSignal(table.opened) as opened:
        qtbot.keyClick(table, key)
    assert opened.args == ["run 2"]


@pytest.mark.parametrize(
    ("key", "signal"),
    [(Qt.Key.Key_F2, "rename_asked"), (Qt.Key.Key_Delete, "delete_asked")],
)
def test_keys_ask_for_what_they_stand_for(qtbot, table, key, signal):
    table.show_runs([run(1)])
    with qtbot.waitSignal(getattr(table, signal)):
        qtbot.keyClick(table, key)


def test_other_letters_do_nothing(qtbot, table):
    table.show_runs([run(number) for number in range(5)])
    qtbot.keyClicks(table, "question 1")
    assert selected(table) == ["run 4"]


def test_a_double_click_opens_a_run(qtbot, table):
    table.show_runs([run(1), run(2)])
    with qtbot.waitSignal(table.opened) as opened:
        qtbot.mouseDClick(table.viewport(), LEFT, pos=centre(table, 1))
    assert opened.args == ["run 1"]


def test_a_click_on_the_pin_pins_this_run_alone(qtbot, table):
    table.show_runs([run(1), run(2)])
    with qtbot.waitSignal(table.pin_clicked) as pinned:
        click(qtbot, table, 1, Column.PIN)
    assert pinned.args == ["run 1"]
    with qtbot.assertNotEmitted(table.pin_clicked):
        click(qtbot, table, 1)


def test_the_menu_comes_at_the_mouse_and_below_the_current_run_by_keys(qtbot, table):
    table.show_runs([run(1), run(2)])
    reason = QContextMenuEvent.Reason
    for why, place in ((reason.Mouse, centre(table, 1)), (reason.Keyboard, QPoint(0, 0))):
        with qtbot.waitSignal(table.menu_asked) as asked:
            at = table.viewport().mapToGlobal(place)
            heard_by = table.viewport() if why is reason.Mouse else table
            QApplication.sendEvent(heard_by, QContextMenuEvent(why, place, at))
        below = table.viewport().mapFromGlobal(asked.args[0])
        if why is reason.Mouse:
            assert below == place
        else:
            assert table.visualRect(table.runs.index(0, 0)).bottom() <= below.y() + 1


def test_tab_leaves_the_table(qtbot, table):
    table.show_runs([run(1), run(2)])
    assert not table.tabKeyNavigation()


# --- many ---------------------------------------------------------------------------------------


def test_ten_thousand_runs_are_shown_searched_sorted_and_scrolled(table):
    numbers = list(range(10_000))
    random.Random(1).shuffle(numbers)
    runs = [run(number, tags=("a",) if number % 3 else ()) for number in numbers]
    newest_first = [f"run {number}" for number in range(9_999, -1, -1)]

    table.show_runs(runs)
    assert keys(table) == newest_first
    table.search("question 77")
    assert keys(table) == [key for key in newest_first if "77" in key]
    table.search("")
    table.sortByColumn(Column.RESULT, Qt.SortOrder.AscendingOrder)
    assert keys(table) == newest_first[::-1]
    table.selectAll()
    table.show_runs(runs)
    assert len(table.selected()) == 10_000
    table.scrollToBottom()
    assert table.viewport().rect().contains(centre(table, 9_999))


def test_the_arrow_of_the_head_points_down_where_values_fall_down_the_list(table):
    header, option = table.horizontalHeader(), QStyleOptionHeaderV2()

    for order, arrow in ((Qt.SortOrder.DescendingOrder, "SortDown"),
                         (Qt.SortOrder.AscendingOrder, "SortUp")):  # fmt: skip
        table.sortByColumn(Column.WHEN, order)
        header.initStyleOptionForIndex(option, Column.WHEN)
        assert option.sortIndicator.name == arrow
