from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QRectF

from experiments.core.views import Limit, Ruler
from experiments.numbers.activations import experiment as activations
from tests.widgets.plots.plots import ENGLISH, TABLES, look, plotted, texts
from widgets.plots import axes, limits
from widgets.plots.canvas import PADDING_PX
from widgets.plots.drawing import Beside
from widgets.plots.limits import past_labels
from widgets.plots.plot import Plot
from widgets.plots.sheet import text_size

RULER = Ruler(key="wall", table="timings", label="method", value="wall_s")
FACTORS = {"serial": 30.0, "threads": 0.001, "processes": 2.0}
ROWS = [
    msgspec.structs.replace(row, wall_s=row.wall_s * FACTORS.get(row.method, 1.0))
    for row in TABLES["gil-threads"]["timings"]
]
ELEMENTS = next(view for view in activations.EXPERIMENT.views if view.key == "elements")


def crowded(qtbot, width, height=None, zoom=1.0):
    """Return a ruler with two close pins, so wide, and so high or as high as it asks for."""
    plot = Plot(activations.EXPERIMENT, ELEMENTS, ENGLISH, look(zoom=zoom))
    qtbot.addWidget(plot)
    found = {"copy": 0.15, "relu": 2.18, "sigmoid": 0.627, "tanh": 2.7, "gelu": 9.43}
    rows = [
        activations.Pass(
            function=function, device="cpu", what=f"{function}_cpu", repeat=repeat, numbers=10_000,
            element_s=time_ns * 1e-9 * (1 + repeat / 50), over_copy=1.0,
        )
        for function, time_ns in found.items()
        for repeat in range(3)
    ]  # fmt: skip
    plot.draw(rows, {})
    plot.resize(width, height or round(plot.least_height(width)) + 1)
    return plot


def pins(qtbot, **more):
    return plotted(qtbot, "gil-threads", RULER, rows=ROWS, values={}, **more)


def flags(plot) -> list[tuple[float, QRectF]]:
    """Return the stem and the rectangle of each flag that is shown."""
    drawn, drawing = plot.painted(), plot.chart.drawing
    stems = {
        drawing.read(0, point): drawn.area.x_px(float(place))
        for point, place in enumerate(drawing.tracks()[0].xs)
    }
    return [
        (next(px for said, px in stems.items() if said.startswith(label.text)), label.rect)
        for label in drawn.labels
    ]


def test_a_pin_stands_at_its_value_on_a_logarithmic_ruler(qtbot):
    plot = pins(qtbot)
    area = plot.painted().area

    places = plot.chart.drawing.tracks()[0].xs
    blue = look().theme.series_colour(0).lower()
    picture = plot.grab().toImage()
    for place in places:
        assert picture.pixelColor(area.point(place, 0.0).toPoint()).name() == blue
    assert list(places) == sorted(places)


@pytest.mark.parametrize("zoom", [1.0, 1.6])
def test_flags_do_not_overlap_and_no_stem_goes_through_one(qtbot, zoom):
    plot = pins(qtbot, wears=look("light", zoom))
    labels = plot.painted().labels
    area = plot.painted().area

    for place, label in enumerate(labels):
        assert plot.rect().toRectF().contains(label.rect)
        for other in labels[:place]:
            assert not label.rect.intersects(other.rect)
            stem = other.rect.left() - 4  # of the other flag, which stands right of it
            is_crossed = label.rect.left() < stem < label.rect.right()
            assert not (is_crossed and other.rect.top() < label.rect.top())
    assert area.rect.width() > 300


@pytest.mark.parametrize("width", [300, 420, 850])
def test_a_flag_is_whole_and_crossed_by_no_stem_or_it_is_left_out(qtbot, width):
    plot = pins(qtbot, wears=look("light", 1.6), size=(width, 500))
    area, found = plot.painted().area, flags(plot)

    assert found
    assert len(found) == 6 or width < 850
    for px, rect in found:
        assert area.rect.left() - 8 <= rect.left() <= rect.right() <= area.rect.right()
        for stem, other in found:
            assert other.top() > rect.top() or not rect.left() <= stem <= rect.right() or stem == px
            assert rect is other or not rect.intersects(other)


def test_a_ruler_that_is_as_high_as_it_asks_for_shows_every_flag(qtbot):
    plot = pins(qtbot, size=(850, 120))
    assert len(texts(plot)) < 6
    plot.resize(850, round(plot.least_height(850)) + 1)

    assert len(texts(plot)) == 6


def test_every_pin_has_its_flag_where_the_ruler_has_the_height_it_asks_for(qtbot):
    for width in range(500, 1400, 20):
        assert len(texts(crowded(qtbot, width))) == 5, width


