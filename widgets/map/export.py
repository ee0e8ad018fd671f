"""The whole map as a picture or an SVG file."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QPainter, QPainterPath

from widgets.controls.picture_files import png, svg
from widgets.map.layout.boxes import Layout, Measure, Rect
from widgets.map.painting.box_texts import BoxTexts
from widgets.map.painting.painting import Painting
from widgets.map.painting.state import State
from widgets.style.theme import STEP, Theme

MARGIN = 6.0 * STEP
SCALE = 2.0  # picture pixels per map pixel: sharp on paper too


class MapExport:
    """One map as it is now, whole and with nothing chosen, as picture or file."""

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
        margins = 2 * MARGIN
        self._size = QSize(round(layout.width + margins), round(layout.height + margins))
        self._state = replace(state, chosen=None, hovered=None, pointed=None, lit=frozenset())
        self._box_texts = box_texts.in_state(self._state)

    def picture(self) -> QImage:
        """Return it as a picture, with the caption below."""
        image = QImage(self._size * SCALE, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(SCALE)
        with QPainter(image) as painter:
            self._paint(painter)
        return image

    def svg(self) -> bytes:
        """Return it as an SVG file that needs no font."""
        paint = partial(self._paint, is_vector=True)
        return svg(self._size, paint, title=self._name)

    def save(self, path: Path) -> None:
        """Write it, by the suffix .svg or .png. Raises OSError."""
        is_vector = path.suffix.lower() == ".svg"
        path.write_bytes(self.svg() if is_vector else png(self.picture()))

    def _paint(self, painter: QPainter, *, is_vector: bool = False) -> None:
        painting = Painting(
            self._layout, self._theme, self._measure, self._state, self._box_texts,
            is_vector=is_vector,
        )  # fmt: skip
        painter.fillRect(QRectF(QPointF(), self._size), self._theme.ground)
        self._write_caption(painter)
        painter.translate(MARGIN, MARGIN)
        painting.paint(painter, [Rect(0, 0, self._layout.width, self._layout.height)], 1.0)

    def _write_caption(self, painter: QPainter) -> None:
        """Write the caption into the bottom margin, as an outline."""
        font = self._theme.font("small")
        metrics = QFontMetricsF(font)
        room = self._size.width() - 2 * MARGIN
        text = metrics.elidedText(self._caption, Qt.TextElideMode.ElideRight, room)
        outline = QPainterPath()
        base = self._size.height() - MARGIN / 2 + (metrics.ascent() - metrics.descent()) / 2
        outline.addText(MARGIN, base, font, text)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillPath(outline, QColor(self._theme.soft))
