from __future__ import annotations

from itertools import combinations

from tests.cases import in_one
from widgets.live import grid

SPANS = [(2, 2), (1, 1), (1, 1), (1, 1), (1, 1)]
LEAST = [400, 190, 190, 190, 190]


@in_one(
    ("window", "zoom", "columns"), [(1440, 1.0, 4), (1280, 1.0, 3), (1440, 1.6, 2), (500, 2.0, 1)]
)
def test_columns_go_with_width_and_zoom(window, zoom, columns):
    rail, margins = 84, 64
    assert grid.column_count(window - rail - margins, zoom) == columns


@in_one("columns", [1, 2, 3, 4, 5])
def test_no_two_tiles_meet_and_none_leaves_the_width(columns):
    rects, height = grid.arrange(SPANS, LEAST, width=1200, height=0, columns=columns)

    for one, other in combinations(rects, 2):
        assert not one.intersects(other)
    for rect, least in zip(rects, LEAST, strict=True):
        assert rect.left() >= 0
        assert rect.right() < 1200
        assert rect.bottom() < height
        assert rect.height() >= least


def test_four_small_tiles_stand_beside_the_cores():
    assert grid.cells(SPANS, 4) == [(0, 0), (2, 0), (3, 0), (2, 1), (3, 1)]


@in_one("count", [1, 2, 3, 4, 5, 6])
@in_one("columns", [2, 3, 4])
def test_the_last_tile_goes_on_to_the_right_edge(count, columns):
    spans = [(2, 2), *[(1, 1)] * count]

    rects, _ = grid.arrange(spans, [200] * len(spans), width=1200, height=0, columns=columns)

    assert rects[-1].right() == 1199


def test_one_more_tile_moves_no_other():
    before = grid.cells(SPANS, 3)

    assert grid.cells([*SPANS, (1, 1)], 3)[:-1] == before


def test_room_that_is_left_makes_rows_higher_but_not_without_end():
    low, _ = grid.arrange(SPANS, LEAST, width=1200, height=0, columns=4)
    higher, height = grid.arrange(SPANS, LEAST, width=1200, height=600, columns=4)
    _, highest = grid.arrange(SPANS, LEAST, width=1200, height=5000, columns=4)

    assert higher[0].height() > low[0].height()
    assert 590 <= height <= 600
    assert highest < 1000


def test_nothing_takes_no_room():
    assert grid.arrange([], [], width=800, height=600, columns=3) == ([], 0)
