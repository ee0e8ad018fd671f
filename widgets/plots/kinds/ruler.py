"""Values of very different size as pins with flags on a logarithmic ruler."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QColor, QFont, QPainter, QPen

from experiments.core import marks
from experiments.core.views import Axis, Ruler
from widgets.plots.drawing import GHOST, Area, AxisPlan, Beside, Plan, Span, Track
from widgets.plots.labels import Label
from widgets.plots.ranges import around
from widgets.plots.sheet import Sheet, text_size
from widgets.plots.terms import Terms
from widgets.plots.ticks import from_axis, has_place, ladder, placed
from widgets.style.theme import STEP, Theme

HEAD_PX = 4.0
FLAG_ROW = 2.0  # distance between flags, in heights of the text
BELOW = 0.12  # room below the ruler, as a fraction of that above
LIFT_PX = 14.0  # from the ruler to the lowest flag


@dataclass(frozen=True, slots=True)
class _Pin:
    mark: marks.Bar
    name: str
    run: str
    flag: str  # its label
    place: float
    repeats: np.ndarray
    is_second: bool
    colour: int


class RulerDrawing:
    """Pins above the ruler; another run's pins hang below it."""

    def __init__(self, view: Ruler, terms: Terms) -> None:
        self._view, self._terms = view, terms
        self._pins: tuple[_Pin, ...] = ()
        self._values: tuple[Mapping[str, float], ...] = ({}, {})  # of both runs
        self._has_second = False
        self._left_out = 0

    def take(self, rows: Sequence[Any], values: Mapping[str, float], beside: Beside | None) -> None:
        """Make a pin for each label."""
        self._values = (values, beside.values if beside else {})
        self._left_out, self._has_second = 0, beside is not None
        ours, theirs = self._marks(rows), self._marks(beside.rows) if beside else []
        run_a, run_b = (beside.name_a, beside.name_b) if beside else ("", "")
        self._pins = tuple(
            _Pin(
                pin,
                self._terms.choice(pin.label),
                run,
                self._terms.joined(
                    self._terms.of_run(run, self._terms.choice(pin.label)),
                    self._terms.show(pin.value, self._view.value),
                ),
                math.log10(pin.value),
                np.log10(np.array(pin.repeats, dtype=float)),
                is_second,
                GHOST if is_second and beside and beside.is_ghost else int(is_second),
            )
            for found, run, is_second in ((ours, run_a, False), (theirs, run_b, True))
            for pin in found
        )

    def plan(self) -> Plan:
        """Return the ruler below; no y axis."""
        value = self._view.value
        return Plan(
            x=AxisPlan(
                unit=self._terms.unit(value), scale="log10", title=self._terms.column(value)
            ),
            y=AxisPlan(is_shown=False, can_zoom=False),
        )

    def span(self, size: QSizeF, theme: Theme) -> Span:
        """Return whole decades around the pins."""
        y = (-1.0, 1.0) if self._has_second else (-BELOW, 1.0)
        if not self._pins:
            return Span((0.0, 1.0), y)
        pairs = product(self._view.limits, self._values)
        known = (values.get(limit.value, 0.0) for limit, values in pairs)
        marks_at = [math.log10(value) for value in known if has_place(value, "log10")]
        places = np.concatenate([*(pin.repeats for pin in self._pins), marks_at])
        low, high = around(float(places.min()), float(places.max()), "log10")
        low, high = math.floor(low + 1e-9), float(math.ceil(high - 1e-9))
        font = theme.bold()
        shares = [
            (pin.place, (text_size(pin.flag, font).width() + 2 * STEP * theme.zoom) / size.width())
            for pin in self._pins
        ]
        for _ in range(round(12 * theme.zoom)):  # until the flags of the greatest values fit
            if all(place + min(share, 0.9) * (high - low) <= high for place, share in shares):
                break
            high += 0.25
        return Span((low, high), y)

    def least_px(self, area: Area, theme: Theme) -> float:
        """Return the height that gives each flag its row."""
        font = theme.bold()
        sides = [[pin for pin in self._pins if pin.is_second == second] for second in (False, True)]
        rows = max(_rows(self._flags(area, pins, font, len(pins))) for pins in sides)
        above = LIFT_PX * theme.zoom + rows * text_size("", font).height()
        return above * (2.0 if self._has_second else 1.0 + BELOW)

    def paint(self, sheet: Sheet) -> None:
        """Draw the ruler, the repeats on it, and the pins with their flags."""
        self._paint_ruler(sheet)
        for is_second in (False, True):
            pins = [pin for pin in self._pins if pin.is_second == is_second]
            for pin in pins:
                ys = np.zeros(len(pin.repeats))
                colour = sheet.colour(pin.colour)
                sheet.dots(pin.repeats, ys, colour)
                disturbed = np.log10(np.array(pin.mark.disturbed, dtype=float))
                sheet.dots(disturbed, np.zeros(len(disturbed)), colour, is_hollow=True)
            self._paint_pins(sheet, pins, -1.0 if is_second else 1.0)

    def tracks(self) -> Sequence[Track]:
        """Return the pins of each run, from the least to the greatest."""
        found = []
        for is_second in (False, True):
            pins = [pin for pin in self._pins if pin.is_second == is_second]
            if pins:
                places = np.array([pin.place for pin in pins])
                zeros = np.zeros(len(pins))
                labels = tuple(pin.mark.label for pin in pins)
                found.append(
                    Track(
                        pins[0].run, pins[0].colour, places, zeros, is_aligned=False, labels=labels
                    )
                )
        return found

    def read(self, track: int, point: int) -> str:
        """Return name, value, and its ratio to the pin before."""
        runs = [[pin for pin in self._pins if pin.is_second == second] for second in (False, True)]
        pins = [pins for pins in runs if pins][track]
        pin, terms = pins[point], self._terms
        value = from_axis(pin.place, "log10")
        before = ""
        if point > 0:
            before = terms.times_another(value / pins[point - 1].mark.value, pins[point - 1].name)
        values = self._values[pin.is_second]
        shown = terms.with_limit(value, self._view.value, "log10", "x", values)
        return terms.joined(terms.of_run(pin.run, pin.name), shown, before)

    def summary(self) -> str:
        """Return the value of each pin."""
        said = [
            self._terms.say(
                "plot.bar",
                {
                    "name": self._terms.of_run(pin.run, pin.name),
                    "value": self._terms.show(pin.mark.value, self._view.value),
                },
            )
            for pin in self._pins
        ]
        said.append(self._terms.left_out(self._left_out))
        return " ".join(part for part in said if part)

    def _marks(self, rows: Sequence[Any]) -> list[marks.Bar]:
        found = placed(rows, Axis(self._view.value, "log10"))
        self._left_out += len(rows) - len(found)
        return marks.bars(self._view, found)

    def _paint_ruler(self, sheet: Sheet) -> None:
        area = sheet.area
        y = area.y_px(0.0)
        low, high = area.sight.x
        steps = ladder(10**low, 10**high, self._terms.unit(self._view.value))
        pen = QPen(QColor(sheet.theme.soft), 1.5 * sheet.theme.thin)
        with sheet.brushed(pen, is_smooth=False) as painter:
            painter.drawLine(QPointF(area.rect.left(), y), QPointF(area.rect.right(), y))
            for step, following in pairwise([*steps, 10 * steps[-1]]):
                for factor in range(1, math.ceil(following / step - 1e-9)):
                    place = math.log10(factor * step)
                    if low - 1e-9 <= place <= high + 1e-9:
                        px, length = area.x_px(place), 9.0 if factor == 1 else 4.0
                        painter.drawLine(QPointF(px, y - length / 2), QPointF(px, y + length / 2))

    def _paint_pins(self, sheet: Sheet, pins: Sequence[_Pin], up: float) -> None:
        """Draw pins and flags; a pin without room for a flag is short, only the cursor reads it."""
        area, theme, painter = sheet.area, sheet.theme, sheet.painter
        font = theme.bold()
        height = text_size("", font).height()
        zero, lift = area.y_px(0.0), LIFT_PX * theme.zoom
        room = abs(area.y_px(up) - zero) - lift
        low, high = area.sight.x
        seen = [pin for pin in pins if low <= pin.place <= high]
        flags = self._flags(area, seen, font, max(int(room / height), 1))
        rows = max(_rows(flags), 1)
        row_px = min(FLAG_ROW * height, room / rows)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for pin, (flat, row) in zip(seen, flags, strict=True):
            px, colour = area.x_px(pin.place), sheet.colour(pin.colour)
            middle = zero - up * (lift + row * row_px + height / 2)
            end = middle - up * height / 2 if row >= 0 else zero - up * lift
            painter.setPen(QPen(QColor(colour), 1.5 * theme.thin))
            painter.drawLine(QPointF(px, zero), QPointF(px, end))
            if row >= 0:
                rect = flat.translated(0, middle - height / 2)
                word = sheet.colour(pin.colour, word=True)
                sheet.write(pin.flag, font, word, rect, 0.5)
                sheet.occupied.take_label(rect)
                sheet.labels.append(Label(pin.flag, word, font, rect, of=pin.mark.label))
            painter.setPen(QPen(QColor(theme.panel), 1.0))
            painter.setBrush(QColor(colour))
            painter.drawEllipse(QPointF(px, zero), HEAD_PX * theme.zoom, HEAD_PX * theme.zoom)
        painter.restore()

    def _flags(
        self, area: Area, pins: Sequence[_Pin], font: QFont, most: int
    ) -> list[tuple[QRectF, int]]:
        """Return the rectangle and the row of each flag: the lowest free row of `most`.

        A flag stands right of its pin, or left if there is no room. Row -1 is no flag: all places
        are taken, or a stem would cross a flag.
        """
        stems = [area.x_px(pin.place) for pin in pins]
        sizes = [text_size(pin.flag, font) for pin in pins]
        ends = [px + STEP + size.width() for px, size in zip(stems, sizes, strict=True)]
        to_right = [place for place, end in enumerate(ends) if end <= area.rect.right()]
        to_left = [place for place in range(len(pins)) if place not in to_right]
        found = [(QRectF(), -1)] * len(pins)
        for place in (*reversed(to_right), *to_left):  # each after the flags that could block it
            size, px = sizes[place], stems[place]
            taken = [(*flag, stem) for flag, stem in zip(found, stems, strict=True) if flag[1] >= 0]
            for left, row in product((px + STEP, px - STEP - size.width()), range(most)):
                rect = QRectF(QPointF(left, 0), size)
                is_inside = area.rect.left() - STEP <= left and rect.right() <= area.rect.right()
                if is_inside and _is_free(rect, row, px, taken):
                    found[place] = rect, row
                    break
        return found


def _is_free(rect: QRectF, row: int, px: float, taken: Sequence[tuple[QRectF, int, float]]) -> bool:
    """Return whether a flag with its stem at `px` touches no other flag or stem."""
    reach = rect.adjusted(-2 * STEP, 0, 2 * STEP, 0)
    return not any(
        (at == row and other.intersects(reach))
        or (at >= row and reach.left() <= stem <= reach.right())
        or (at < row and other.left() <= px <= other.right())
        for other, at, stem in taken
    )


def _rows(flags: Sequence[tuple[QRectF, int]]) -> int:
    return max((row for _, row in flags), default=-1) + 1
