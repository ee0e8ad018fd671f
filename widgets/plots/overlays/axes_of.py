"""The columns along the axes of a view, for what is laid over its plot."""

from __future__ import annotations

from experiments.core.views import Axis, Bars, Lines, Ruler, Timeline, View
from widgets.plots.drawing import Range
from widgets.plots.ranges import around
from widgets.plots.ticks import has_place, to_axis


def x_axis(view: View) -> Axis | None:
    """Return the numbers along the x axis; None where there are names, or none."""
    match view:
        case Lines():
            return view.x
        case Timeline():
            return Axis(view.end)
        case Bars():
            return Axis(view.value)
        case Ruler():
            return Axis(view.value, "log10")
        case _:
            return None


def y_axis(view: View) -> Axis | None:
    """Return the numbers along the y axis; None where there are names, or none."""
    return view.y if isinstance(view, Lines) else None


def holding(axis: Axis | None, *values: float) -> Range | None:
    """Return a range of places between round values that holds those values that fit."""
    if axis is None:
        return None
    places = [to_axis(value, axis.scale) for value in values if has_place(value, axis.scale)]
    return around(min(places), max(places), axis.scale) if places else None
