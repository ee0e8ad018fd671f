from __future__ import annotations

from widgets.map.layout.boxes import Box, Kind, Rect
from widgets.map.walking import Arrow, next_box


def grid(columns: int, rows: int) -> list[Box]:
    return [
        Box(id=f"{x},{y}", kind=Kind.CORE, rect=Rect(x * 10, y * 10, 9, 9))
        for y in range(rows)
        for x in range(columns)
    ]


def named(boxes, name):
    return next(box for box in boxes if box.id == name)


def test_arrows_go_to_the_neighbour_in_their_direction():
    boxes = grid(3, 3)
    middle = named(boxes, "1,1")

    ways = {arrow: next_box(boxes, middle, arrow) for arrow in Arrow}

    assert {arrow.name.lower(): box.id for arrow, box in ways.items()} == {
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

    assert next_box(boxes, frame, Arrow.DOWN) is inside
    assert next_box(boxes, inside, Arrow.DOWN) is below
    assert next_box(boxes, inside, Arrow.UP) is frame
    assert next_box(boxes, frame, Arrow.UP) is None
