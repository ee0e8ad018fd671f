"""A logarithmic slider with written ticks; nothing is chosen until it is touched."""

from __future__ import annotations

import math
from collections.abc import Iterator

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QPaintEvent, QPen, QWheelEvent

from widgets.controls.slider import RING, TRACK, StopSlider
from widgets.controls.stops import Stops
from widgets.plots.ticks import label
from widgets.style.ink import draw_box, painting
from widgets.style.look import Look
from widgets.style.theme import STEP

TICK_PX, GAP_PX = 4, 10  # below the track; between two texts
TRUTH_PX = 6  # width of the mark of the true value
_TENTHS = (
    1.0, 1.1, 1.2, 1.3, 1.5, 1.6, 1.8, 2.0, 2.2, 2.4, 2.7, 3.0,
    3.3, 3.6, 3.9, 4.3, 4.7, 5.1, 5.6, 6.2, 6.8, 7.5, 8.2, 9.1,
)  # a tenth more each: as resistors are sold (E24)  # fmt: skip
_SIXTEENTHS = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 14.0)
_EVEN = 1 + 1e-9  # 1e-9 * 10**3 is not quite 1e-6


def base_of(unit: str) -> tuple[int, tuple[float, ...]]:
    """Return the factor between two ticks, and the stops from one to the next."""
    return (16, _SIXTEENTHS) if unit == "bytes" else (10, _TENTHS)


def powers(low: float, high: float, unit: str) -> Iterator[float]:
    """Yield the ticks from `low` to `high`, both above 0: powers of 10, or of 16 for bytes."""
    base, _ = base_of(unit)
    for exponent in range(_exponent(low, base), _exponent(high, base) + 1):
        power = _power(base, exponent)
        if low / _EVEN <= power <= high * _EVEN:
            yield power


def log_stops(low: float, high: float, unit: str, value: float) -> Stops:
    """Return stops from `low` to `high`, a tenth apart or so; `value` is one of them."""
    base, steps = base_of(unit)
    found = [
        float(f"{step * _power(base, exponent):.12g}")
        for exponent in range(_exponent(low, base), _exponent(high, base) + 1)
        for step in steps
    ]
    values = sorted({low, high, value, *(each for each in found if low < each < high)})
    span = math.log(high / low)
    return Stops(tuple(values), tuple(math.log(each / low) / span for each in values))


def middle_of(low: float, high: float, unit: str) -> float:
    """Return the stop that is as many times above `low` as below `high`."""
    found = log_stops(low, high, unit, low)
    return found.values[found.nearest(0.5)]


def _exponent(value: float, base: int) -> int:
    return math.floor(math.log(value, base) + 1e-9)


def _power(base: int, exponent: int) -> float:
    return float(f"1e{exponent}") if base == 10 else float(base) ** exponent


class LogSlider(StopSlider):
    """From `low` to `high` in an SI `unit`. `touched` is emitted for all that a person does."""

    touched = Signal()

    def __init__(self, low: float, high: float, unit: str, look: Look) -> None:
        super().__init__(look)
        self._low, self._high, self._unit = low, high, unit
        self._truth: float | None = None
        self.is_chosen = False

    @property
    def chosen(self) -> float:
        """The value at which the handle is."""
        return self.values[self.value()]

    def place(self, value: float, *, is_chosen: bool) -> None:
        """Put the handle at a value; nothing is emitted."""
        self.is_chosen = is_chosen
        self.show_stops(log_stops(self._low, self._high, self._unit, value), value)
        _, steps = base_of(self._unit)
        self.setPageStep(len(steps))

    def show_truth(self, value: float) -> None:
        """Mark the true value on the track, or the end that it lies beyond."""
        self._truth = min(max(value, self._low), self._high)
        self.update()

    def sizeHint(self) -> QSize:
        """Return a size with room for the ticks."""
        return self._with_ticks(super().sizeHint())

    def minimumSizeHint(self) -> QSize:
        """Return the narrowest usable size."""
        return self._with_ticks(super().minimumSizeHint())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move; Enter or Space takes the value where the handle is."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.touched.emit()
            return
        before = self.value()
        super().keyPressEvent(event)
        if self.value() != before:
            self.touched.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Move while focused."""
        before = self.value()
        super().wheelEvent(event)
        if self.value() != before:
            self.touched.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the slider, and its ticks with as many texts as fit."""
        theme = self._look.theme
        font = theme.font("small")
        metrics = QFontMetricsF(font)
        top = self._track().bottom() + STEP
        with painting(self) as painter:
            painter.setFont(font)
            painter.setPen(QPen(QColor(theme.soft), 1))
            for value in powers(self._low, self._high, self._unit):
                x = self._x_of(value)
                painter.drawLine(QPointF(x, top), QPointF(x, top + TICK_PX))
            baseline = self.height() - metrics.descent()
            for left, text in self._texts(metrics):
                painter.drawText(QPointF(left, baseline), text)
        super().paintEvent(event)
        if self._truth is not None:
            x, track = self._x_of(self._truth), self._track()
            with painting(self) as painter:
                mark = QRectF(x - TRUTH_PX / 2, 0, TRUTH_PX, 2 * track.center().y())
                draw_box(painter, mark, TRUTH_PX / 2, fill=theme.good)

    def _texts(self, metrics: QFontMetricsF) -> list[tuple[float, str]]:
        """Return the left of each text and the text: both ends, and powers where there is room."""
        found: list[tuple[float, float, str]] = []
        for value in (self._low, self._high, *powers(self._low, self._high, self._unit)):
            text = label(value, self._unit)
            width = metrics.horizontalAdvance(text)
            left = min(max(0.0, self._x_of(value) - width / 2), self.width() - width)
            if all(
                left + width + GAP_PX <= other or right + GAP_PX <= left
                for other, right, _ in found
            ):
                found.append((left, left + width, text))
        return [(left, text) for left, _, text in found]

    def _with_ticks(self, size: QSize) -> QSize:
        return QSize(size.width(), size.height() + self._ticks_px())

    def _ticks_px(self) -> int:
        return 2 * STEP + round(QFontMetricsF(self._look.theme.font("small")).height())

    def _track(self) -> QRectF:
        height = self.height() - self._ticks_px()
        return QRectF(RING, (height - TRACK) / 2, self.width() - 2 * RING, TRACK)

    def _x_of(self, value: float) -> float:
        left, right = self._reach()
        return left + (right - left) * math.log(value / self._low) / math.log(
            self._high / self._low
        )

    def _go_to(self, x: float) -> None:
        super()._go_to(x)
        self.touched.emit()
