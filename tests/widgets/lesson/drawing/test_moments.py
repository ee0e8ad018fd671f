from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from experiments.core.teaching.diagram import Box, Diagram, Line
from experiments.core.teaching.motion import Count, Hold, Motion, Scene, Travel
from widgets.lesson.drawing.moments import Moment, Moments

BOXES = (
    Box(at=(0, 0), size=(2, 2), name="core"),
    Box(at=(11, 0), size=(2, 2), name="far"),
    Box(at=(0, 8), size=(2, 2), name="below"),
)
AROUND = Line(points=((2, 1), (6, 1), (6, 5), (12, 5), (12, 2)))  # from edge to edge, by a detour
STRAIGHT = 11.0  # between the middles of core and far
DETOUR = 1 + 4 + 4 + 6 + 3 + 1


def moments(*events, shapes=BOXES, duration_s=100e-9) -> Moments:
    scene = Scene(events=events)
    stills = (0.0, duration_s / 2, duration_s)
    motion = Motion(scenes=(scene,), duration_s=duration_s, stills=stills)
    return Moments(Diagram(size=(14, 10), shapes=shapes), motion, {"n": "loads: {n}"})


def at(given: Moments, t_s: float) -> Moment:
    (found,) = given.at(t_s)
    return found


def place(given: Moments, t_s: float) -> tuple[float, float]:
    (dot,) = at(given, t_s).dots
    return dot.at


def gone(given: Moments, t_s: float) -> float:
    """Return how far a dot is from the middle of the core, in cells."""
    return math.dist(place(given, t_s), (1, 1))


def travel(end_s, **more) -> Moments:
    return moments(Travel(along=("core", "far"), start_s=0.0, end_s=end_s, **more))


def test_a_way_of_10_ns_takes_a_tenth_of_one_of_100_ns():
    quick, slow = travel(10e-9), travel(100e-9)

    for share in (0.1, 0.25, 0.5, 0.9):
        assert gone(quick, share * 10e-9) == pytest.approx(share * STRAIGHT)
        assert gone(slow, share * 100e-9) == pytest.approx(share * STRAIGHT)
    assert gone(slow, 10e-9) == pytest.approx(STRAIGHT / 10)
    assert not at(quick, 11e-9).dots


def test_it_comes_back_the_same_way_within_its_time():
    there_and_back = travel(100e-9, returns=True)

    assert gone(there_and_back, 25e-9) == pytest.approx(STRAIGHT / 2)
    assert gone(there_and_back, 50e-9) == pytest.approx(STRAIGHT)
    assert gone(there_and_back, 75e-9) == pytest.approx(STRAIGHT / 2)
    assert not at(there_and_back, 100e-9).dots


def test_a_line_between_two_shapes_is_the_road_at_one_speed_round_its_bends():
    event = Travel(along=("core", "far"), start_s=0.0, end_s=DETOUR * 1e-9)
    on_line = moments(event, shapes=(*BOXES, AROUND))

    assert place(on_line, 5e-9) == pytest.approx((6, 1))
    assert place(on_line, 9e-9) == pytest.approx((6, 5))
    assert place(on_line, 15e-9) == pytest.approx((12, 5))
    back = moments(
        Travel(along=("far", "core"), start_s=0.0, end_s=DETOUR * 1e-9), shapes=(*BOXES, AROUND)
    )
    assert place(back, 4e-9) == pytest.approx((12, 5))


def test_without_a_line_the_road_is_straight_between_the_middles():
    event = Travel(along=("core", "below"), start_s=0.0, end_s=8e-9)

    assert place(moments(event, shapes=(*BOXES, AROUND)), 2e-9) == pytest.approx((1, 3))


def test_one_line_behind_several_shapes_leads_to_each_of_them():
    bus = Line(points=((1, 1), (12, 1)))
    middle = Box(at=(5, 0.5), size=(2, 1), name="middle")
    event = Travel(along=("core", "middle", "far"), start_s=0.0, end_s=11e-9)

    assert place(moments(event, shapes=(bus, *BOXES, middle)), 5e-9) == pytest.approx((6, 1))


def test_a_dot_leaves_and_stands_beside_a_box_whose_label_it_would_cover():
    shapes = (replace(BOXES[0], label="core"), replace(BOXES[1], label="memory"))
    event = Travel(along=("core", "far"), start_s=0.0, end_s=10e-9, returns=True)
    given = moments(event, shapes=shapes)

    begins, turns, still = (place(given, t_s)[0] for t_s in (0.0, 5e-9, 9.9e-9))
    assert 2 < begins < 3  # the core ends at 2
    assert 10 < turns < 11  # the memory begins at 11
    assert begins < still < begins + 0.5


def test_a_shape_is_lit_until_the_next_one_has_it():
    held = moments(
        Hold(shape="core", start_s=0.0, end_s=50e-9),
        Hold(shape="far", start_s=50e-9, end_s=100e-9),
    )

    assert [each.shape for each in at(held, 0.0).lit] == ["core"]
    assert [each.shape for each in at(held, 50e-9).lit] == ["far"]
    assert [each.shape for each in at(held, 100e-9).lit] == ["far"]


def test_what_is_counted_has_its_words():
    (count,) = at(moments(Count(shape="core", label="n", end_s=1e-7, every_s=1e-9)), 9e-9).counts
    assert (count.shape, count.word) == ("core", "loads: 9")
