from __future__ import annotations

import itertools

import numpy as np
import pytest
from PySide6.QtGui import QColor

from tests.widgets.plots.painting import DARK, painted
from widgets.plots.kinds import cells
from widgets.plots.kinds.cells import Grid
from widgets.plots.kinds.shades import cividis, inks, shade


def grid(shades, missing=None, text=lambda row, column: ""):
    shades = np.array(shades, dtype=np.uint8)
    found = np.zeros(shades.shape, dtype=bool) if missing is None else np.array(missing)
    return Grid(shades, found, text)


def picture(found, x=None, y=None, size=(400, 200), scale=1.0):
    rows, columns = found.shades.shape
    x, y = x or (-0.5, columns - 0.5), y or (-0.5, rows - 0.5)
    return painted(lambda sheet: cells.paint(sheet, found), x, y, size, scale)


def contrast(one: QColor, other: QColor) -> float:
    def luminance(colour):
        parts = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
            for c in (colour.redF(), colour.greenF(), colour.blueF())
        ]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_numbers_can_be_read_on_every_shade():
    for step in range(256):
        words = QColor(inks()[step])
        assert contrast(words, shade(step)) >= 4.5


def test_the_shades_are_those_of_cividis_and_grow_brighter():
    assert shade(0).name() == "#00204d"
    assert shade(255).name() == "#ffea46"
    assert len(set(cividis().tolist())) > 250
    bright = [contrast(QColor("black"), shade(step)) for step in range(256)]
    assert all(a < b + 0.02 for a, b in itertools.pairwise(bright))


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_every_cell_has_its_colour_at_its_place(qapp, scale):
    found = grid([[0, 60, 120], [180, 240, 255]])
    shown = picture(found, scale=scale)

    for row in range(2):
        for column in range(3):
            x, y = (column + 0.5) * 400 / 3 * scale, (row + 0.5) * 100 * scale
            assert shown.pixelColor(int(x), int(y)) == shade(found.shades[row, column])


def test_the_cell_at_a_place_is_the_one_that_is_painted_there(qapp):
    found = grid(np.arange(12).reshape(3, 4) * 20)
    x, y = (0.7, 2.9), (0.2, 1.8)
    shown = picture(found, x, y)

    for px in range(5, 400, 13):
        for py in range(5, 200, 11):
            at = found.cell_at(x[0] + (px + 0.5) / 400 * 2.2, y[0] + (py + 0.5) / 200 * 1.6)
            seen = shown.pixelColor(px, py)
            assert seen in (shade(found.shades[at]), QColor(DARK.panel))
    assert found.cell_at(-0.6, 0) is None
    assert found.cell_at(0, 2.6) is None


def test_many_cells_leave_no_gap_and_none_is_lost(qapp):
    chance = np.random.default_rng(3)
    found = grid(chance.integers(0, 256, (256, 256)))
    shown = picture(found, size=(512, 512))

    for row in range(256):
        for column in range(0, 256, 5):
            assert shown.pixelColor(column * 2, row * 2) == shade(found.shades[row, column])


def test_large_cells_have_a_hairline_between_them(qapp):
    shown = picture(grid([[100, 100]]))

    row = [shown.pixelColor(px, 100).name() for px in range(180, 220)]
    assert row.count(QColor(DARK.panel).name()) == 1


def test_what_was_not_measured_is_hatched(qapp):
    shown = picture(grid([[255, 255]], [[False, True]]))

    def seen(left):
        return {shown.pixelColor(x, y).name() for x in range(left, left + 60) for y in range(60)}

    assert seen(20) == {shade(255).name()}
    assert seen(220) == {QColor(DARK.panel).name(), QColor(DARK.line).name()}


def lightest(shown) -> int:
    """Return the lightness of the lightest pixel: of a number, whatever font it has."""
    return max(shown.pixelColor(x, y).lightness() for x in range(400) for y in range(200))


def test_numbers_are_written_where_they_fit_and_only_in_sight(qapp):
    asked = []

    def text(row, column):
        asked.append((row, column))
        return "123"

    found = grid(np.zeros((20, 20)), text=text)
    roomy = picture(found, x=(2.6, 5.4), y=(2.6, 5.4))
    assert set(asked) == {(row, column) for row in (3, 4, 5) for column in (3, 4, 5)}
    assert lightest(roomy) > 200

    assert lightest(picture(found)) < 100


def test_a_number_that_is_missing_is_not_written(qapp):
    shown = picture(grid([[0, 0]], [[False, True]], lambda row, column: "888"))

    def has_words(left):
        places = ((x, y) for x in range(left, left + 190) for y in range(200))
        return max(shown.pixelColor(x, y).lightness() for x, y in places) > 200

    assert has_words(5)
    assert not has_words(205)
