from __future__ import annotations

import pytest

from experiments.core import words
from widgets.map.layout.boxes import Box, Kind, Rect
from widgets.map.layout.layout import lay_out
from widgets.map.walking import Step, is_stop, next_box, next_stop

WORDS = words.load()


def grid(columns: int, rows: int) -> list[Box]:
    return [
        Box(id=f"{x},{y}", kind=Kind.CORE, rect=Rect(x * 10, y * 10, 9, 9))
        for y in range(rows)
        for x in range(columns)
    ]


def named(boxes, name):
    return next(box for box in boxes if box.id == name)


@pytest.mark.parametrize(("width", "height", "zoom"), [(972, 690, 1.0), (700, 450, 1.6)])
def test_the_arrow_keys_reach_every_box(any_machine, measure, width, height, zoom):
    boxes = lay_out(any_machine, WORDS, measure(zoom), width, height).boxes
    seen, ways = {boxes[0].id}, [boxes[0]]
    while ways:
        here = ways.pop()
        for step in Step:
            there = next_box(boxes, here, step)
            if there is not None and there.id not in seen:
                seen.add(there.id)
                ways.append(there)

    assert {box.id for box in boxes} - seen == set()


@pytest.mark.parametrize("forward", [True, False])
def test_tab_stops_at_every_larger_box_once_and_then_leaves(any_machine, measure, forward):
    boxes = lay_out(any_machine, WORDS, measure(), 972, 690).boxes
    here, seen = None, []
    while (here := next_stop(boxes, here, forward=forward)) is not None:
        seen.append(here.id)

    stops = [box.id for box in boxes if is_stop(box)]
    assert seen == (stops if forward else stops[::-1])


def test_arrows_go_to_the_neighbour_in_their_direction():
    boxes = grid(3, 3)
    middle = named(boxes, "1,1")

    ways = {step: next_box(boxes, middle, step) for step in Step}

    assert {step.value: box.id for step, box in ways.items()} == {
        "left": "0,1",
        "right": "2,1",
        "up": "1,0",
        "down": "1,2",
    }


def test_down_goes_into_a_frame_and_up_out_of_it():
    frame = Box(id="frame", kind=Kind.PACKAGE, rect=Rect(0, 0, 50, 50))
    inside = Box(id="in", kind=Kind.CORE, rect=Rect(5, 20, 10, 10), parent="frame")
    below = Box(id="below", kind=Kind.MEMORY, rect=Rect(0, 60, 50, 10))
    boxes = [frame, inside, below]

    assert next_box(boxes, frame, Step.DOWN) is inside
    assert next_box(boxes, inside, Step.DOWN) is below
    assert next_box(boxes, inside, Step.UP) is frame
    assert next_box(boxes, frame, Step.UP) is None
