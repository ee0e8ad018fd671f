"""Order of the boxes for the arrow keys and for Tab.

Right, left and down go to the nearest neighbour in the same frame, then to neighbours of the
surrounding frame. Down first enters a frame, up leaves it at its top. So every box can be reached.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from widgets.map.layout.boxes import Box, Kind, Rect

ALMOST = 0.5  # neighbours may touch
ASKEW = 2.0  # cost of a pixel aside, relative to a pixel ahead


class Step(Enum):
    """An arrow key."""

    LEFT = "left"
    RIGHT = "right"
    UP = "up"
    DOWN = "down"


DIRECTIONS = {Step.LEFT: (-1, 0), Step.RIGHT: (1, 0), Step.UP: (0, -1), Step.DOWN: (0, 1)}


def next_box(boxes: Sequence[Box], here: Box, step: Step) -> Box | None:
    """Return the box that an arrow key leads to, None if there is none."""
    if step is Step.DOWN:
        inside = next((box for box in boxes if box.parent == here.id), None)
        if inside is not None:
            return inside
    at: Box | None = here
    while at is not None:
        near = _neighbour(boxes, at, step)
        if near is not None:
            return near
        at = next((box for box in boxes if box.id == at.parent), None)
        if step is Step.UP:
            return at
    return None


def is_stop(box: Box) -> bool:
    """Return whether Tab stops here. It skips cores and their content: there may be hundreds."""
    return box.kind not in (Kind.CORE, Kind.THREAD) and not (box.parent or "").startswith("core:")


def next_stop(boxes: Sequence[Box], here: Box | None, *, forward: bool) -> Box | None:
    """Return the box that Tab leads to, None to leave the map."""
    order = boxes if forward else tuple(reversed(boxes))
    if here is not None:
        place = next(n for n, box in enumerate(order) if box.id == here.id)
        order = order[place + 1 :]
    return next((box for box in order if is_stop(box)), None)


def _neighbour(boxes: Sequence[Box], here: Box, step: Step) -> Box | None:
    found: tuple[float, Box] | None = None
    for box in boxes:
        if box.parent == here.parent and box.id != here.id:
            far = _distance(here.rect, box.rect, step)
            if far is not None and (found is None or far < found[0]):
                found = far, box
    return None if found is None else found[1]


def _distance(here: Rect, there: Rect, step: Step) -> float | None:
    """Return the distance to `there` in a direction, None if it lies elsewhere."""
    match step:
        case Step.LEFT:
            ahead = here.x - there.right
        case Step.RIGHT:
            ahead = there.x - here.right
        case Step.UP:
            ahead = here.y - there.bottom
        case _:  # down
            ahead = there.y - here.bottom
    if ahead < -ALMOST:
        return None
    if step in (Step.LEFT, Step.RIGHT):
        aside = max(0.0, here.y - there.bottom, there.y - here.bottom)
        apart = abs(here.y - there.y)
    else:
        aside = max(0.0, here.x - there.right, there.x - here.right)
        apart = abs(here.x - there.x)
    return ahead + ASKEW * aside + apart / 100
