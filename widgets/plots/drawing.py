"""What must a kind of view be able to do so that a plot can show it? The contract of one drawing.

A plot (plot.py) owns what is common to all: axes, limit lines, zoom, cursor, exports. A drawing
knows its marks. It is made once for a view and keeps the newest rows; `paint` draws them on a sheet
(sheet.py), whose area leads from places on the axes to pixels.

Places on the axes are what `ticks.to_axis` returns: the logarithm on a logarithmic axis, else the
value. On an axis of names the first stands at 0, the second at 1, and y counts downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF

from experiments.core.views import Scale
from experiments.engine import messages as wire
from widgets.style.theme import Theme

if TYPE_CHECKING:
    from widgets.plots.sheet import Sheet

Place = TypeVar("Place", float, np.ndarray)
Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Beside:
    """Another run of the same experiment, to be shown on the same axes."""

    name_a: str
    name_b: str
    rows: Sequence[Any]
    values: Mapping[str, float] = field(default_factory=dict)  # of its finding, for the limits


@dataclass(frozen=True, slots=True)
class Name:
    """A word on an axis of names, the smaller one below it, and what the rows call it."""

    text: str
    detail: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisPlan:
    """What stands along one axis. With `names`, they stand at 0, 1, 2 … instead of numbers."""

    unit: str = ""
    scale: Scale = "linear"
    title: str = ""
    names: tuple[Name, ...] | None = None
    places: tuple[float, ...] = ()  # where the names stand, if not at 0, 1, 2 …
    rows: float = 0.0  # how many there are, if not one for each name
    is_whole: bool = False  # it counts: no ticks between 1 and 2
    is_shown: bool = True  # ticks or names beside it
    has_grid: bool = False  # hairlines across the plot, one for each tick
    can_zoom: bool = True
    row_px: float = math.inf  # a name takes at most this much, at text zoom 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What stands around the marks."""

    x: AxisPlan
    y: AxisPlan
    right_px: float = 0.0  # kept free at the right, at text zoom 1: for a key of colours
    is_square: bool = False  # one step along x is as long as one along y


@dataclass(frozen=True, slots=True)
class Span:
    """A range of each axis, from the lower to the higher place.

    It is passing where all there is stands at one place: around that, an axis is only a guess.
    """

    x: Range
    y: Range
    is_passing: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """The rectangle between the axes, and what of them is in sight. y of names counts downwards."""

    rect: QRectF
    sight: Span
    is_downward: bool = False

    def x_px(self, x: Place) -> Place:
        """Return where in pixels a place on the x axis lies; also for an array of them."""
        low, high = self.sight.x
        return self.rect.left() + (x - low) * (self.rect.width() / (high - low))

    def y_px(self, y: Place) -> Place:
        """Return where in pixels a place on the y axis lies; also for an array of them."""
        low, high = self.sight.y
        step = self.rect.height() / (high - low)
        if self.is_downward:
            return self.rect.top() + (y - low) * step
        return self.rect.bottom() - (y - low) * step

    def point(self, x: float, y: float) -> QPointF:
        """Return the pixel of a place on both axes."""
        return QPointF(self.x_px(x), self.y_px(y))

    def x_at(self, px: float) -> float:
        """Return the place on the x axis that lies at a pixel."""
        low, high = self.sight.x
        return low + (px - self.rect.left()) * (high - low) / self.rect.width()

    def y_at(self, px: float) -> float:
        """Return the place on the y axis that lies at a pixel."""
        low, high = self.sight.y
        from_low = px - self.rect.top() if self.is_downward else self.rect.bottom() - px
        return low + from_low * (high - low) / self.rect.height()


@dataclass(frozen=True, slots=True)
class Track:
    """What the reading cursor walks along: the places of one series, bar, lane or row of cells.

    Where tracks are aligned, up and down keep the number of the point; else the nearest x.
    """

    name: str
    colour: int  # place in the series colours of the theme
    xs: np.ndarray
    ys: np.ndarray
    is_aligned: bool = True


class Drawing(Protocol):
    """One kind of view, made with `(view, terms)`; see bars.py for the smallest example."""

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Take all rows of the table, the values of the finding, and another run if there is one.

        Called up to 30 times a second; whatever does not depend on pixels is worked out here.
        """

    def plan(self) -> Plan:
        """Return what stands around the marks."""

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return what is to be in sight where nothing is zoomed, on an area of this size.

        It should change in steps (ranges.py), so that a live plot does not jump with each row.
        """

    def paint(self, sheet: Sheet) -> None:
        """Draw the marks, and wish for their labels."""

    def tracks(self) -> Sequence[Track]:
        """Return where the reading cursor can go; none where there is nothing to read."""

    def read(self, track: int, point: int) -> str:
        """Return what the cursor says at a point: series, x, y, and how far the limit is."""

    def summary(self) -> str:
        """Return the marks in a sentence or a few, for those who do not see them; "" if none."""


@runtime_checkable
class ShowsFrames(Protocol):
    """A drawing of pictures that come one by one."""

    def take_frame(self, frame: wire.Frame) -> None:
        """Show this picture from now on."""


@runtime_checkable
class NeedsHeight(Protocol):
    """A drawing that has to leave something out, or cannot be read, where it is too low."""

    def least_px(self, area: Area, theme: Theme) -> float:
        """Return how high an area must be that is as wide as this, with as much in sight."""


@runtime_checkable
class HasInsides(Protocol):
    """A drawing of marks that are more than points: the mouse reads them wherever it is in one."""

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return track and point of the mark at a place on the axes; None between the marks."""
