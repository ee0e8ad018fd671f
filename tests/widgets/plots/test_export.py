from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from tests.widgets.plots.plots import VIEWS, colours, plotted, view_of
from widgets.style import theme as themes

WALL = ("gil-threads", view_of("gil-threads", "wall"))
LADDER = ("cache-ladder", view_of("cache-ladder", "fetched_ahead"))
every_view = pytest.mark.parametrize(("name", "view"), VIEWS, ids=lambda v: getattr(v, "key", v))


def rendered(data: bytes, width: int = 850, height: int = 330) -> QImage:
    """Return what a viewer shows of an SVG file."""
    renderer = QSvgRenderer(data)
    assert renderer.isValid()
    image = QImage(width, height, QImage.Format.Format_RGB32)
    image.fill(QColor("#FF00FF"))
    with QPainter(image) as painter:
        renderer.render(painter)
    return image


@every_view
def test_a_vector_file_shows_what_the_picture_shows(qtbot, name, view):
    plot = plotted(qtbot, name, view)

    vector, picture = rendered(plot.svg()), plot.picture(scale=1.0)

    assert "#ff00ff" not in colours(vector)  # the ground is part of it
    assert vector.size() == picture.size()
    far = sum(
        abs(vector.pixelColor(x, y).lightness() - picture.pixelColor(x, y).lightness()) > 64
        for x in range(0, 850, 3)
        for y in range(0, 330, 3)
    )
    assert far < 0.02 * 283 * 110


def test_a_vector_file_needs_no_font_and_tells_what_it_shows(qtbot):
    plot = plotted(qtbot, *WALL)

    root = ET.fromstring(plot.svg())

    tags = {node.tag.rpartition("}")[2] for node in root.iter()}
    assert "text" not in tags
    texts = {node.tag.rpartition("}")[2]: node.text for node in root}
    assert texts["title"] == plot.accessibleName()
    assert texts["desc"] == plot.summary()


def test_a_zoomed_vector_file_stays_inside_its_axes(qtbot):
    plot = plotted(qtbot, *LADDER)
    for _ in range(4):
        plot.zoom_in()

    picture = rendered(plot.svg())

    series = {colour.lower() for colour in themes.load("dark").series[:2]}
    left = round(plot.painted().area.rect.left())
    edge = {picture.pixelColor(x, y).name() for x in range(left - 8) for y in range(330)}
    assert not series & edge


def test_a_picture_has_twice_the_pixels_and_the_caption(qtbot):
    plot = plotted(qtbot, *WALL)
    plain = plot.picture()

    plot.chart.caption = "Do four threads make it four times faster?\nmachine · date"

    picture = plot.picture()
    assert (picture.width(), picture.height()) == (1700, 660)
    ink = themes.load("dark").ink.lower()
    head = {picture.pixelColor(x, y).name() for x in range(40, 600) for y in range(30, 70)}
    assert ink in head
    assert picture != plain


def test_the_band_of_a_recording_is_in_every_export(qtbot):
    plot = plotted(qtbot, *WALL)
    picture, vector = plot.picture(), plot.svg()

    plot.chart.band = "RECORDED · machine · date"

    assert plot.picture() != picture
    assert len(plot.svg()) > len(vector) + 1000


def test_files_are_written_by_their_suffix(qtbot, tmp_path):
    plot = plotted(qtbot, *WALL)

    plot.save(tmp_path / "x.png")
    plot.save(tmp_path / "x.SVG")

    assert QImage(str(tmp_path / "x.png")).width() == 1700
    assert rendered((tmp_path / "x.SVG").read_bytes())
    with pytest.raises(ValueError, match="neither"):
        plot.save(tmp_path / "x.gif")
    with pytest.raises(OSError, match="No such file"):
        plot.save(tmp_path / "no" / "x.png")


def test_a_picture_and_a_vector_file_can_be_copied(qtbot):
    plot = plotted(qtbot, *WALL)
    clipboard = QGuiApplication.clipboard()

    plot.copy_picture()
    assert clipboard.image().width() == 1700
    plot.copy_svg()

    assert rendered(bytes(clipboard.mimeData().data("image/svg+xml").data()))
    assert clipboard.text().startswith("<?xml")
    clipboard.clear()


def test_an_empty_plot_can_be_saved(qtbot):
    plot = plotted(qtbot, *WALL, rows=[], values={})

    assert rendered(plot.svg())
