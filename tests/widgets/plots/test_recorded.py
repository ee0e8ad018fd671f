"""Laws of the plots of every recording that comes with the program."""

from __future__ import annotations

import functools
from collections import defaultdict

import numpy as np
import pytest
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.views import Lines
from experiments.engine.recording import read
from experiments.python_at_work.uneven import experiment as uneven
from tests.cases import in_one
from tests.shipped import SHIPPED
from widgets.plots.chart import Chart
from widgets.plots.drawing import Span
from widgets.style import theme as themes

pytestmark = pytest.mark.usefixtures("qapp")  # fonts are measured
ENGLISH = words.load()
LINES = [
    (e, view) for e in Catalogue() if e.id in SHIPPED for view in e.plots if isinstance(view, Lines)
]
SAME_PX = 3.0  # so close lines look like one


def along() -> list:
    """Return the experiments with several views of one column, and these views."""
    found = defaultdict(list)
    for experiment, view in LINES:
        found[experiment.id, view.table, view.x].append((experiment, view))
    return [
        (pairs[0][0], [view for _, view in pairs]) for pairs in found.values() if len(pairs) > 1
    ]


def names(cases) -> list[str]:
    return [f"{e.id}-{getattr(view, 'key', 'together')}" for e, view in cases]


@functools.cache
def recorded(experiment_id):
    """Return the tables of a recording, and the values of its finding."""
    experiment = Catalogue().load(experiment_id)
    recording = read(SHIPPED[experiment_id])
    finding = recording.finding(experiment)
    return recording.tables(experiment), finding.values if finding else {}


def span(chart, rows, values) -> Span:
    """Return what is in sight of a chart after it has been laid out with these rows."""
    chart.take(rows, values, None)
    full = chart.lay_out(QRectF(0.0, 0.0, 850.0, 330.0), themes.load("dark")).full
    return Span(full.x, full.y)


def near_px(track, rect, area) -> float:
    """Return how far a line is from a rectangle."""
    share = np.linspace(0.0, len(track.xs) - 1.0, 2000)
    xs = area.x_px(np.interp(share, range(len(track.xs)), track.xs))
    ys = area.y_px(np.interp(share, range(len(track.xs)), track.ys))
    right = np.maximum(rect.left() - xs, xs - rect.right()).clip(0.0)
    down = np.maximum(rect.top() - ys, ys - rect.bottom()).clip(0.0)
    return float(np.hypot(right, down).min())


@in_one(("experiment", "view"), LINES, ids=names(LINES))
def test_an_axis_that_has_grown_with_a_run_ends_where_it_does_at_once(experiment, view):
    """The range around the first point alone does not stay on an axis."""
    tables, values = recorded(experiment.id)
    rows, grown = tables[view.table], Chart(experiment, view, ENGLISH)
    for count in (1, 3, len(rows) // 2):
        span(grown, rows[:count], {})

    at_once = span(Chart(experiment, view, ENGLISH), rows, values)
    assert span(grown, rows, values).x == at_once.x


def test_rows_of_which_no_line_is_drawn_leave_no_trace_on_the_axes():
    view = next(view for view in uneven.EXPERIMENT.views if view.key == "efficiency")
    shares = [
        uneven.WayTime(way=way, chunk=chunk, repeat=0, wall_s=0.1, efficiency_fraction=share)
        for way, chunk, share in (("block", 128, 0.55), ("dynamic", 4, 0.9), ("dynamic", 8, 0.95))
    ]
    grown = Chart(uneven.EXPERIMENT, view, ENGLISH)
    span(grown, shares[:1], {})

    assert span(grown, shares, {}) == span(Chart(uneven.EXPERIMENT, view, ENGLISH), shares, {})


@in_one(("experiment", "views"), along(), ids=names(along()))
def test_views_of_one_column_have_one_x_axis(experiment, views):
    tables, values = recorded(experiment.id)
    limits = [limit.value for view in views for limit in view.limits if limit.axis == "x"]
    far = {limit: 1e6 for limit in limits}
    for part, known in ((0.1, {}), (0.3, values | far), (0.5, values), (1.0, {}), (1.0, values)):
        rows = tables[views[0].table]
        rows = rows[: round(part * len(rows))]
        spans = [span(Chart(experiment, view, ENGLISH), rows, known) for view in views]
        assert len({found.x for found in spans}) == 1, (part, known)


@pytest.mark.parametrize(
    ("experiment", "view"),
    [case for case in LINES if case[0].id == "false-sharing"],
    ids=["time", "together"],
)
def test_an_axis_begins_where_its_data_begin(experiment, view):
    rows = recorded("false-sharing")[0]["increments"]
    nearest = [row for row in rows if row.distance_bytes == 8]
    chart = Chart(experiment, view, ENGLISH)
    assert span(chart, nearest, {}).x == (2, 4)

    assert span(chart, [*nearest, *rows], {}).x == (3, 9)


@in_one(("experiment", "view"), LINES, ids=names(LINES))
def test_a_label_stands_nearest_to_its_line_or_is_led_to(experiment, view):
    tables, values = recorded(experiment.id)
    chart = Chart(experiment, view, ENGLISH)
    chart.take(tables[view.table], values, None)
    for zoom in (1.0, 1.6):
        assert lost_labels(chart, zoom) == [], zoom


def lost_labels(chart, zoom: float) -> list[str]:
    """Return the labels that stand nearer to another line, and are not led to their own."""
    image = QImage(round(886 * zoom), round(330 * zoom), QImage.Format.Format_RGB32)
    with QPainter(image) as painter:
        painted = chart.paint(painter, QRectF(image.rect()), themes.load("dark", zoom))

    tracks = {track.name: track for track in chart.drawing.tracks()}
    lost = []
    for label in painted.labels:
        if label.text in tracks:
            gaps = {name: near_px(each, label.rect, painted.area) for name, each in tracks.items()}
            is_nearest = gaps[label.text] <= min(gaps.values()) + SAME_PX
            start = label.leader and QRectF(label.leader.p1(), QSizeF(0.1, 0.1))
            is_led = start and near_px(tracks[label.text], start, painted.area) < SAME_PX
            if not is_nearest and not is_led:
                lost.append(label.text)
    return lost
