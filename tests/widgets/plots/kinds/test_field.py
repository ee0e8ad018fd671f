from __future__ import annotations

import base64
import zlib

import pytest
from PySide6.QtCore import QSizeF

from experiments.engine import messages
from tests.gallery import plot_samples as samples
from tests.gallery.pictures import EXPERIMENT as PICTURES
from tests.widgets.plots.painting import painted
from widgets.plots.kinds.field import FieldDrawing, Picture
from widgets.plots.kinds.shades import shade
from widgets.plots.plot import Plot
from widgets.plots.terms import Terms
from widgets.style import theme
from widgets.style.look import Look

pytestmark = pytest.mark.usefixtures("qapp")  # fonts are measured
VIEW = PICTURES.views[1]


def frame(shape, values) -> messages.Frame:
    data = base64.b64encode(zlib.compress(bytes(values))).decode()
    return messages.Frame(n=0, t_s=0.0, table="field", shape=shape, data=data)


def shown(picture, size, scale=1.0):
    rows, columns = picture.shape
    return painted(picture.paint, (-0.5, columns - 0.5), (-0.5, rows - 0.5), size, scale)


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_each_value_is_a_square_of_one_colour_however_large(scale):
    picture = Picture()
    picture.show(frame((2, 3), [0, 50, 100, 150, 200, 250]))
    seen = shown(picture, (300, 200), scale)

    for row in range(2):
        for column in range(3):
            for x in (column * 100 + 2, column * 100 + 97):
                for y in (row * 100 + 2, row * 100 + 97):
                    colour = seen.pixelColor(int(x * scale), int(y * scale))
                    assert colour == shade((row * 3 + column) * 50)


def test_the_newest_frame_is_shown_also_where_it_has_another_shape():
    picture = Picture()
    picture.show(frame((2, 2), [0, 0, 0, 0]))
    picture.show(frame((1, 3), [255, 255, 255]))

    assert picture.shape == (1, 3)
    assert shown(picture, (300, 100)).pixelColor(150, 50) == shade(255)


def test_rows_of_odd_length_do_not_slant():
    picture = Picture()
    rows, columns = 37, 53
    picture.show(
        frame(
            (rows, columns), [(200 if c == 20 else 0) for _ in range(rows) for c in range(columns)]
        )
    )
    seen = shown(picture, (530, 370))

    assert all(seen.pixelColor(205, 5 + 10 * row) == shade(200) for row in range(rows))
    assert all(seen.pixelColor(195, 5 + 10 * row) == shade(0) for row in range(rows))


def test_a_frame_smaller_on_screen_than_it_is_mixes_its_values():
    picture = Picture()
    picture.show(frame((200, 200), [255 * ((r + c) % 2) for r in range(200) for c in range(200)]))
    seen = shown(picture, (50, 50))

    assert seen.pixelColor(25, 25) not in (shade(0), shade(255))


def test_a_value_is_found_by_its_place():
    picture = Picture()
    picture.show(frame((2, 3), range(6)))

    assert picture.value_at(0.0, 0.0) == 0
    assert picture.value_at(2.4, 0.6) == 5
    assert picture.value_at(3.0, 0.0) is None
    assert picture.value_at(0.0, -0.7) is None
    assert picture.ends() == (0, 5)


def test_without_a_frame_nothing_is_painted():
    empty = painted(lambda sheet: None, (0.0, 1.0), (0.0, 1.0))

    assert painted(Picture().paint, (0.0, 1.0), (0.0, 1.0)) == empty


def drawing(*frames):
    made = FieldDrawing(VIEW, Terms(PICTURES, VIEW, samples.words()))
    for each in frames:
        made.take_frame(each)
    return made


def test_the_newest_picture_is_read():
    made = drawing(frame((2, 2), [1, 2, 3, 4]), frame((2, 3), [9, 8, 7, 6, 5, 4]))

    say = samples.words().say
    values = {"rows": 2, "columns": 3, "least": 4, "greatest": 9}
    assert made.read(1, 2) == say("plot.pixel", {"row": 2, "column": 3, "value": 4})
    assert made.summary() == say("plot.picture", values)
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
        area = plot.painted().area
        shown = plot.grab().toImage()
        for at, value in enumerate(values):
            place = area.point(at % 2, at // 2)
            assert shown.pixelColor(place.toPoint()) == shade(value)
        assert abs(area.rect.width() - area.rect.height()) < 1e-6
