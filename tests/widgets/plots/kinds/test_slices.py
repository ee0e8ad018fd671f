from __future__ import annotations

import numpy as np

from tests.cases import in_one
from tests.widgets.plots.painting import DARK, likeness, painted
from widgets.plots.kinds import slices
from widgets.plots.kinds.slices import FAINTEST, Lane, in_turn

BLUE = DARK.series_colour(0)
ORANGE = DARK.series_colour(1)
SOLID, NONE = 0.95, 0.12  # likeness; the lane's own background is a little like anything
WIDTH = 400


def lanes(*pairs, colours=None):
    return [
        Lane(place=float(place), colour=(colours or [0] * len(pairs))[place], times=in_turn(found))
        for place, found in enumerate(pairs)
    ]


def picture(found, x=(0.0, 10.0), **options):
    rows = max(len(found), 1)
    return painted(lambda sheet: slices.paint(sheet, found), x, (-0.5, rows - 0.5), **options)


def middle(place: int, rows: int, height: int = 120) -> float:
    return (place + 0.5) * height / rows


@in_one("x", [(0.0, 10.0), (2.0, 5.0), (2.99, 3.2), (3.0, 4.0)])
def test_slices_are_where_they_belong_at_any_zoom(qapp, x):
    pairs = [(1.0, 2.0), (3.0, 4.0), (4.5, 9.0)]
    shown = picture(lanes(pairs), x)

    for px in range(2, WIDTH - 2):
        begin, end = (x[0] + (px + d) * (x[1] - x[0]) / WIDTH for d in (-2, 3))
        like = likeness(shown, px, 60, BLUE)
        if any(a <= begin and end <= b for a, b in pairs):
            assert like > SOLID, px
        elif not any(a < end and begin < b for a, b in pairs):
            assert like < NONE, px


def test_each_lane_has_its_place_and_its_colour(qapp):
    shown = picture(lanes([(0.0, 4.0)], [(6.0, 10.0)], colours=[0, 1]))

    assert likeness(shown, 80, middle(0, 2), BLUE) > SOLID
    assert likeness(shown, 320, middle(0, 2), BLUE) < NONE
    assert likeness(shown, 320, middle(1, 2), ORANGE) > SOLID
    assert likeness(shown, 80, middle(1, 2), ORANGE) < NONE


@in_one("scale", [1.0, 2.0])
@in_one("start", [0.0, 0.0123, 4.999999, 9.999])
@in_one("length", [0.0, 1e-6])
def test_one_microsecond_in_ten_seconds_is_seen(qapp, start, length, scale):
    shown = picture(lanes([(start, start + length)]), scale=scale)
    nothing = picture(lanes([]), scale=scale)

    px = int(start / 10.0 * WIDTH * scale)
    assert likeness(shown, px, 60 * scale, BLUE) > 0.4
    other = [x for x in range(0, int(WIDTH * scale)) if abs(x - px) > 1]
    row = int(60 * scale)
    assert all(shown.pixel(x, row) == nothing.pixel(x, row) for x in other)


def test_none_of_many_slices_is_lost(qapp):
    chance = np.random.default_rng(1)
    starts = np.sort(chance.random(30_000)) * 9.99
    pairs = [(s, s + 1e-7) for s in starts]
    shown = picture(lanes(pairs))

    for px in set((starts * WIDTH / 10.0).astype(int)):
        assert likeness(shown, px, 60, BLUE) > 0.4


def test_threads_that_take_turns_faster_than_a_pixel_look_half_busy_both(qapp):
    turns = np.arange(0.0, 10.0, 0.002)
    first = [(t, t + 0.001) for t in turns]
    second = [(t + 0.001, t + 0.002) for t in turns]
    whole = [(t, t + 0.002) for t in turns]
    shown = picture(lanes(first, second, whole))

    half = FAINTEST + (1 - FAINTEST) / 2
    for place in (0, 1):
        found = [likeness(shown, px, middle(place, 3), BLUE) for px in range(5, WIDTH - 5)]
        assert np.allclose(found, half, atol=0.08)
    assert likeness(shown, 200, middle(2, 3), BLUE) > SOLID


def test_many_and_few_slices_stand_at_the_same_places(qapp, monkeypatch):
    pairs = [(n * 0.5, n * 0.5 + 0.3) for n in range(20)]
    few = picture(lanes(pairs))
    monkeypatch.setattr(slices, "FEW", 0)
    many = picture(lanes(pairs))

    differing = [
        px
        for px in range(WIDTH)
        if abs(likeness(few, px, 60, BLUE) - likeness(many, px, 60, BLUE)) > 0.1
    ]
    edges = {round(edge / 10.0 * WIDTH) for pair in pairs for edge in pair}
    assert all(min(abs(px - edge) for edge in edges) <= 1 for px in differing)


def test_slices_that_touch_are_told_apart(qapp, monkeypatch):
    pairs = [(n * 1.0, n * 1.0 + 1.0) for n in range(10)]
    for few in (slices.FEW, 0):
        monkeypatch.setattr(slices, "FEW", few)
        shown = picture(lanes(pairs))
        for seam in range(40, 400, 40):
            around = [likeness(shown, px, 60, BLUE) for px in range(seam - 2, seam + 2)]
            assert min(around) < 0.8
            assert likeness(shown, seam - 20, 60, BLUE) > SOLID


def test_a_lane_shows_where_it_could_have_run(qapp):
    shown = picture(lanes([], [(1.0, 2.0)]), x=(-5.0, 5.0))

    ground = shown.pixelColor(100, 1)
    assert shown.pixelColor(300, 30) != ground  # after 0 s
    assert shown.pixelColor(100, 30) == ground  # before


def test_of_two_slices_at_once_the_first_goes_on():
    found = in_turn([(5.0, 6.0), (0.0, 3.0), (1.0, 2.0), (2.5, 4.0), (4.0, 4.0)])

    assert found.starts.tolist() == [0.0, 3.0, 4.0, 5.0]
    assert found.ends.tolist() == [3.0, 4.0, 4.0, 6.0]
    assert found.busy() == 5.0


def test_what_is_no_number_is_left_out():
    found = in_turn([(0.0, 1.0), (float("nan"), 2.0), (3.0, float("inf"))])

    assert found.starts.tolist() == [0.0]


def test_a_slice_is_found_by_its_time():
    found = in_turn([(1.0, 2.0), (3.0, 4.0)])

    assert [found.slice_at(x) for x in (0.5, 1.0, 1.7, 2.5, 3.0, 4.0, 4.1)] == [
        None,
        0,
        0,
        None,
        1,
        1,
        None,
    ]


def test_a_lane_out_of_sight_is_not_drawn(qapp):
    found = lanes([(0.0, 10.0)], [(0.0, 10.0)], colours=[0, 1])
    shown = painted(lambda sheet: slices.paint(sheet, found), (0.0, 10.0), (0.6, 1.4))

    assert likeness(shown, 200, 60, ORANGE) > SOLID
    assert all(likeness(shown, 200, y, BLUE) < 0.5 for y in range(120))
