from __future__ import annotations

import pytest
from PySide6.QtCore import QSizeF

from tests.gallery import plot_samples as samples
from tests.gallery.pictures import EXPERIMENT as PICTURES
from tests.widgets.plots.kinds.test_picture import frame
from widgets.plots.kinds.field import FieldDrawing
from widgets.plots.kinds.shades import shade
from widgets.plots.plot import Plot
from widgets.plots.terms import Terms
from widgets.style import theme
from widgets.style.look import Look

pytestmark = pytest.mark.usefixtures("qapp")  # fonts are measured
VIEW = PICTURES.views[1]


def drawing(*frames):
    made = FieldDrawing(VIEW, Terms(PICTURES, VIEW, samples.words()))
    for each in frames:
        made.take_frame(each)
    return made


def test_the_newest_picture_is_read():
    made = drawing(frame((2, 2), [1, 2, 3, 4]), frame((2, 3), [9, 8, 7, 6, 5, 4]))

    assert made.read(1, 2) == "row 2, column 3: 4 of 255"
    assert made.summary() == "A picture of 2 rows and 3 columns, with values from 4 to 9 of 255."
    assert [len(track.xs) for track in made.tracks()] == [3, 3]


def test_the_mouse_finds_the_value_it_is_on():
    made = drawing(frame((2, 3), range(6)))

    assert made.point_at(2.3, 0.7) == (1, 2)
    assert made.point_at(2.6, 0.0) is None


def test_before_the_first_picture_there_is_nothing_to_read():
    made = drawing()

    assert made.tracks() == ()
    assert made.summary() == ""
    assert made.point_at(0.0, 0.0) is None


def test_the_whole_picture_is_in_sight_and_its_values_are_squares():
    made = drawing(frame((2, 3), range(6)))
    span = made.span(QSizeF(100, 100), theme.load("dark"))

    assert (span.x, span.y) == ((-0.5, 2.5), (-0.5, 1.5))
    assert made.plan().is_square


def test_a_plot_shows_every_frame_that_comes_the_right_way_up(qtbot):
    plot = Plot(PICTURES, VIEW, samples.words(), Look(theme.load("dark")))
    qtbot.addWidget(plot)
    plot.resize(500, 300)
    for values in ([0, 0, 0, 255], [0, 255, 0, 0]):
        plot.draw_frame(frame((2, 2), values))
        area = plot._up_to_date().area
        shown = plot.grab().toImage()
        for at, value in enumerate(values):
            place = area.point(at % 2, at // 2)
            assert shown.pixelColor(place.toPoint()) == shade(value)
        assert abs(area.rect.width() - area.rect.height()) < 1e-6
