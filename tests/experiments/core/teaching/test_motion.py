from __future__ import annotations

from experiments.core.teaching.diagram import Box, Diagram
from experiments.core.teaching.motion import (
    Count,
    Hold,
    Motion,
    Say,
    Scene,
    Travel,
    faults,
    rounded_factor,
)
from tests.cases import in_one

DRAWING = Diagram(
    size=(10, 4),
    shapes=(Box(at=(0, 0), size=(2, 2), name="core"), Box(at=(5, 0), size=(2, 2), name="l1")),
)
LOAD = Travel(along=("core", "l1"), start_s=0.0, end_s=1e-9, returns=True)


def motion(*events, duration_s=1e-7, stills=(0.0, 5e-8, 1e-7), **more) -> Motion:
    return Motion(scenes=(Scene(events=events),), duration_s=duration_s, stills=stills, **more)


@in_one("duration_s", [3e-10, 1e-9, 207e-9, 1e-3, 0.7, 5.0, 8.1, 40.0])
def test_it_lasts_four_to_eight_seconds_at_a_factor_of_one_digit(duration_s):
    factor = rounded_factor(duration_s)
    assert 4 <= factor * duration_s <= 8
    digits = f"{factor:e}".partition("e")[0].rstrip("0").rstrip(".")
    assert len(digits) == 1


def test_what_counts_up_by_itself_counts_whole_stretches():
    count = Count(shape="core", label="loads", start_s=0.0, end_s=1e-7, every_s=1e-9)
    assert [count.at(0.0), count.at(1e-9), count.at(5.5e-9), count.at(1.0)] == [0, 1, 5, 100]
    assert Count(shape="core", label="loads", times=(1.0, 2.0)).at(1.5) == 1


def test_one_steps_through_beginnings_and_ends():
    assert motion(LOAD, says=(Say(text="back", start_s=1e-9),)).moments == (0.0, 1e-9, 1e-7)


@in_one(
    ("broken", "said"),
    [
        (motion(LOAD), ""),
        (motion(Travel(along=("core", "disk"), start_s=0, end_s=1e-9)), "disk"),
        (motion(Hold(shape="l1", start_s=0, end_s=2e-7)), "within"),
        (motion(Hold(shape="l1", start_s=2e-8, end_s=1e-8)), "within"),
        (motion(LOAD, says=(Say(text="lost", start_s=0.0),)), "lost"),
        (motion(*[LOAD] * 201), "events"),
        (motion(LOAD, without=("l1",)), "l1"),
        (motion(LOAD, without=("disk",)), "disk"),
        (motion(says=tuple(Say(text="back", start_s=each * 1e-9) for each in range(7))), "sayings"),
        (motion(stills=(0.0, 0.0, 1e-7)), "stills"),
        (motion(duration_s=0.0, stills=(0.0, 1.0, 2.0)), "duration"),
    ],
)
def test_what_is_wrong_with_a_motion_is_named(broken, said):
    found = " ".join(faults(broken, DRAWING, {"back"}))
    assert said in found
    assert bool(found) == bool(said)
