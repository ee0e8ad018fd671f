"""Heat strip of the cores: one row per hardware thread, newest at the right.

Rows follow the topology: packages, dies and kinds of cores are apart, with names at the left if
there are several. A row may be one pixel high.
"""

from __future__ import annotations

import bisect
import math
from array import array
from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from experiments.presentation.load.groups import Group
from experiments.presentation.load.history import History, Moment
from widgets.live.minute import MinuteView, move
from widgets.live.ribbon import Ribbon
from widgets.style.look import Look
from widgets.style.theme import STEP, load_colour

HIGHEST_ROW, LOWEST_ROW = 44, 1  # pixels
EASY_ROW, EASY_HEIGHT = 16, 144  # pixels at zoom 1: comfortable row height, up to this total
APART_FROM = 5  # from this row height on, a pixel separates rows
GROUP_GAP = STEP
SHADES = 64
KINDS = {
    "performance": "live.performance",
    "efficiency": "live.efficiency",
    "low-power": "live.low_power",
}


class CoreStrip(QWidget):
    """The heat strip, and the names of the groups beside it."""

    pointed = Signal(object, object)  # seconds before the newest sample, place of the thread
    moved = Signal()  # the left edge or the wanted height has changed

    def __init__(self, look: Look, words: Words) -> None:
        super().__init__()
        self._look, self._words = look, words
        self._groups: tuple[Group, ...] = ()
        self.heat = Heat(look)
        self.heat.setParent(self)
        self.heat.pointed.connect(self.pointed)
        look.changed.connect(self._wear)

    @property
    def threads(self) -> tuple[int, ...]:
        """The threads from top to bottom."""
        return tuple(number for group in self._groups for number in group.threads)

    @property
    def left(self) -> int:
        """The x at which the minute begins."""
        return self.heat.x()

    def show_groups(self, groups: tuple[Group, ...]) -> None:
        """Show these threads, in this order."""
        if groups != self._groups:
            self._groups = groups
            self._place()
            self.moved.emit()

    def draw(self, history: History) -> None:
        """Show this history."""
        self.heat.draw(history)

    def point_at(self, ago_s: float | None, words: str = "") -> None:
        """Show the reading cursor, or remove it."""
        self.heat.point_at(ago_s, words)

    def height_within(self, room: int) -> int:
        """Return the height of all rows, as large as fits `room` without cutting one."""
        count, gaps = max(len(self.threads), 1), self._gaps()
        highest = round(HIGHEST_ROW * self._look.theme.zoom)
        each = max(LOWEST_ROW, min((room - gaps) // count, highest))
        return count * each + gaps

    def minimumSizeHint(self) -> QSize:
        """Return the least size at which every row is visible."""
        count, zoom = len(self.threads), self._look.theme.zoom
        easy = min(count * EASY_ROW, EASY_HEIGHT) * zoom
        return QSize(24 * STEP, max(count * LOWEST_ROW, round(easy)) + self._gaps())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the rows their heights."""
        super().resizeEvent(event)
        self._place()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Write the names of the groups."""
        del event
        theme = self._look.theme
        with QPainter(self) as painter:
            painter.setFont(theme.font("small"))
            painter.setPen(QColor(theme.soft))
            for group, band in zip(self._groups, self.heat.bands, strict=False):
                top, height = band.top() / self.heat.ratio, band.height() / self.heat.ratio
                if height >= painter.fontMetrics().height():
                    place = QRectF(0, top, self.left - 2 * STEP, height)
                    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self.name_of(group))

    def name_of(self, group: Group) -> str:
        """Return the name that distinguishes a group; "" if there is only one."""
        names = []
        if group.package is not None:
            names.append(self._words.say("live.package", {"number": group.package}))
        if group.die is not None:
            names.append(self._words.say("live.die", {"number": group.die}))
        if group.kind is not None:
            names.append(self._words.say(KINDS[group.kind]))
        return " · ".join(names)

    def _gaps(self) -> int:
        return max(len(self._groups) - 1, 0) * GROUP_GAP

    def _wear(self) -> None:
        self._place()
        self.moved.emit()

    def _place(self) -> None:
        metrics = QFontMetrics(self._look.theme.font("small"))
        names = (self.name_of(group) for group in self._groups)
        widest = max(map(metrics.horizontalAdvance, names), default=0)
        left = widest + 2 * STEP if widest else 0
        move(self.heat, QRect(left, 0, self.width() - left, self.height()))
        self.heat.show_bands([group.threads for group in self._groups])
        self.update()


class Heat(MinuteView):
    """The strip itself: the busy share of each thread as a colour."""

    numbers_marks = False

    def __init__(self, look: Look) -> None:
        super().__init__(look)
        self._threads: list[tuple[int, ...]] = []
        self.bands: list[QRect] = []  # the groups, in device pixels
        self.rows: list[tuple[int, int, int]] = []  # thread, top, height, in device pixels
        self.ratio = 1.0
        self._shades: list[int] = []
        self._behind = 0
        self._pending: list[Moment] = []  # samples of an unfinished column

    def show_bands(self, threads: list[tuple[int, ...]]) -> None:
        """Show these threads, by group."""
        if threads != self._threads:
            self._threads = threads
            self.start_anew()
        self._lay_out()

    def row_at(self, y: float) -> int | None:
        """Return the index of the thread at a height."""
        tops = [top for _, top, _ in self.rows]
        place = bisect.bisect_right(tops, y * self.ratio) - 1
        return max(place, 0) if tops else None

    def begin(self) -> None:
        """Take the colours of the theme."""
        self._lay_out()
        self._pending = []
        theme = self.look.theme
        self._shades = [load_colour(theme, n / (SHADES - 1)).rgb() for n in range(SHADES)]
        self._behind = QColor(theme.panel).rgb()

    def add(self, ribbon: Ribbon, moments: Sequence[Moment]) -> None:
        """Paint the new columns; samples that share one are averaged."""
        for moment in moments:
            if moment.after_gap:
                ribbon.skip_to(moment.at_s)
                self._pending = []
                continue
            if ribbon.column(moment.at_s) <= ribbon.end:  # beyond the left edge
                continue
            self._pending.append(moment)
            end = math.floor(ribbon.column(moment.at_s))
            if end > ribbon.end:
                self._paint(ribbon, end)
                self._pending = []

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the rows their heights."""
        super().resizeEvent(event)
        self._lay_out()

    def _lay_out(self) -> None:
        self.ratio = self.devicePixelRatioF()
        height, gap = round(self.height() * self.ratio), round(GROUP_GAP * self.ratio)
        count = sum(map(len, self._threads)) or 1
        room = height - gap * (len(self._threads) - 1)
        each = max(1, room // count)
        self.rows, self.bands, top = [], [], 0
        for threads in self._threads:
            self.bands.append(QRect(0, top, 1, each * len(threads)))
            self.rows += [(t, top + n * each, each) for n, t in enumerate(threads)]
            top += each * len(threads) + gap

    def _paint(self, ribbon: Ribbon, end: int) -> None:
        """Paint the columns up to `end` with the mean of the pending samples."""
        height, behind = ribbon.height, self._behind
        column = array("I", [behind]) * height
        unknown = []
        for thread, top, tall in self.rows:
            busy = _mean([moment.threads.get(thread) for moment in self._pending])
            filled = tall - 1 if tall >= APART_FROM * self.ratio else tall
            if busy is None:
                unknown.append((top, filled))
                continue
            shade = self._shades[round(min(max(busy, 0.0), 1.0) * (SHADES - 1))]
            column[top : top + filled] = array("I", [shade]) * len(column[top : top + filled])
        pieces = ribbon.pieces(ribbon.end, end)
        pixels = memoryview(ribbon.image.bits()).cast("I")
        stride = ribbon.image.bytesPerLine() // 4
        for piece, _ in pieces:
            for x in range(piece.left(), piece.right() + 1):
                pixels[x::stride] = column
        pixels.release()
        if unknown:
            with QPainter(ribbon.image) as painter:
                for piece, first in pieces:
                    for top, tall in unknown:
                        row = QRect(piece.left(), top, piece.width(), tall)
                        ribbon.hatch(painter, row, first)
        ribbon.end = end


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known else None
