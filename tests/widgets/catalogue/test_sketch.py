from __future__ import annotations

from collections import Counter

import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from experiments.core import declare, marks, words
from experiments.core.catalogue import Catalogue
from experiments.core.judging.disturbed import Loss, mark
from experiments.core.views import Axis, Bars, Code, Field, Heatmap, Lines, Ruler, Timeline
from experiments.engine.recording import read
from tests.cases import in_one
from tests.shipped import SHIPPED
from widgets.catalogue.sketch import Block, Pin, Stroke, expected, measured, paint
from widgets.plots.chart import Chart
from widgets.style import theme

WORDS = words.load()
RECORDED = [e for e in Catalogue() if e.id in SHIPPED]


class Row(declare.Row, kw_only=False):
    name: str
    value: float
    end: float


VIEWS = {
    "bars": Bars(key="k", table="t", label="name", value="value"),
    "lines": Lines(key="k", table="t", x=Axis("value", "log2"), y=Axis("value"), series="name"),
    "one line": Lines(key="k", table="t", x=Axis("value"), y=Axis("value")),
    "lanes": Timeline(key="k", table="t", lane="name", start="value", end="end"),
    "cells": Heatmap(key="k", table="t", row="name", column="end", value="value"),
    "pins": Ruler(key="k", table="t", label="name", value="value"),
}
ROWS = [
    Row(name=name, value=value, end=value + 1) for name in ("a", "b") for value in (1.0, 2.0, 8.0)
]
every_view = pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)


def corners(sketch):
    for shape in sketch.shapes:
        match shape:
            case Block():
                yield from ((shape.left, shape.top), (shape.right, shape.bottom))
            case Stroke():
                yield from shape.points
            case Pin():
                yield shape.x, shape.top


def colours(sketch) -> set[int]:
    night = theme.load("dark")
    image = QImage(120, 60, QImage.Format.Format_RGB32)
    image.fill(QColor(night.panel))
    with QPainter(image) as painter:
        paint(painter, QRectF(0, 0, 120, 60), sketch, night)
    return {image.pixel(x, y) for x in range(120) for y in range(60)}


@every_view
def test_every_kind_of_view_has_a_stamp_before_and_after_it_is_measured(view):
    before, after = expected(view), measured(view, ROWS)

    assert not before.is_measured
    assert after.is_measured
    for sketch in (before, after):
        assert sketch.shapes
        assert all(-1e-9 <= x <= 1 + 1e-9 and -1e-9 <= y <= 1 + 1e-9 for x, y in corners(sketch))
        assert len(colours(sketch)) > 1


@pytest.mark.parametrize(
    "view",
    [
        Field(key="k", table="t"),
        Code(key="k", table="t", pieces=(), piece="name", version="name", about=("name",) * 3),
    ],
    ids=["field", "code"],
)
def test_what_is_no_plot_of_rows_has_a_stamp_of_its_kind_only(view):
    assert len(colours(expected(view))) > 1
    assert measured(view, ROWS) is None


@every_view
def test_nothing_measured_is_no_stamp(view):
    assert measured(view, []) is None


@in_one("name", sorted(VIEWS.keys() - {"lanes"}))  # those tell moments
def test_samples_that_were_all_disturbed_are_no_stamp(name):
    loss = Loss(lost_fraction=0.5, switches=9)
    assert measured(VIEWS[name], [mark(row, loss) for row in ROWS]) is None


def test_bars_are_as_long_as_what_was_measured():
    rows = [Row(name, value, 0.0) for name, value in (("a", 4.0), ("b", 1.0))]
    long, short = measured(VIEWS["bars"], rows).shapes

    assert (long.right, short.right) == (1.0, 0.25)
    assert long.bottom <= short.top


def test_a_line_rises_from_left_to_right_as_the_values_do():
    (stroke,) = measured(VIEWS["one line"], ROWS).shapes

    assert stroke.points[0] == (0.0, 1.0)
    assert stroke.points[-1] == (1.0, 0.0)


def test_a_logarithmic_axis_is_one_in_small_too():
    stroke = measured(VIEWS["lines"], ROWS).shapes[0]

    assert [x for x, _ in stroke.points] == pytest.approx([0, 1 / 3, 1])


@pytest.mark.parametrize("value", [0.0, 3.0])
@every_view
def test_equal_values_and_zeros_are_no_trouble(view, value):
    rows = [Row(name="a", value=value, end=value) for _ in range(3)]

    measured(view, rows)


@in_one("experiment", RECORDED, ids=lambda e: e.id)
def test_a_stamp_has_the_colours_of_its_plot(qapp, experiment):
    tables = read(SHIPPED[experiment.id]).tables(experiment)
    for view in experiment.plots:
        shown, wanted = stamp_and_plot(experiment, view, tables[view.table])
        assert shown == wanted, view.key


def stamp_and_plot(experiment, view, rows):
    """Return the colours of a stamp, and those that its plot gives it.

    A stamp cannot show a single point, or pictures; but the first view always has one.
    """
    chart = Chart(experiment, view, WORDS)
    chart.take(rows, {}, None)
    tracks = [track.colour for track in chart.drawing.tracks()]

    sketch = measured(view, rows)
    if sketch is None:
        assert view is not experiment.plots[0]
        return [], []
    shown = [getattr(shape, "series", 0) for shape in sketch.shapes]

    match view:
        case Bars():
            bars = marks.bars(view, rows)
            ((detail, _),) = Counter(bar.detail for bar in bars).most_common(1)
            paired = zip(bars, tracks, strict=True)
            wanted = [colour for bar, colour in paired if bar.detail == detail][:6]
        case Lines():
            wanted = tracks[::-1]  # the first line lies above the others in both
        case Timeline():
            lanes = list(zip(marks.lanes(view, rows), tracks, strict=True))[:6]
            wanted = [colour for lane, colour in lanes for _ in lane.slices]
        case Heatmap():
            shown, wanted = {shape.shade for shape in sketch.shapes}, cell_colours(chart)
        case Ruler():
            wanted = [colour for colour in tracks for _ in shown]
    return shown, wanted


def cell_colours(chart) -> set[str]:
    """Return the colours in the picture of a heatmap that fill something, left of their key."""
    night = theme.load("dark")
    image = QImage(1600, 1200, QImage.Format.Format_RGB32)
    image.fill(QColor(night.panel))
    with QPainter(image) as painter:
        area = chart.paint(painter, QRectF(image.rect()), night).area
    rows, columns = (round(high - low) for low, high in (area.sight.y, area.sight.x))
    corners = [
        area.point(column - 0.45, row - 0.45) for row in range(rows) for column in range(columns)
    ]
    found = {image.pixelColor(corner.toPoint()).name() for corner in corners}
    return found - {night.panel.lower(), night.line.lower()}  # hatched: not measured


def test_what_is_only_expected_has_no_colour_of_what_was_measured():
    """Grey: no colour of a series is in it, also not in part."""
    for experiment in Catalogue():
        for pixel in colours(expected(experiment.views[0])):
            assert QColor(pixel).hslSaturationF() < 0.2, experiment.id
