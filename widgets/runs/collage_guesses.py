"""The predictions of a class as bars: of a number with what was measured, or of each answer."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF

from experiments.core.units import show
from experiments.core.views import Scale
from widgets.plots.drawing import AxisPlan, Beside, Name, Plan, Span, Track
from widgets.plots.labels import Anchor, Wish
from widgets.plots.ranges import around, reach
from widgets.plots.sheet import Sheet, text_size, tinted
from widgets.plots.terms import Terms
from widgets.plots.ticks import label, to_axis
from widgets.runs.collage_data import Band, Numbers, Option
from widgets.style.theme import STEP, Theme

MEASURED, GUESSED = 0, 1  # places in the series colours
OTHERS_ALPHA, BAND_ALPHA = 110, 38
GAP_PX, LEAST_BAND_PX = 1.5, 4.0
BAR, ROW_PX = 0.5, 96.0  # thickness in rows; height of a row
HEAD_ROOM = 1.18  # times the highest bar: its label stands above it
MOST_BESIDE = 0.6  # of the width, for the labels beside the bars
TICK_PX = 40.0  # of an axis that numbers where each class begins
EXACT = 1e-9  # a guess of 10 belongs to what begins at 10, whatever the logarithm rounds


@dataclass(frozen=True, slots=True)
class _Bin:
    low: float
    high: float
    count: int
    is_yours: bool


class NumbersDrawing:
    """Predictions in classes from 1 to 2 to 5 to 10, and the band of what was measured."""

    def __init__(self, terms: Terms, numbers: Numbers) -> None:
        self._terms, self._numbers = terms, numbers
        self._scale: Scale = "log2" if numbers.unit == "bytes" else "log10"
        self._bins: tuple[_Bin, ...] = ()

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Count the guesses."""
        self._bins = _bins(rows, self._numbers.yours, self._scale) if rows else ()

    def plan(self) -> Plan:
        """Return a logarithmic axis of predictions, and one of their number."""
        numbers = self._numbers
        return Plan(
            x=AxisPlan(unit=numbers.unit, scale=self._scale, title=numbers.title, tick_px=TICK_PX),
            y=AxisPlan(is_whole=True, has_grid=True, can_zoom=False),
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return the range of guesses and measured numbers."""
        ends = [end for each in self._bins for end in (each.low, each.high)]
        ends += self._numbers.band or ()
        places = [to_axis(end, self._scale) for end in ends]
        most = max((each.count for each in self._bins), default=1)
        return Span(around(min(places), max(places), self._scale), (0.0, reach(most * HEAD_ROOM)))

    def paint(self, sheet: Sheet) -> None:
        """Draw the bars, the band over them, and a label for each."""
        area = sheet.area
        for each in self._bins:
            left, right = (area.x_px(to_axis(end, self._scale)) for end in (each.low, each.high))
            top = area.y_px(float(each.count))
            corner = QPointF(right - GAP_PX, area.rect.bottom())
            rect = QRectF(QPointF(left + GAP_PX, top), corner)
            alpha = 255 if each.is_yours else OTHERS_ALPHA
            sheet.block(rect, sheet.colour(GUESSED), alpha)
            if each.is_yours:
                anchor = Anchor(QPointF(rect.center().x(), top - STEP / 2), 0.5, 1.0)
                you, word = self._terms.say("collage.you"), sheet.colour(GUESSED, word=True)
                font = sheet.theme.bold()
                sheet.wishes.append(Wish(you, (anchor,), word, font, stays_close=True))
        if self._numbers.band is not None:
            self._paint_band(sheet, self._numbers.band)

    def _paint_band(self, sheet: Sheet, band: Band) -> None:
        rect = sheet.area.rect
        left, right = (sheet.area.x_px(to_axis(end, self._scale)) for end in band)
        middle, half = (left + right) / 2, max((right - left) / 2, LEAST_BAND_PX / 2)
        tint = tinted(sheet.colour(MEASURED), BAND_ALPHA)
        line = sheet.theme.px("note") + 2 * STEP
        top = rect.top() + line
        sheet.painter.fillRect(QRectF(middle - half, top, 2 * half, rect.bottom() - top), tint)
        at = QPointF(middle, top - STEP / 2)
        anchors = [Anchor(at, left, 1.0) for left in (0.5, 0.0, 1.0)]
        word, font = sheet.colour(MEASURED, word=True), sheet.theme.bold()
        sheet.wishes.append(Wish(self._measured(), anchors, word, font, stays_close=True))

    def tracks(self) -> Sequence[Track]:
        """Return one track, along the bars."""
        xs = [to_axis(math.sqrt(each.low * each.high), self._scale) for each in self._bins]
        ys = [float(each.count) for each in self._bins]
        return [Track("", GUESSED, np.array(xs), np.array(ys))] if xs else []

    def read(self, track: int, point: int) -> str:
        """Return how many predicted so much."""
        return self._told(self._bins[point])

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the bar at a place."""
        for number, each in enumerate(self._bins):
            low, high = to_axis(each.low, self._scale), to_axis(each.high, self._scale)
            if low <= x < high and 0.0 <= y <= each.count:
                return 0, number
        return None

    def summary(self) -> str:
        """Return every bar, and the band."""
        told = [f"{self._told(each)}." for each in self._bins if each.count]
        if self._numbers.band is not None:
            unit = self._numbers.unit
            low, high = (show(end, unit) for end in self._numbers.band)
            values = {"measured": self._measured(), "low": low, "high": high}
            told.append(self._terms.say("collage.band", values))
        return " ".join(told)

    def _measured(self) -> str:
        return self._terms.say("collage.measured_by", {"count": self._numbers.machines})

    def _told(self, each: _Bin) -> str:
        low, high = (label(end, self._numbers.unit) for end in (each.low, each.high))
        told = self._terms.say("collage.bin", {"low": low, "high": high, "count": each.count})
        return self._terms.joined(told, self._terms.say("collage.yours") if each.is_yours else "")


class OptionsDrawing:
    """A bar for each answer; those that a machine showed to be right say so."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._options: Sequence[Option] = ()
        self._told: Sequence[str] = ()  # beside the bars, as far as there is room for words

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Take the options."""
        self._options = rows

    def plan(self) -> Plan:
        """Return the answers at the left, and an axis of their number."""
        names = tuple(Name(each.text) for each in self._options)
        title = self._terms.say("collage.chosen_by")
        return Plan(
            x=AxisPlan(is_whole=True, has_grid=True, title=title, can_zoom=False),
            y=AxisPlan(names=names, can_zoom=False, row_px=ROW_PX),
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return a range that leaves room for the labels beside the bars."""
        room = self._label_px(theme, in_words=True) / size.width()
        if room > MOST_BESIDE:
            room = min(self._label_px(theme, in_words=False) / size.width(), MOST_BESIDE)
        most = max((each.count for each in self._options), default=0)
        high = reach(max(most, 1) / (1.0 - room))
        return Span((0.0, high), (-0.5, max(len(self._options), 1) - 0.5))

    def _label_px(self, theme: Theme, *, in_words: bool) -> float:
        """Take these labels for all bars; return how wide they are with the air around them."""
        self._told = [self._beside(each, in_words=in_words) for each in self._options]
        font = theme.bold()
        widths = [text_size(told, font).width() for told in self._told]
        return max(widths, default=0.0) + 4 * STEP

    def paint(self, sheet: Sheet) -> None:
        """Draw the bars, and beside each what it is."""
        area = sheet.area
        for row, each in enumerate(self._options):
            top, bottom = area.y_px(row - BAR / 2), area.y_px(row + BAR / 2)
            end = area.x_px(float(each.count))
            alpha = 255 if each.is_yours else OTHERS_ALPHA
            rect = QRectF(QPointF(area.x_px(0.0), top), QPointF(end, bottom))
            sheet.block(rect, sheet.colour(GUESSED), alpha)
            anchor = Anchor(QPointF(end + 2 * STEP, area.y_px(float(row))))
            word = sheet.colour(MEASURED if each.machines else GUESSED, word=True)
            font = sheet.theme.bold()
            sheet.wishes.append(Wish(self._told[row], (anchor,), word, font, stays_in_row=True))

    def tracks(self) -> Sequence[Track]:
        """Return a track for each answer."""
        return [
            Track(each.text, GUESSED, np.array([float(each.count)]), np.array([float(row)]))
            for row, each in enumerate(self._options)
        ]

    def read(self, track: int, point: int) -> str:
        """Return how many chose an answer, and whether it was right."""
        each = self._options[track]
        told = self._terms.say("collage.chose", {"count": each.count})
        right = self._right(each) if each.machines else ""
        yours = self._terms.say("collage.yours") if each.is_yours else ""
        return self._terms.joined(each.text, told, yours, right)

    def point_at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the bar at a place."""
        row = round(y)
        is_in = 0 <= row < len(self._options) and abs(y - row) <= BAR / 2
        return (row, 0) if is_in and 0.0 <= x <= self._options[row].count else None

    def summary(self) -> str:
        """Return every answer."""
        return " ".join(f"{self.read(row, 0)}." for row in range(len(self._options)))

    def _beside(self, each: Option, *, in_words: bool) -> str:
        """Return the label beside a bar; the count and the tick of a right answer always stand."""
        yours = self._terms.say("collage.you") if each.is_yours else ""
        right = f"✓ {self._right(each)}" if in_words else "✓"
        return self._terms.joined(str(each.count), yours, right if each.machines else "")

    def _right(self, each: Option) -> str:
        return self._terms.say("collage.right_on", {"count": each.machines})


def _bins(guesses: Sequence[float], yours: float | None, scale: Scale) -> tuple[_Bin, ...]:
    """Return the classes from the first to the last that holds a guess."""
    base, factors = (4.0, (1,)) if scale == "log2" else (10.0, (1, 2, 5))
    low, high = (math.log(end, base) for end in (min(guesses), max(guesses)))
    powers = range(math.floor(low) - 1, math.ceil(high) + 3)
    edges = [factor * base**power for power in powers for factor in factors]

    def place(guess: float) -> int:
        return bisect_right(edges, guess * (1 + EXACT)) - 1

    counts = Counter(map(place, guesses))
    mine = place(yours) if yours is not None else None
    return tuple(
        _Bin(edges[at], edges[at + 1], counts[at], at == mine)
        for at in range(min(counts), max(counts) + 1)
    )
