"""The drawing of each kind of view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from experiments.core.views import Bars, Field, Heatmap, Lines, Ruler, Timeline, View
from widgets.plots.drawing import Drawing
from widgets.plots.kinds.bars import BarsDrawing
from widgets.plots.kinds.field import FieldDrawing
from widgets.plots.kinds.heatmap import HeatmapDrawing
from widgets.plots.kinds.lines import LinesDrawing
from widgets.plots.kinds.ruler import RulerDrawing
from widgets.plots.kinds.timeline import TimelineDrawing
from widgets.plots.terms import Terms

DRAWINGS: Mapping[type, Callable[[Any, Terms], Drawing]] = {
    Bars: BarsDrawing, Lines: LinesDrawing, Timeline: TimelineDrawing, Ruler: RulerDrawing,
    Heatmap: HeatmapDrawing, Field: FieldDrawing,
}  # fmt: skip


def drawing_of(view: View, terms: Terms) -> Drawing:
    """Return what draws a view. Raises KeyError for code, which is read."""
    return DRAWINGS[type(view)](view, terms)
