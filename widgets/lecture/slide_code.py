"""Code on a slide: as large as fits, on a ground of its own."""

from __future__ import annotations

import math

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPaintEvent
from PySide6.QtWidgets import QLabel

from experiments.core.words import Words
from widgets.experiment.code_rows import closer, coloured, longest
from widgets.style.ink import draw_box, painting
from widgets.style.look import Look
from widgets.style.theme import sized_font

# Pixels at a height of 720.
SIZES = (28, 26, 24, 22, 20)
SIDE, CORNER = 12, 10  # around the code
FEWEST = 8  # characters of a row


class SlideCode(QLabel):
    """Python in the largest of some sizes that fits; what is too long in each goes on below."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._look, self._code = look, ""
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.setAccessibleName(words.say("lesson.code"))

    def show_code(self, code: str) -> None:
        """Take the code; it is seen after the next `fit`."""
        self._code = code.strip("\n")
        self.setAccessibleDescription(self._code)
        self.setVisible(bool(self._code))

    def fit(self, room: QRectF, scale: float) -> float:
        """Lay it out at the top of a room, and return its height."""
        if not self._code:
            return 0.0
        side = round(SIDE * scale)
        inside = room.adjusted(side, side, -side, -side)
        code, font = self._fitting(inside, scale)
        most = max(FEWEST, int(inside.width() / _advance(font)))
        theme = self._look.theme
        self.setFont(font)  # HTML cannot say that signs stay apart
        text = coloured(code, font, most, theme)
        self.setText(f'<div style="color:{theme.ink}">{text}</div>')
        self.setMargin(side)  # which no style of the window takes away
        height = min(float(self.sizeHint().height()), room.height())
        rect = QRectF(room.topLeft(), room.bottomRight())
        rect.setHeight(height)
        self.setGeometry(rect.toAlignedRect())
        return height

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the code on its ground."""
        with painting(self) as painter:
            corner = self.margin() * CORNER / SIDE
            draw_box(painter, QRectF(self.rect()), corner, fill=self._look.theme.aside)
        super().paintEvent(event)

    def _fitting(self, room: QRectF, scale: float) -> tuple[str, QFont]:
        """Return the code, with its remarks closer where that helps, and its font."""
        fonts = [sized_font(max(1, round(size * scale)), 400, mono=True) for size in SIZES]
        close = closer(self._code)
        for font in fonts:
            for code in (self._code, close):
                height = (code.count("\n") + 1) * _row_px(font)
                if longest(code) * _advance(font) <= room.width() and height <= room.height():
                    return code, font
        return close, fonts[-1]


def _advance(font: QFont) -> float:
    """Return the width of a character; the font is monospaced."""
    return QFontMetricsF(font).horizontalAdvance("0")


def _row_px(font: QFont) -> int:
    return math.ceil(QFontMetricsF(font).lineSpacing())
