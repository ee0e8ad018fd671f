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


class Arrow(Enum):
    """An arrow key, and where it points to: across and down."""

    LEFT = (-1, 0)
    RIGHT = (1, 0)
    UP = (0, -1)
    DOWN = (0, 1)


def next_box(boxes: Sequence[Box], here: Box, arrow: Arrow) -> Box | None:
    """Return the box that an arrow key leads to, None if there is none."""
    if arrow is Arrow.DOWN:
        inside = next((box for box in boxes if box.parent == here.id), None)
        if inside is not None:
            return inside
    at: Box | None = here
    while at is not None:
        near = _neighbour(boxes, at, arrow)
        if near is not None:
            return near
        at = next((box for box in boxes if box.id == at.parent), None)
        if arrow is Arrow.UP:
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


def _neighbour(boxes: Sequence[Box], here: Box, arrow: Arrow) -> Box | None:
    beside = (box for box in boxes if box.parent == here.parent and box.id != here.id)
    far = ((_distance(here.rect, box.rect, arrow), box) for box in beside)
    known = ((distance, box) for distance, box in far if distance is not None)
    return min(known, key=lambda found: found[0], default=(0.0, None))[1]


def _distance(here: Rect, there: Rect, arrow: Arrow) -> float | None:
    """Return the distance to `there` in the arrow's direction, None if it lies elsewhere."""
    across, down = arrow.value
    if down:  # is as across, with the axes exchanged
        here, there = (Rect(r.y, r.x, r.height, r.width) for r in (here, there))
    ahead = there.x - here.right if across + down > 0 else here.x - there.right
    if ahead < -ALMOST:
        return None
    aside = max(0.0, here.y - there.bottom, there.y - here.bottom)
    return ahead + ASKEW * aside + abs(here.y - there.y) / 100
