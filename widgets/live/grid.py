"""Grid of the tiles: as many columns as fit, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect

GAP = 16
NARROWEST = 288  # pixels of a tile, at zoom 1: four columns in a window of 1440, three at 1280
TALLEST = 1.6  # greatest height of a row, relative to its least

Span = tuple[int, int]  # columns, rows


def column_count(width: int, zoom: float) -> int:
    """Return the number of columns that fit."""
    return max(1, (width + GAP) // (round(NARROWEST * zoom) + GAP))


def cells(spans: Sequence[Span], columns: int) -> list[tuple[int, int]]:
    """Return column and row of each tile: in order, the first free cell."""
    taken: set[tuple[int, int]] = set()
    places = []
    for wide, high in spans:
        wide = min(wide, columns)
        place = next(
            (column, row)
            for row in range(sum(high for _, high in spans))
            for column in range(columns - wide + 1)
            if not taken & set(_covered(column, row, wide, high))
        )
        taken |= set(_covered(*place, wide, high))
        places.append(place)
    return places


def arrange(
    spans: Sequence[Span], least: Sequence[int], *, width: int, height: int, columns: int
) -> tuple[list[QRect], int]:
    """Return the rectangle of each tile in `width`, and the total height.

    `least` is the least height of each tile; spare room in `height` makes rows higher.
    """
    places = cells(spans, columns)
    spans = _widened(spans, places, columns)
    rows = max((row + high for (_, row), (_, high) in zip(places, spans, strict=True)), default=0)
    heights = [0] * rows
    # Tiles of one row first: those that span several then add only what is missing.
    for (_, row), (_, high), needed in sorted(
        zip(places, spans, least, strict=True), key=lambda tile: tile[1][1]
    ):
        lacking = needed - sum(heights[row : row + high]) - GAP * (high - 1)
        for each in range(row, row + high):
            heights[each] += max(0, -(-lacking // high))
    spare = height - sum(heights) - GAP * (rows - 1)
    if spare > 0 and rows:
        heights = [min(each + spare // rows, round(each * TALLEST)) for each in heights]
    each_wide = (width - GAP * (columns - 1)) / columns
    tops = [sum(heights[:row]) + GAP * row for row in range(rows)]
    rects = []
    for (column, row), (wide, high) in zip(places, spans, strict=True):
        wide = min(wide, columns)
        left, right = (round((each_wide + GAP) * edge) for edge in (column, column + wide))
        tall = sum(heights[row : row + high]) + GAP * (high - 1)
        rects.append(QRect(left, tops[row], right - GAP - left, tall))
    return rects, sum(heights) + GAP * max(rows - 1, 0)


def _widened(
    spans: Sequence[Span], places: Sequence[tuple[int, int]], columns: int
) -> Sequence[Span]:
    """Widen the last tile to the right edge."""
    if not spans:
        return spans
    (column, _), (wide, high) = places[-1], spans[-1]
    return [*spans[:-1], (max(wide, columns - column), high)]


def _covered(column: int, row: int, wide: int, high: int) -> list[tuple[int, int]]:
    return [(column + x, row + y) for x in range(wide) for y in range(high)]
