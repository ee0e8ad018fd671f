"""How does the whole map get into a file or onto the clipboard, with nothing chosen in it?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PySide6.QtGui import QImage

from widgets.map import export
from widgets.map.layout.boxes import Layout, Measure, Rect
from widgets.map.painting.box_texts import BoxTexts
from widgets.map.painting.painting import Painting
from widgets.map.painting.state import State
from widgets.style.theme import Theme


class Whole:
    """One map as it is now."""

    def __init__(
        self,
        layout: Layout,
        theme: Theme,
        measure: Measure,
        state: State,
        box_texts: BoxTexts,
        name: str,
        caption: str,
    ) -> None:
        self._layout, self._theme, self._measure = layout, theme, measure
        self._name, self._caption = name, caption
        self._state = replace(state, chosen=None, hovered=None, pointed=None, lit=frozenset())
        self._box_texts = box_texts.in_state(self._state)

    def picture(self) -> QImage:
        """Return it as a picture."""
        layout = self._layout
        caption = self._caption
        return export.picture(self._paint(), layout.width, layout.height, self._theme, caption)

    def svg(self) -> bytes:
        """Return it as an SVG file."""
        layout, paint = self._layout, self._paint(is_vector=True)
        return export.svg(
            paint, layout.width, layout.height, self._theme, self._name, self._caption
        )

    def save(self, path: Path) -> None:
        """Write it, by the suffix .svg or .png. Raises OSError."""
        if path.suffix.lower() == ".svg":
            path.write_bytes(self.svg())
        else:
            export.write_png(self.picture(), path)

    def _paint(self, *, is_vector: bool = False) -> export.Paint:
        painting = Painting(
            self._layout, self._theme, self._measure, self._state, self._box_texts,
            is_vector=is_vector,
        )  # fmt: skip
        whole = Rect(0, 0, self._layout.width, self._layout.height)
        return lambda painter: painting.paint(painter, [whole], 1.0)
