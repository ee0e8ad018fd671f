"""Text on a slide: as large as fits, in parts of different colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QLabel

from experiments.core.units import unbroken
from widgets.style.theme import sized_font

LEADING = 1.25  # a line, in heights of the letters


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text; a space divides it from the previous part."""

    text: str
    colour: str
    weight: int = 400


class SlideText(QLabel):
    """A text in the largest of some sizes that fits; what fits in none ends in dots."""

    def __init__(
        self, sizes: Sequence[int], *, at_right: bool = False, is_even: bool = False
    ) -> None:
        """Take the sizes in pixels at a height of 720, the largest first.

        If `is_even`, no line is much shorter than the others.
        """
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self._sizes, self._at_right, self._is_even = sizes, at_right, is_even
        self._parts: tuple[TextPart, ...] = ()
        self._lines: QTextLayout | None = None

    def write(self, *parts: TextPart) -> None:
        """Take the parts; what is written is seen after the next `fit`."""
        plain = [(" ".join(part.text.split()), part) for part in parts]
        self._parts = tuple(
            TextPart(unbroken(text), part.colour, part.weight) for text, part in plain if text
        )
        self.setText(" ".join(text for text, _ in plain if text))

    def fit(self, room: QRectF, scale: float) -> float:
        """Lay the text out at the top of a room, and return its height."""
        sizes = [max(1, round(size * scale)) for size in self._sizes]
        for size in sizes:
            height = self._lay_out(size, room.width())
            if height <= room.height() and self._is_within(room.width()):
                self._even_out(size, room.width(), height)
                break
        else:
            height = self._lay_out(sizes[-1], room.width(), room.height())
        rect = QRectF(room.topLeft(), room.bottomRight())
        rect.setHeight(height)
        self.setGeometry(rect.toAlignedRect())
        self.update()
        return height

    def letters(self) -> QRect:
        """Return the rectangle of its first line, from the tops of letters to their tails."""
        if self._lines is None or not self._lines.lineCount():
            return QRect()
        line = self._lines.lineAt(0)
        return line.naturalTextRect().toAlignedRect().translated(self.pos())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines in the colours of their parts."""
        if self._lines is not None:
            with QPainter(self) as painter:
                self._lines.draw(painter, QPointF(0.0, 0.0))

    def _lay_out(self, px: int, width: float, most_px: float = float("inf")) -> float:
        """Break the text into lines, together at most `most_px` high; return their height."""
        font = sized_font(px, max((part.weight for part in self._parts), default=400))
        height = px * LEADING
        most = max(1, int(most_px // height)) if most_px < float("inf") else 0
        text = " ".join(part.text for part in self._parts)
        found, cut = self._broken(text, font, width, most)
        if cut is not None:
            dots = Qt.TextElideMode.ElideRight
            rest = QFontMetricsF(font).elidedText(text[cut:], dots, width)
            found, _ = self._broken(text[:cut] + rest, font, width, most)
        self._lines = found
        return found.lineCount() * height

    def _even_out(self, px: int, width: float, height: float) -> None:
        """Narrow the lines as far as they do not become more."""
        if not self._is_even or height <= px * LEADING:
            return
        wide, narrow = width, width / 2
        while wide - narrow > px / 4:
            middle = (wide + narrow) / 2
            is_as_high = self._lay_out(px, middle) <= height and self._is_within(middle)
            wide, narrow = (middle, narrow) if is_as_high else (wide, middle)
        self._lay_out(px, wide)

    def _broken(
        self, text: str, font: QFont, width: float, most: int
    ) -> tuple[QTextLayout, int | None]:
        """Return the lines, and where the last of `most` lines begins if there are more."""
        layout = QTextLayout(text, font)
        layout.setFormats(self._formats(font))
        option = layout.textOption()
        if self._at_right:
            option.setAlignment(Qt.AlignmentFlag.AlignRight)
        layout.setTextOption(option)
        metrics, height = QFontMetricsF(font), font.pixelSize() * LEADING
        starts: list[int] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(1.0, width))
            line.setPosition(QPointF(0.0, len(starts) * height + (height - metrics.height()) / 2))
            starts.append(line.textStart())
        layout.endLayout()
        return layout, starts[most - 1] if most and len(starts) > most else None

    def _formats(self, font: QFont) -> list[QTextLayout.FormatRange]:
        found, start = [], 0
        for part in self._parts:
            each = QTextLayout.FormatRange()
            each.start, each.length = start, len(part.text)
            own = QFont(font)
            own.setWeight(QFont.Weight(part.weight))
            each.format.setFont(own)
            each.format.setForeground(QColor(part.colour))
            found.append(each)
            start += len(part.text) + 1
        return found

    def _is_within(self, width: float) -> bool:
        """Is no word wider than its line?"""
        return self._lines is not None and self._lines.minimumWidth() <= width