def test_a_flag_stands_left_of_its_pin_where_only_there_is_room(qtbot):
    plot = crowded(qtbot, 2080, 120, zoom=1.6)
    shown = {
        label.text.split(" · ")[0]: label.rect.left() - px
        for label, (px, _) in zip(plot.painted().labels, flags(plot), strict=True)
    }

    assert shown["ReLU, processor"] < 0 < shown["tanh, processor"]


def test_a_pin_without_room_for_its_flag_stands_all_the_same(qtbot):
    plot = crowded(qtbot, 300, 120)
    area, picture = plot.painted().area, plot.grab().toImage()

    assert len(texts(plot)) < 5
    above = round(area.y_px(0.0)) - 10
    for place in plot.chart.drawing.tracks()[0].xs:
        px = round(area.x_px(place))
        near = {picture.pixelColor(x, above).name() for x in (px - 1, px, px + 1)}
        assert near != {look().theme.panel.lower()}


def test_the_first_tick_stands_below_its_place(qtbot):
    plot = pins(qtbot)
    plan, area = plot.chart.drawing.plan(), plot.painted().area
    theme = look().theme

    place, text = axes.axis_ticks(plan.x, area.sight.x, 3)[0]
    half = text_size(text, theme.font("note")).width() / 2
    assert area.x_px(place) - half >= PADDING_PX


def test_a_limit_line_goes_through_the_name_of_no_other(qtbot, monkeypatch):
    drawn = []
    real = limits.past_labels

    def record(px, top, bottom, labels):
        pieces = list(real(px, top, bottom, labels))
        drawn.extend((px, start, end) for start, end in pieces)
        return pieces

    monkeypatch.setattr(limits, "past_labels", record)
    view = msgspec.structs.replace(
        RULER, limits=(Limit("perfect", "a"), Limit("one_after_another", "b"))
    )
    values = {"a": 10.0, "b": 900.0}  # the longer name has room only across the other line
    plot = plotted(qtbot, "gil-threads", view, rows=ROWS, values=values, size=(306, 300))
    names = [
        label
        for label in plot.painted().labels
        if label.text in ("perfect", "all jobs one after another")
    ]

    assert len(names) == 2
    for label in names:
        for px, start, end in drawn:
            within = label.rect.left() < px < label.rect.right()
            assert not (within and start < label.rect.bottom() and end > label.rect.top())
    assert any(label.rect.left() < px < label.rect.right() for label in names for px, _, _ in drawn)


def test_a_limit_line_leaves_a_gap_where_a_flag_stands():
    flags = [QRectF(90, 40, 60, 10), QRectF(95, 20, 60, 10), QRectF(200, 40, 60, 10)]

    assert list(past_labels(100, 0, 100, flags)) == [(0, 20), (30, 40), (50, 100)]
    assert list(past_labels(300, 0, 100, flags)) == [(0, 100)]
    assert list(past_labels(100, 25, 45, flags)) == [(30, 40)]


def test_a_limit_out_of_the_reach_of_all_pins_is_in_sight(qtbot):
    view = msgspec.structs.replace(RULER, limits=(Limit("one_core", "job_s"),))
    plot = plotted(qtbot, "gil-threads", view, rows=ROWS, values={"job_s": 1e-7})

    low, _ = plot.painted().area.sight.x
    assert low <= -7


def test_pins_of_another_run_hang_below_the_ruler(qtbot):
    plot = pins(qtbot, size=(850, 600))
    plot.draw(ROWS, {}, beside=Beside("A", "B", TABLES["gil-threads"]["timings"]))

    zero = plot.painted().area.y_px(0.0)
    for label in plot.painted().labels:
        assert (label.rect.bottom() < zero) == label.text.startswith("A ")
    assert len(texts(plot)) == 12


def test_pins_of_another_run_are_told_against_its_own_limit(qtbot):
    view = msgspec.structs.replace(RULER, limits=(Limit("perfect", "perfect_s", "x"),))
    plot = plotted(qtbot, "gil-threads", view, rows=ROWS, values={})
    value = 10 ** plot.chart.drawing.tracks()[0].xs[0]

    plot.draw(ROWS, {"perfect_s": value}, beside=Beside("A", "B", ROWS, {"perfect_s": value * 2}))

    assert "at “perfect”" in plot.chart.drawing.read(0, 0)
    assert "50 % of “perfect”" in plot.chart.drawing.read(1, 0)


def test_a_reading_says_how_many_times_the_one_before_it_is(qtbot):
    plot = pins(qtbot)

    said = plot.chart.drawing.read(0, 5)
    assert said.startswith("one after another · 18.")
    assert said.endswith("times processes, kept warm")


def test_values_that_have_no_place_are_counted(qtbot):
    rows = [*ROWS, msgspec.structs.replace(ROWS[0], wall_s=0.0)]

    plot = plotted(qtbot, "gil-threads", RULER, rows=rows, values={})

    assert ENGLISH.say("plot.one_left_out") in plot.summary()
