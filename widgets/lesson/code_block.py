"""A few lines of Python to read, coloured, in a frame."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetricsF, QResizeEvent
from PySide6.QtWidgets import QFrame, QSizePolicy

from widgets.controls.basics import column, label
from widgets.experiment.highlighting import colour_of, spans
from widgets.style.look import Look
from widgets.style.theme import STEP

HANG = 4  # characters of extra indent in wrapped rows
LEAST_CHARACTERS = 12
_REMARK = re.compile(r"(?<=\S) {3,}#", re.MULTILINE)


class CodeBlock(QFrame):
    """Where a line is too long, its remark moves closer, then the letters shrink, then it wraps."""

    def __init__(self, name: str, look: Look) -> None:
        super().__init__()
        self._look, self._code = look, ""
        self.setProperty("role", "panel")
        self._text = label()
        self._text.setTextFormat(Qt.TextFormat.RichText)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._text.setAccessibleName(name)
        # The letters follow the width, not the width the letters.
        self._text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        inside = column(self._text)
        inside.setContentsMargins(4 * STEP, 3 * STEP, 4 * STEP, 3 * STEP)
        self.setLayout(inside)
        look.changed.connect(self._fit)

    def show_code(self, code: str) -> None:
        """Show code; nothing is shown of none."""
        self._code = code.strip("\n")
        self._text.setAccessibleDescription(self._code)
        self.setVisible(bool(self._code))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the code to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        room = self.width() - 8 * STEP - 2
        code, size = self._fitting(room)
        most = int(room / self._advance(size))
        text = _coloured(code, size, max(LEAST_CHARACTERS, most), self._look)
        if text != self._text.text():
            self._text.setText(text)

    def _fitting(self, room: int) -> tuple[str, str]:
        """Return the code and the size of its letters."""
        closer = _REMARK.sub("  #", self._code)
        for code, size in ((self._code, "note"), (closer, "note"), (closer, "small")):
            longest = max(map(len, code.splitlines()), default=0)
            if longest * self._advance(size) <= room:
                return code, size
        return closer, "small"

    def _advance(self, size: str) -> float:
        """Return the width of a character; the font is monospaced."""
        return QFontMetricsF(self._look.theme.font(size, mono=True)).horizontalAdvance("0")


def _coloured(code: str, size: str, most: int, look: Look) -> str:
    """Return code as HTML in the colours of the theme, in rows of at most so many characters."""
    theme, rows = look.theme, []
    for line, coloured in zip(code.split("\n"), spans(code), strict=True):
        colours = [""] * len(line)
        for start, end, kind in coloured:
            colours[start:end] = [colour_of(kind, theme)] * (end - start)
        for start, end, hang in _rows(line, most):
            pieces = itertools.groupby(range(start, end), key=colours.__getitem__)
            texts = ((colour, "".join(line[at] for at in places)) for colour, places in pieces)
            rows.append(" " * hang + "".join(itertools.starmap(_piece, texts)))
    family = theme.font(size, mono=True).family()
    style = f"white-space:pre; font-family:'{family}'; font-size:{theme.px(size)}px"
    return f'<div style="{style}">{"<br>".join(rows)}</div>'


def _piece(colour: str, text: str) -> str:
    return f'<span style="color:{colour}">{escape(text)}</span>' if colour else escape(text)


def _rows(line: str, most: int) -> Iterator[tuple[int, int, int]]:
    """Yield start, end and indent of each row of a line; all but the first hang below it."""
    start, hang = 0, 0
    deeper = min(len(line) - len(line.lstrip()) + HANG, most // 2)
    while len(line) - start > most - hang:
        space = line.rfind(" ", start + 1, start + most - hang + 1)
        is_word = space > start and line[start:space].strip()
        end = space if is_word else start + most - hang
        yield start, end, hang
        start, hang = end + bool(is_word), deeper
    yield start, len(line), hang
