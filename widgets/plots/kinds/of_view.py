"""The drawing of each kind of view."""

from __future__ import annotations

from experiments.core.views import Bars, Code, Field, Heatmap, Lines, Ruler, Timeline, View
from widgets.plots.drawing import Drawing
from widgets.plots.kinds.bars import BarsDrawing
from widgets.plots.kinds.field import FieldDrawing
from widgets.plots.kinds.heatmap import HeatmapDrawing
from widgets.plots.kinds.lines import LinesDrawing
from widgets.plots.kinds.ruler import RulerDrawing
from widgets.plots.kinds.timeline import TimelineDrawing
from widgets.plots.terms import Terms


def drawing_of(view: View, terms: Terms) -> Drawing:
    """Return what draws a view. Raises TypeError for code."""
    match view:
        case Bars():
            return BarsDrawing(view, terms)
        case Lines():
            return LinesDrawing(view, terms)
        case Timeline():
            return TimelineDrawing(view, terms)
        case Ruler():
            return RulerDrawing(view, terms)
        case Heatmap():
            return HeatmapDrawing(view, terms)
        case Field():
            return FieldDrawing(view, terms)
        case Code():
            raise TypeError("code is read, not drawn")
