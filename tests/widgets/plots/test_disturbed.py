"""Disturbed rows in plots and in the table: drawn hollow, said, and kept."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor

from experiments.core.judging.disturbed import Loss, mark
from experiments.core.tables import to_csv
from tests.widgets.plots.plots import ENGLISH, EXPERIMENTS, TABLES, look, plotted, view_of
from widgets.plots.sheet import Sheet
from widgets.plots.table.data_table import DataTable

LOSS = Loss(0.25, 3)
VIEWS = [
    ("gil-threads", view_of("gil-threads", "wall"), "wall_s"),
    ("cache-ladder", view_of("cache-ladder", "fetched_ahead"), "latency_s"),
]


def spoiled(experiment, view, column):
    """Return the rows of a view, with a disturbed one that took three times as long."""
    rows = TABLES[experiment][view.table]
    worse = msgspec.structs.replace(rows[0], **{column: 3 * getattr(rows[0], column)})
    return rows, [*rows, mark(worse, LOSS)]


@pytest.fixture
def hollow(monkeypatch):
    """Return how many hollow dots each call drew."""
    drawn, dots = [], Sheet.dots

    def spy(sheet, xs, ys, colour, **how):
        if how.get("is_hollow"):
            drawn.append(len(xs))
        dots(sheet, xs, ys, colour, **how)

    monkeypatch.setattr(Sheet, "dots", spy)
    return drawn


@pytest.mark.parametrize(("experiment", "view", "column"), VIEWS)
def test_a_disturbed_repeat_is_a_hollow_dot_and_moves_nothing(
    experiment, view, column, qtbot, hollow
):
    calm, disturbed = spoiled(experiment, view, column)
    before = plotted(qtbot, experiment, view, rows=calm)
    before.painted()
    assert sum(hollow) == 0

    plot = plotted(qtbot, experiment, view, rows=disturbed)
    plot.painted()
    assert sum(hollow) > 0
    assert plot.summary() == before.summary()


def test_the_table_keeps_a_disturbed_row_and_says_what_it_is(qtbot):
    experiment = EXPERIMENTS["gil-threads"]
    _, rows = spoiled(*VIEWS[0])
    table = DataTable(experiment, ENGLISH, look())
    qtbot.addWidget(table)
    table.show_tables({"timings": rows})

    first, last = (table.model.index(row, 0) for row in (0, len(rows) - 1))
    said = ENGLISH.say("data.disturbed", {"lost_fraction": LOSS.lost_fraction})
    assert last.data(Qt.ItemDataRole.ToolTipRole) == said
    assert last.data(Qt.ItemDataRole.ForegroundRole) == QColor(look().theme.soft)
    assert first.data(Qt.ItemDataRole.ToolTipRole) is None


def test_a_file_of_rows_says_how_much_was_lost():
    calm, rows = spoiled(*VIEWS[0])
    lines = to_csv(rows, type(calm[0])).splitlines()

    assert lines[0].endswith(",lost_fraction")
    assert lines[1].endswith(",")
    assert lines[-1].endswith(",0.25")
    assert "lost_fraction" not in to_csv(calm, type(calm[0]))
