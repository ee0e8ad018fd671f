"""The protocol of a drawing, which draws the marks of one kind of view, and its data types.

A plot (plot.py) owns what all kinds share: axes, limit lines, zoom, cursor, exports. A drawing is
made once per view and keeps the newest rows. `paint` draws them on a sheet (sheet.py), whose area
converts places on the axes to pixels.

A place is what `ticks.to_axis` returns: the logarithm on a logarithmic axis, otherwise the value.
On an axis of names the first name is at 0, the second at 1, and y counts downwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF

from experiments.core.views import Scale
from experiments.engine import messages
from widgets.style.theme import Theme

if TYPE_CHECKING:
    from widgets.plots.sheet import Sheet

Place = TypeVar("Place", float, np.ndarray)
Range = tuple[float, float]

GHOST = -1  # in place of a series colour


@dataclass(frozen=True, slots=True)
class Beside:
    """Another run of the same experiment, shown on the same axes.

    A ghost is what was there before: soft grey under the marks, with no colours of its own.
    """

    name_a: str
    name_b: str
    rows: Sequence[Any]
    values: Mapping[str, float] = field(default_factory=dict)  # of its finding, for its limit lines
    is_ghost: bool = False


@dataclass(frozen=True, slots=True)
class Name:
    """A name on an axis, the smaller text below it, and its label in the rows."""

    text: str
    detail: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AxisPlan:
    """Ticks along one axis: numbers, or `names` at 0, 1, 2 and so on."""

    unit: str = ""
    scale: Scale = "linear"
    title: str = ""
    names: tuple[Name, ...] | None = None
    places: tuple[float, ...] = ()  # of the names, if not 0, 1, 2 …
    rows: float = 0.0  # number of rows, if not one per name
    is_whole: bool = False  # a count: no ticks between 1 and 2
    is_shown: bool = True  # ticks or names beside it
    has_grid: bool = False  # grid lines across the plot, one per tick
    can_zoom: bool = True
    tick_px: float = 92.0  # least distance of two ticks across, at zoom 1
    row_px: float = math.inf  # greatest height of a name's row, at zoom 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Both axes, and the room beside the marks."""

    x: AxisPlan
    y: AxisPlan
    right_px: float = 0.0  # reserved at the right for a colour key, at zoom 1
    is_square: bool = False  # steps along x and y have the same length


@dataclass(frozen=True, slots=True)
class Span:
    """A range of each axis, from the lower to the higher place.

    `is_passing`: all data lie at one place so far, so the range is only a guess.
    """

    x: Range
    y: Range
    is_passing: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """The rectangle between the axes, and the visible ranges. y of names counts downwards."""

    rect: QRectF
    sight: Span
    is_downward: bool = False

    def x_px(self, x: Place) -> Place:
        """Return the pixel of a place on the x axis; also for arrays."""
        low, high = self.sight.x
        return self.rect.left() + (x - low) * (self.rect.width() / (high - low))

    def y_px(self, y: Place) -> Place:
        """Return the pixel of a place on the y axis; also for arrays."""
        low, high = self.sight.y
        step = self.rect.height() / (high - low)
        if self.is_downward:
            return self.rect.top() + (y - low) * step
        return self.rect.bottom() - (y - low) * step

    def point(self, x: float, y: float) -> QPointF:
        """Return the pixel of a place on both axes."""
        return QPointF(self.x_px(x), self.y_px(y))

    def x_at(self, px: float) -> float:
        """Return the place on the x axis at a pixel."""
        low, high = self.sight.x
        return low + (px - self.rect.left()) * (high - low) / self.rect.width()

    def y_at(self, px: float) -> float:
        """Return the place on the y axis at a pixel."""
        low, high = self.sight.y
        from_low = px - self.rect.top() if self.is_downward else self.rect.bottom() - px
        return low + from_low * (high - low) / self.rect.height()


def square(middle: QPointF, half: float) -> QRectF:
    """Return the square around a point, with half the length of a side."""
    return QRectF(middle.x() - half, middle.y() - half, 2 * half, 2 * half)


@dataclass(frozen=True, slots=True)
class Track:
    """The points of one series, bar, lane or row of cells, along which the cursor moves.

    Up and down go to the same point number of an aligned track, else to the nearest x.
    """

    name: str
    colour: int  # place in the series colours of the theme, or GHOST
    xs: np.ndarray
    ys: np.ndarray
    is_aligned: bool = True
    label: str = ""  # of all its points, as it stands in the rows
    labels: tuple[str, ...] = ()  # of each point, where they differ
    detail: str = ""  # of a bar, as it stands in the rows

    def label_of(self, point: int) -> str:
        """Return the label of a point, as it stands in the rows."""
        return self.labels[point] if self.labels else self.label


class Drawing(Protocol):
    """One kind of view, made with `(view, terms)`; see bars.py for the smallest example."""

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Take all rows of the table, the finding's values, and the other run, if any.

        Called up to 30 times a second. Computes all that does not depend on pixels.
        """

    def plan(self) -> Plan:
        """Return the axes around the marks."""

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return the unzoomed ranges for an area of this size.

        They should change in steps (ranges.py), so that a live plot does not jump with each row.
        """

    def paint(self, sheet: Sheet) -> None:
        """Draw the marks, and request their labels."""

    def tracks(self) -> Sequence[Track]:
        """Return the tracks of the reading cursor; none if there is nothing to read."""

    def read(self, track: int, point: int) -> str:
        """Return the cursor's text at a point: series, x, y, and the distance to the limit."""

    def summary(self) -> str:
        """Return the marks in a few sentences for screen readers; "" if there are none."""


@runtime_checkable
class ShowsFrames(Protocol):
    """A drawing of frames that arrive one by one."""

    def take_frame(self, frame: messages.Frame) -> None:
        """Show this frame."""


@runtime_checkable
class NeedsHeight(Protocol):
    """A drawing that leaves something out, or is unreadable, if it is too low."""

    def least_px(self, area: Area, theme: Theme) -> float:
        """Return the least height of an area with this width and these visible ranges."""


@runtime_checkable
class HasInsides(Protocol):
    """A drawing whose marks are larger than points: the mouse reads them anywhere inside."""

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return track and point of the mark at a place; None between marks."""
