"""A paragraph to read, with its measured numbers in the face of numbers."""

from __future__ import annotations

import re
from html import escape

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtWidgets import QLabel

from experiments.core.units import unbroken
from widgets.style.look import Look
from widgets.style.theme import MONO

LEADING = 1.5  # a line, in heights of the letters
WIDE_PX = 320  # at zoom 1
_POWER = r"(?: × 10[⁰¹²³⁴-⁹]+)"
# What `unbroken` has tied to its unit, a factor, or a power of ten.
_MEASURED = re.compile(
    rf"\d+(?:[.,]\d+)*(?:{_POWER}?\N{{NO-BREAK SPACE}}[^\s.,;:!?)]+|×(?! ?10)|{_POWER})"
)


class Paragraph(QLabel):
    """Text that wraps, and can be marked and copied. It takes any width that it is given.

    QLabel lays its text out several times to find a width, and again whenever a layout asks for a
    height: with a column full of text, that was half of the time until it was seen.
    """

    def __init__(self, look: Look, text: str = "") -> None:
        self._heights: dict[int, int] = {}  # by width
        super().__init__()
        self._look, self._told = look, text
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        look.follow(self._show)

    def tell(self, text: str) -> None:
        """Show another text."""
        self._told = text
        self._show()

    def sizeHint(self) -> QSize:
        """Return a width that reads well."""
        return QSize(round(WIDE_PX * self._look.theme.zoom), self._line_px())

    def minimumSizeHint(self) -> QSize:
        """Ask for one line, however narrow."""
        return QSize(0, self._line_px())

    def heightForWidth(self, width: int) -> int:
        """Return the height of the text, laid out once for each width."""
        if width not in self._heights:
            self._heights[width] = super().heightForWidth(width)
        return self._heights[width]

    def changeEvent(self, event: QEvent) -> None:
        """Lay out again: the font may be another one."""
        self._heights.clear()
        super().changeEvent(event)

    def _line_px(self) -> int:
        return round(self._look.theme.px("text") * LEADING)

    def _show(self) -> None:
        self._heights.clear()
        # Both faces share one grid.
        style = f"-qt-line-height-type:fixed; line-height:{self._line_px()}px"
        self.setText(f'<p style="{style}">{with_numbers(self._told)}</p>')
        self.setAccessibleName(self._told)


def with_numbers(text: str) -> str:
    """Return a text as HTML, its numbers with a unit or a factor in the face of numbers."""
    return _MEASURED.sub(
        lambda found: f"<span style=\"font-family:'{MONO}'; font-weight:500\">{found[0]}</span>",
        escape(unbroken(text), quote=False),
    )
