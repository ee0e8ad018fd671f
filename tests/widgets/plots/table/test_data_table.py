from __future__ import annotations

import pytest
from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QPushButton

from experiments.core import words
from experiments.python_at_work.gil_threads.experiment import EXPERIMENT, Slice, Timing
from widgets.plots.table.data_table import DataTable
from widgets.style import theme
from widgets.style.look import Look

DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder
WALL, METHOD = 3, 0
SAY = words.load().say


def timing(method, repeat, wall_s, gil=True):
    return Timing(method=method, python="3.11", repeat=repeat, wall_s=wall_s, gil=gil)


def timings():
    return [
        timing("threads", 0, 0.5),
        timing("serial", 0, 1.0 / 3.0),
        timing("threads", 1, 0.0009, gil=False),
    ]


@pytest.fixture
def look():
    return Look(theme.load("dark"))


@pytest.fixture
def table(qtbot, look) -> DataTable:
    made = DataTable(EXPERIMENT, words.load(), look)
    qtbot.addWidget(made)
    made.resize(700, 400)
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    made.view.setFocus()
    return made


def shown(table) -> list[list[str]]:
    model = table.view.model()
    return [
        [model.index(row, column).data() for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def column(table, at) -> list[str]:
    return [row[at] for row in shown(table)]


def chips(table) -> list[QPushButton]:
    found = table.findChildren(QPushButton)
    return [each for each in found if each.property("role") == "chip" and each.isCheckable()]


def choose(table, *parts):
    """Choose the cells of each part: top, left, bottom, right."""
    model, chosen = table.view.model(), QItemSelection()
    for top, left, bottom, right in parts:
        chosen.select(model.index(top, left), model.index(bottom, right))
    table.view.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)


def test_cells_are_in_words_and_units_and_rounds_count_from_one(table):
    table.show_tables({"timings": timings()})

    assert shown(table) == [
        ["threads", "3.11", "1", "500 ms", "yes"],
        ["one after another", "3.11", "1", "333 ms", "yes"],
        ["threads", "3.11", "2", "900 µs", "no"],
    ]


def test_heads_are_in_words_and_say_what_the_file_calls_them(table):
    table.show_tables({"timings": timings()})
    model, flat = table.view.model(), Qt.Orientation.Horizontal

    heads = [model.headerData(at, flat) for at in range(model.columnCount())]
    assert heads == ["way", "Python", "round", "time of all jobs", "lock (GIL) on"]
    tip = model.headerData(WALL, flat, Qt.ItemDataRole.ToolTipRole)
    assert tip == "Called wall_s in files, in s."


def test_numbers_stand_at_the_right_in_figures_of_one_width_and_words_at_the_left(table):
    table.show_tables({"timings": timings()})
    model = table.view.model()

    def of(at, role):
        return model.index(0, at).data(role)

    assert of(WALL, Qt.ItemDataRole.FontRole).family() == theme.MONO
    assert of(METHOD, Qt.ItemDataRole.FontRole).family() == theme.SANS
    assert of(WALL, Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignRight
    assert of(METHOD, Qt.ItemDataRole.TextAlignmentRole) & Qt.AlignmentFlag.AlignLeft


def test_a_click_on_a_head_sorts_by_value_and_a_third_undoes_it(table, qtbot):
    rows = [timing("threads", n, wall_s) for n, wall_s in enumerate((2.0, 0.5, 0.0009, 10.0))]
    table.show_tables({"timings": rows})
    head = table.view.horizontalHeader()

    def click():
        x = head.sectionViewportPosition(WALL) + head.sectionSize(WALL) // 2
        at = head.viewport().rect().center()
        at.setX(x)
        qtbot.mouseClick(head.viewport(), Qt.MouseButton.LeftButton, pos=at)
        return column(table, WALL)

    def says():
        return table.view.model().headerData(WALL, Qt.Orientation.Horizontal)

    assert click() == ["900 µs", "500 ms", "2 s", "10 s"]
    assert says() == "time of all jobs ↑"
    assert click() == ["10 s", "2 s", "500 ms", "900 µs"]
    assert says() == "time of all jobs ↓"
    assert click() == ["2 s", "500 ms", "900 µs", "10 s"]
    assert says() == "time of all jobs"


def test_words_are_sorted_as_they_are_shown(table):
    rows = [timing(method, 0, 1.0) for method in ("threads", "serial", "released_serial")]
    table.show_tables({"timings": rows})
    table.view.sortByColumn(METHOD, UP)

    assert column(table, METHOD) == [
        "NumPy sorts one after another",
        "one after another",
        "threads",
    ]


def test_rows_that_come_are_shown_where_they_belong(table):
    rows = timings()
    table.show_tables({"timings": rows})
    rows.append(timing("serial", 1, 0.4))
    assert len(shown(table)) == 3  # nothing changes by itself

    table.refresh()
    assert column(table, WALL) == ["500 ms", "333 ms", "900 µs", "400 ms"]

    table.view.sortByColumn(WALL, DOWN)
    rows.append(timing("serial", 2, 0.45))
    table.refresh()
    assert column(table, WALL) == ["500 ms", "450 ms", "400 ms", "333 ms", "900 µs"]


def test_what_is_chosen_stays_chosen_where_it_is_sorted_to(table):
    rows = timings()
    table.show_tables({"timings": rows})
    choose(table, (0, WALL, 0, WALL))
    table.view.sortByColumn(WALL, UP)
    rows.append(timing("serial", 1, 0.4))
    table.refresh()

    assert [index.data() for index in table.view.selectedIndexes()] == ["500 ms"]


def test_many_chosen_rows_are_let_go_when_new_ones_are_sorted_in(table):
    rows = [timing("threads", n, 1.0 / (n + 1)) for n in range(3000)]
    table.show_tables({"timings": rows})
    table.view.sortByColumn(WALL, UP)
    table.view.selectAll()
    rows.append(timing("threads", 3000, 0.3))
    table.refresh()

    assert not table.view.selectionModel().hasSelection()


def test_copied_cells_have_all_digits_and_tabs_between_them(table, qtbot):
    table.show_tables({"timings": timings()})
    choose(table, (1, METHOD, 2, METHOD), (1, WALL, 2, WALL))
    qtbot.keyClick(table.view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)

    assert QGuiApplication.clipboard().text().replace("\r", "") == (
        "method\twall_s\nserial\t0.3333333333333333\nthreads\t0.0009"
    )


def test_cells_between_chosen_ones_are_copied_empty(table):
    table.show_tables({"timings": timings()})
    choose(table, (0, METHOD, 0, METHOD), (1, WALL, 1, WALL))
    table.copy()

    assert QGuiApplication.clipboard().text().replace("\r", "") == (
        "method\twall_s\nthreads\t\n\t0.3333333333333333"
    )


def test_one_cell_is_copied_alone(table):
    table.show_tables({"timings": timings()})
    table.view.sortByColumn(WALL, UP)
    choose(table, (0, WALL, 0, WALL))
    table.copy()

    assert QGuiApplication.clipboard().text() == "0.0009"


def test_everything_is_chosen_by_key(table, qtbot):
    table.show_tables({"timings": timings()})
    qtbot.keyClick(table.view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    table.copy()

    assert len(QGuiApplication.clipboard().text().splitlines()) == 4


def test_there_is_a_chip_for_each_table_and_the_csv_is_of_the_one_shown(table, qtbot):
    slices = [Slice(method="threads", python="3.11", worker=0, start_s=0.0, end_s=0.25)]
    table.show_tables({"timings": timings(), "slices": slices, "wakes": []})
    first_views = {view.table: view.key for view in reversed(EXPERIMENT.views)}
    titles = [
        SAY(f"gil-threads.views.{first_views[name]}") for name in ("timings", "slices", "wakes")
    ]
    assert [chip.text() for chip in chips(table)] == titles
    assert [chip.isChecked() for chip in chips(table)] == [True, False, False]

    chips(table)[1].click()
    assert shown(table) == [["threads", "3.11", "0", "0 s", "250 ms"]]
    assert table.view.accessibleName() == titles[1]
    save = next(b for b in table.findChildren(QPushButton) if b.text() == SAY("data.save_csv"))
    with qtbot.waitSignal(table.csv_wanted) as wanted:
        save.click()
    assert wanted.args == ["slices"]


def test_the_table_one_looked_at_is_shown_of_the_next_run_too(table):
    slices = [Slice(method="threads", python="3.11", worker=0, start_s=0.0, end_s=0.25)]
    table.show_tables({"timings": timings(), "slices": slices})
    chips(table)[1].click()
    table.show_tables({"timings": timings(), "slices": slices * 2})

    assert len(shown(table)) == 2
    assert chips(table)[1].isChecked()


def test_a_single_table_needs_no_chips(table):
    table.show_tables({"timings": timings()})

    assert not any(chip.isVisible() for chip in chips(table))


def test_it_says_how_many_rows_there_are(table):
    rows = []
    table.show_tables({"timings": rows})
    assert table.view.accessibleDescription() == SAY("data.no_rows")
    rows += timings()[:1]
    table.refresh()
    assert table.view.accessibleDescription() == SAY("data.rows", {"rows": 1})
    rows += timings()
    table.refresh()
    assert table.view.accessibleDescription() == "4 rows"


def test_another_theme_reaches_cells_and_rows(table, look):
    table.show_tables({"timings": timings()})
    before = table.view.rowHeight(0)
    look.theme = theme.load("light", 1.6)
    look.changed.emit()

    assert table.view.rowHeight(0) > before
    font = table.view.model().index(0, WALL).data(Qt.ItemDataRole.FontRole)
    assert font.pixelSize() == look.theme.px("text")


def test_tab_leads_out_of_the_table(table, qtbot):
    table.show_tables({"timings": timings()})
    table.view.setFocus()
    qtbot.keyClick(table.view, Qt.Key.Key_Tab)

    assert QApplication.focusWidget() is not table.view


def test_columns_take_what_they_need_and_no_scroll_bar_comes_where_they_fit(table, look):
    table.show_tables({"timings": [timing("threads", at, 0.5) for at in range(200)]})
    QApplication.processEvents()
    view, head = table.view, table.view.horizontalHeader()
    count = table.model.columnCount()
    needed = [max(view.sizeHintForColumn(at), head.sectionSizeHint(at)) for at in range(count)]

    assert not head.isSortIndicatorShown()  # nor room for it in every head
    font = table.model.headerData(0, Qt.Orientation.Horizontal, Qt.ItemDataRole.FontRole)
    assert font.pixelSize() == look.theme.px("note")  # as it is painted

    bar = table.width() - view.viewport().width()  # the vertical one, which came with the rows
    table.resize(sum(needed) + bar, 400)
    QApplication.processEvents()
    assert view.horizontalScrollBar().maximum() == 0
    assert [view.columnWidth(at) for at in range(count)] == needed

    table.view.sortByColumn(WALL, UP)  # its head says it with an arrow
    assert view.columnWidth(WALL) >= head.sectionSizeHint(WALL) > needed[WALL]


def test_columns_make_room_for_a_scroll_bar_that_comes_with_the_rows(table):
    rows = [timing("threads", 0, 0.5)]
    table.show_tables({"timings": rows})
    rows += [timing("threads", at, 0.5) for at in range(200)]
    table.refresh()
    QApplication.processEvents()
    assert table.view.verticalScrollBar().maximum() > 0
    assert table.view.horizontalScrollBar().maximum() == 0
