from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QFontMetricsF, QImage

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.teaching.diagram import Box, Diagram, Dot, Line, Text
from experiments.core.teaching.lessons import taught
from widgets.lesson.drawing.diagram import DiagramView
from widgets.lesson.drawing.diagram_painter import SIZES, DiagramPainter
from widgets.style import theme as themes
from widgets.style.theme import contrast

ENGLISH = words.load("en")
LABELS = {"about": "What it shows.", "short": "GIL", "long": "a much longer label of a box"}


def drawn(shapes, look, shown, *, size=(20, 10), width=402):
    view = DiagramView(ENGLISH, look)
    view.show_diagram(Diagram(size=size, shapes=tuple(shapes)), LABELS)
    shown(view, width)
    view.resize(width, view.heightForWidth(width))
    return view.grab().toImage()


def colours(image: QImage, room: QRect) -> set[str]:
    return {
        image.pixelColor(x, y).name()
        for x in range(room.left(), room.right())
        for y in range(room.top(), room.bottom())
    }


def test_shapes_stand_where_the_grid_says(look, shown):
    """A cell is 20 pixels, after one of the edge."""
    theme = look.theme
    image = drawn([Dot(at=(10, 5), role="main")], look, shown)
    assert image.pixelColor(201, 101).name() == theme.series[0].lower()
    assert image.pixelColor(201 - 14, 101).name() != theme.series[0].lower()

    image = drawn([Line(points=((1, 5), (19, 5)), role="good")], look, shown)
    for x in (40, 200, 370):
        assert theme.good.lower() in colours(image, QRect(x, 97, 2, 8))
    assert theme.good.lower() not in colours(image, QRect(0, 0, 402, 90))


def test_an_arrow_ends_at_its_point(look, shown):
    shape = Line(points=((1, 5), (19, 5)), role="good")
    ends = QRect(370, 80, 20, 40)
    plain = drawn([shape], look, shown)
    arrow = drawn([Line(points=shape.points, role="good", arrow=True)], look, shown)
    dashed = drawn([Line(points=shape.points, role="good", dashed=True)], look, shown)

    def inked(image, room):
        green = look.theme.good.lower()
        return sum(
            image.pixelColor(x, y).name() == green
            for x in range(room.left(), room.right())
            for y in range(room.top(), room.bottom())
        )

    assert inked(arrow, ends) > 1.5 * inked(plain, ends)
    assert inked(arrow, QRect(384, 80, 18, 40)) == 0  # not beyond it
    assert 0 < inked(dashed, plain.rect()) < 0.8 * inked(plain, plain.rect())


def test_a_bend_is_round(look, shown):
    image = drawn([Line(points=((2, 2), (10, 2), (10, 8)), role="good")], look, shown)

    assert look.theme.good.lower() not in colours(image, QRect(199, 39, 4, 4))


def test_later_shapes_lie_above(look, shown):
    boxes = [Box(at=(2, 2), size=(8, 6), filled=True, role=role) for role in ("main", "second")]
    one, other = (drawn(each, look, shown).pixelColor(100, 100) for each in (boxes, boxes[::-1]))

    assert one != other


def test_it_keeps_its_aspect_and_follows_the_theme(look, shown, qtbot):
    view = DiagramView(ENGLISH, look)
    view.show_diagram(Diagram(size=(20, 10), shapes=(Dot(at=(10, 5)),)), LABELS)
    shown(view)
    assert view.heightForWidth(402) == 202
    assert view.heightForWidth(202) == 102
    assert view.heightForWidth(5000) == view.heightForWidth(4000)  # letters do not grow either

    before = view.grab().toImage()
    look.wear(themes.load("light"))
    assert view.grab().toImage() != before


def test_where_height_is_short_it_is_lower_and_as_wide_as_before(look, shown):
    view = DiagramView(ENGLISH, look)
    view.show_diagram(Diagram(size=(20, 10), shapes=(Box(at=(0, 0), size=(20, 10)),)), LABELS)
    view.limit_height(100)
    shown(view)
    view.resize(402, view.heightForWidth(402))
    image = view.grab().toImage()

    assert image.height() <= 102
    edge, ground = image.pixelColor(400, 50), image.pixelColor(401, 50)
    assert edge != ground


def test_it_tells_what_it_shows_and_hides_without_a_drawing(look, shown):
    view = DiagramView(ENGLISH, look)
    view.show_diagram(Diagram(size=(2, 2), shapes=()), LABELS)
    shown(view)
    assert view.accessibleName() == ENGLISH.say("lesson.drawing")
    assert view.accessibleDescription() == "What it shows."

    view.show_diagram(None, {})
    assert not view.isVisible()


@pytest.mark.parametrize("size", SIZES)
def test_letters_are_the_largest_that_fit(look, size):
    def made(width_px):
        box = Box(at=(0, 0), size=(width_px / 20, 2), label="short")
        shapes = (box, Text(at=(0, 8), label="long"))  # all letters have one size
        diagram = Diagram(size=(40, 10), shapes=shapes)
        return DiagramPainter(diagram, LABELS, look.theme, 20)

    words_px = QFontMetricsF(look.theme.font(size, weight=500)).horizontalAdvance("GIL")
    needed_px = (
        next(width for width in range(200) if SIZES.index(made(width).size) <= SIZES.index(size))
        if size != "small"
        else next(width for width in range(200) if made(width).has_room)
    )
    assert words_px < needed_px <= words_px + 16


def test_a_label_wraps_where_its_box_is_high(look):
    boxes = (Box(at=(0, 0), size=(6, height), label="long") for height in (1.5, 6))
    low, high = (
        DiagramPainter(Diagram(size=(20, 10), shapes=(box,)), LABELS, look.theme, 20)
        for box in boxes
    )

    assert not low.has_room
    assert high.has_room


def test_texts_shrink_before_they_touch(look):
    def size(gap):
        shapes = (Text(at=(0, 1), label="long"), Text(at=(gap, 1), label="long"))
        return DiagramPainter(Diagram(size=(40, 2), shapes=shapes), LABELS, look.theme, 20).size

    assert SIZES.index(size(20)) < SIZES.index(size(8))


@pytest.mark.parametrize("mode", themes.MODES)
@pytest.mark.parametrize("role", ["plain", "soft", "main", "second", "third", "good", "attention"])
@pytest.mark.parametrize("filled", [True, False])
def test_words_in_boxes_can_be_read(look, shown, mode, role, filled):
    look.wear(themes.load(mode))
    box = Box(at=(1, 1), size=(18, 8), label="long", filled=filled, role=role)
    image = drawn([box], look, shown)
    behind = image.pixelColor(60, 60)
    inside = colours(image, QRect(60, 60, 280, 80))

    assert max(contrast(QColor(colour), behind) for colour in inside) >= 4.5


@pytest.mark.parametrize("width", [480, 900])
def test_the_drawing_of_each_lesson_has_room_for_its_labels(look, width):
    catalogue = Catalogue()
    drawings = 0
    for experiment in catalogue:
        lesson = taught(experiment, catalogue.homes[experiment.id])
        if lesson is None or lesson.diagram is None:
            continue
        drawings += 1
        cell_px = min(24, (width - 2) / lesson.diagram.size[0])
        made = DiagramPainter(lesson.diagram, lesson.words.diagram, look.theme, cell_px)
        assert made.has_room, experiment.id
    assert drawings
