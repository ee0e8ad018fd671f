"""Ranges of axes, rounded in steps so that a live plot does not jump; and parts of them."""

from __future__ import annotations

import math

from experiments.core.views import Scale
from widgets.plots.drawing import Range, Span

ROUND = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
FROM_ZERO = 0.4  # a linear axis starts at 0 if least / greatest is below this
DUST = 1e-9  # rounding error of a difference that should be 0
TINY = 1e-300  # least value whose logarithm is taken
CLOSEST_IN = 1e-3  # of the whole range

Room = tuple[Range | None, Range | None]  # what the axes x and y must hold besides the marks
NO_ROOM: Room = (None, None)


def reach(most: float) -> float:
    """Return the round end of an axis that starts at 0 and holds `most`."""
    if most <= 0.0:
        return 1.0
    return _round(most, ROUND)


def around(low: float, high: float, scale: Scale) -> Range:
    """Return a range between round places that holds `low` and `high`, places of an axis."""
    if scale == "linear" and (0.0 <= low < FROM_ZERO * high or low == high >= 0.0):
        return 0.0, reach(high)
    if scale == "log10":
        step = math.log10(2.0)
        found = _decade(low, (1, 2, 5), up=False), _decade(high, (2, 5, 10), up=True)
    else:
        step = 1.0 if scale == "log2" else _round((high - low or abs(high) or 1.0) / 8.0, (1, 2, 5))
        found = math.floor(low / step + DUST) * step, math.ceil(high / step - DUST) * step
    if found[1] - found[0] > DUST * step:
        return found
    return found[0] - step, found[1] + step


def united(one: Span, other: Span) -> Span:
    """Return the span that holds both spans."""
    return with_room(Span(one.x, one.y), (other.x, other.y), is_known=True)


def joined(one: Range | None, other: Range | None) -> Range | None:
    """Return the range that holds both ranges."""
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])


def both(one: Room, other: Room) -> Room:
    """Return the room that holds both rooms."""
    return joined(one[0], other[0]), joined(one[1], other[1])


def with_room(span: Span, room: Room, *, is_known: bool) -> Span:
    """Return a span that holds a room; where no data are known, the room alone."""
    if not is_known:
        return Span(room[0] or span.x, room[1] or span.y, span.is_passing)
    x, y = joined(span.x, room[0]) or span.x, joined(span.y, room[1]) or span.y
    return Span(x, y, span.is_passing)


def seen(part: Range | None, whole: Range) -> Range:
    """Return a part of an axis, moved into the whole; the whole if it is None or almost nothing."""
    length = whole[1] - whole[0]
    if part is None or not CLOSEST_IN / 2 * length <= part[1] - part[0] < length:
        return whole
    shift = max(whole[0] - part[0], 0.0) + min(whole[1] - part[1], 0.0)
    return part[0] + shift, part[1] + shift


def _round(least: float, factors: tuple[float, ...]) -> float:
    """Return the next of these multiples of a power of ten."""
    least = max(least, TINY)
    power = 10.0 ** math.floor(math.log10(least))
    found = (factor * power for factor in factors if factor * power >= least * (1 - DUST))
    return next(found, 10 * power)


def _decade(place: float, factors: tuple[float, ...], *, up: bool) -> float:
    """Return the place of the next round value above or below."""
    decade = math.floor(place + (-DUST if up else DUST))
    places = [decade + math.log10(factor) for factor in factors]
    if up:
        return next((found for found in places if found >= place - DUST), decade + 1.0)
    return max((found for found in places if found <= place + DUST), default=float(decade))
