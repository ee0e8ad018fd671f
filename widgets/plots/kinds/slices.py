"""Painting of up to 100 000 time slices on lanes, in a few milliseconds.

Wide slices are rounded blocks with thin gaps. Narrow ones become a strip: each column of pixels is
as opaque as the fraction of its time that is covered. A column with a slice is never too faint to
be seen. So two threads that alternate faster than a pixel both look half busy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from widgets.plots.drawing import Area
from widgets.plots.sheet import Sheet

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]
Steps = npt.NDArray[np.uint8]
Band = tuple[int, int]  # top and bottom of a lane, in pixels

HEIGHT = 0.78  # of a slice, as a fraction of its lane
CORNER_PX = 3.0
GAP_PX = 1.0
WIDE_PX = 4.0  # slices at least this wide are blocks
FEW = 1500  # most blocks with round corners; more would take longer than a frame
BEYOND_PX = 8  # how far blocks may extend beyond the visible part
FAINTEST = 0.5  # opacity of a hardly covered strip
BACKGROUND_ALPHA = 90


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """The slices of one lane, ordered by start and without overlap."""

    starts: Floats
    ends: Floats

    def slice_at(self, x: float) -> int | None:
        """Return the number of the slice at time `x`."""
        at = int(self.starts.searchsorted(x, side="right")) - 1
        return at if at >= 0 and x <= self.ends[at] else None

    def busy(self) -> float:
        """Return the total time the lane ran."""
        return float((self.ends - self.starts).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """The look of one lane: its place from the top, and the index of its colour."""

    place: float
    colour: int
    times: Times
    alpha: int = 255


def in_turn(slices: Sequence[tuple[float, float]]) -> Times:
    """Return slices without overlap: of two overlapping slices, the first continues."""
    pairs = np.array(slices, dtype=np.float64).reshape(-1, 2)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    starts, ends = pairs[:, 0], pairs[:, 1]
    if np.any(starts[1:] < starts[:-1]):
        order = np.argsort(starts, kind="stable")
        starts, ends = starts[order], ends[order]
    before = np.concatenate(([-np.inf], np.maximum.accumulate(ends)))[: len(ends)]
    new = (ends > before) | (starts >= before)
    return Times(np.maximum(starts, before)[new], ends[new])


def paint(sheet: Sheet, lanes: Sequence[Lane]) -> None:
    """Draw the visible lanes. Takes some milliseconds for 100 000 slices on 64 lanes."""
    painter, area = sheet.painter, sheet.area
    low, high = area.sight.y
    lanes = [each for each in lanes if low < each.place + 0.5 and each.place - 0.5 < high]
    if not lanes:
        return
    painter.save()
    painter.translate(area.rect.toAlignedRect().topLeft())
    painter.scale(1 / sheet.scale, 1 / sheet.scale)  # from here on in device pixels
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    _paint_lanes(painter, _Pixels(area, sheet.scale), sheet, lanes)
    painter.restore()


class _Pixels:
    """Converts times and lanes to device pixels from the corner of the area."""

    def __init__(self, area: Area, ratio: float) -> None:
        rect = area.rect.toAlignedRect()
        self.area, self.ratio = area, ratio
        self.width, self.height = math.ceil(rect.width() * ratio), math.ceil(rect.height() * ratio)
        self._left, self._top = rect.left(), rect.top()

    def x(self, times: Floats) -> Floats:
        found = (self.area.x_px(times) - self._left) * self.ratio
        return np.clip(found, -BEYOND_PX, self.width + BEYOND_PX, out=found)

    def band(self, place: float) -> Band:
        top, bottom = (
            round((self.area.y_px(edge) - self._top) * self.ratio)
            for edge in (place - HEIGHT / 2, place + HEIGHT / 2)
        )
        return top, max(bottom, top + 1)


def _paint_lanes(painter: QPainter, pixels: _Pixels, sheet: Sheet, lanes: Sequence[Lane]) -> None:
    bands = [pixels.band(each.place) for each in lanes]
    colours = [_colour(sheet, each) for each in lanes]
    corner = CORNER_PX * pixels.ratio
    background = QColor(sheet.theme.line)
    background.setAlpha(BACKGROUND_ALPHA)
    painter.setBrush(background)
    begin = float(pixels.x(np.zeros(1))[0])
    for band in bands:
        _draw_block(painter, begin, pixels.width + BEYOND_PX, band, corner)
    owners, starts, ends = _in_sight(lanes, pixels)
    wide = ends - starts >= WIDE_PX * pixels.ratio
    if np.count_nonzero(wide) > FEW:
        wide[:] = False
    if not wide.all():
        narrow = ~wide
        strips = _strips(owners[narrow], starts[narrow], ends[narrow], len(lanes), pixels.width)
        painter.drawImage(0, 0, _picture(strips, bands, colours, pixels.height))
    last, gap = -1, GAP_PX * pixels.ratio
    blocks = owners[wide].tolist(), starts[wide].tolist(), ends[wide].tolist()
    for owner, start, end in zip(*blocks, strict=True):
        if owner != last:
            last = owner
            painter.setBrush(colours[owner])
        _draw_block(painter, start, end - gap, bands[owner], corner)


def _draw_block(painter: QPainter, left: float, right: float, band: Band, corner: float) -> None:
    painter.drawRoundedRect(QRectF(left, band[0], right - left, band[1] - band[0]), corner, corner)


def _in_sight(lanes: Sequence[Lane], pixels: _Pixels) -> tuple[Places, Floats, Floats]:
    """Return lane, start and end in pixels of each visible slice, cut near the borders."""
    left, right = pixels.area.sight.x
    parts = []
    for times in (each.times for each in lanes):
        first = int(times.ends.searchsorted(left))
        last = int(times.starts.searchsorted(right, side="right"))
        parts.append((times.starts[first:last], times.ends[first:last]))
    counts = [len(starts) for starts, _ in parts]
    starts, ends = (np.concatenate(each) for each in zip(*parts, strict=True))
    return np.repeat(np.arange(len(lanes)), counts), pixels.x(starts), pixels.x(ends)


def _strips(owners: Places, starts: Floats, ends: Floats, count: int, width: int) -> Steps:
    """Return the opacity of each pixel column of each of `count` lanes, from 0 to 255."""
    # All lanes are laid end to end on one long line, and computed at once.
    length = width + 2 * BEYOND_PX
    offsets = owners * length
    offsets += BEYOND_PX
    strengths = _strengths(starts + offsets, ends + offsets, length * count)
    strengths *= 255.0
    return strengths.astype(np.uint8).reshape(count, length)[:, BEYOND_PX:-BEYOND_PX]


def _strengths(starts: Floats, ends: Floats, count: int) -> Floats:
    """Return the opacity of each of `count` columns of width 1, from 0 to 1."""
    begun = np.bincount(starts.astype(np.intp), minlength=count)[:count]
    before = np.concatenate(([0], np.cumsum(begun)))  # slices that began before each column
    lengths = np.concatenate(([0.0], ends - starts))
    beyond = np.concatenate(([-1.0], ends))[before] - np.arange(count + 1)
    covered = np.diff(np.cumsum(lengths)[before] - np.maximum(beyond, 0.0))
    covered *= 1.0 - FAINTEST
    covered += FAINTEST
    long = lengths >= WIDE_PX
    if long.any():
        covered[(begun == 1) & long[before[1:]] & long[before[:-1]]] = FAINTEST  # a seam of two
    covered[(begun == 0) & (beyond[:-1] <= 0.0)] = 0.0
    return np.clip(covered, 0.0, 1.0, out=covered)


def _picture(
    strips: Steps, bands: Sequence[Band], colours: Sequence[QColor], height: int
) -> QImage:
    width = strips.shape[1]
    pixels = np.zeros((height, width), dtype=np.uint32)
    for (top, bottom), colour, strip in zip(bands, colours, strips, strict=True):
        pixels[max(top, 0) : max(bottom, 0)] = _shades(colour.rgba())[strip]
    image_format = QImage.Format.Format_ARGB32_Premultiplied
    return QImage(pixels.data, width, height, 4 * width, image_format)


@functools.lru_cache(maxsize=32)
def _shades(colour: int) -> npt.NDArray[np.uint32]:
    """Return a colour in 256 opacities, as premultiplied ARGB."""
    full = QColor.fromRgba(colour)
    alphas = np.arange(256, dtype=np.uint32) * full.alpha() // 255
    shades = alphas << 24
    for shift, part in ((16, full.red()), (8, full.green()), (0, full.blue())):
        shades |= (alphas * part // 255) << shift
    return shades.astype(np.uint32)


def _colour(sheet: Sheet, lane: Lane) -> QColor:
    colour = QColor(sheet.colour(lane.colour))
    colour.setAlpha(lane.alpha)
    return colour
