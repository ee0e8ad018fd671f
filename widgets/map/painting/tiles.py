"""Painting of the tiles of hardware threads, those of one colour together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QBrush, QFont, QPainter, QStaticText

from widgets.map.layout.boxes import Box
from widgets.map.painting.box_styles import BoxStyle, BoxStyles
from widgets.map.painting.state import State
from widgets.map.painting.view import View

FINE_PX = 5.0  # smaller boxes have no round corners
ROUND = 6.0


class Number(NamedTuple):
    """The number of a thread, laid out once, and its upper left corner."""

    corner: QPointF
    text: QStaticText


class Tiles:
    """Paints tiles; `number_of` returns a thread's number, None if there is no room."""

    def __init__(
        self,
        styles: BoxStyles,
        depths: Mapping[str, int],
        font: QFont,
        number_of: Callable[[Box], Number | None],
    ) -> None:
        self._styles, self._depths, self._font = styles, depths, font
        self._number_of = number_of
        self._rects: dict[str, QRectF] = {}
        self._insides: dict[str, tuple[QRectF, float]] = {}
        self._numbers: dict[str, Number | None] = {}

    def paint_over(
        self,
        painter: QPainter,
        tiles: Sequence[Box],
        cores: Mapping[str, Box],
        state: State,
        view: View,
        *,
        with_numbers: bool,
    ) -> None:
        """Repaint tiles; at their corners the ground of their `cores` shows."""
        painter.resetTransform()
        grounds: dict[str, QBrush] = {}
        map_rect = view.transform.mapRect
        for box in tiles:
            core = box.parent or ""
            if core not in grounds:
                grounds[core] = self._styles.style_of(cores[core], state, self._depths[core]).fill
            painter.fillRect(map_rect(self._rect(box)).toAlignedRect(), grounds[core])
        painter.setTransform(view.transform)
        self.paint(painter, tiles, state, view.scale, with_numbers=with_numbers)

    def paint(
        self,
        painter: QPainter,
        tiles: Iterable[Box],
        state: State,
        scale: float,
        *,
        with_numbers: bool,
    ) -> None:
        """Paint tiles."""
        alike: dict[int, tuple[BoxStyle, list[Box]]] = {}
        for box in tiles:
            style = self._styles.style_of(box, state, self._depths[box.id])
            alike.setdefault(id(style), (style, []))[1].append(box)
        painter.setFont(self._font)
        for style, boxes in alike.values():
            painter.setPen(style.pen)
            painter.setBrush(style.fill)
            more = (style.pen.widthF() - 1) / 2
            draw = painter.drawRoundedRect
            for box in boxes:
                inside, corner = self._inside(box)
                if 4 * corner * scale < FINE_PX:
                    corner = 0.0
                draw(inside.adjusted(more, more, -more, -more) if more else inside, corner, corner)
            if with_numbers and style.ink is not None:
                painter.setPen(style.ink)
                for box in boxes:
                    if (number := self._number(box)) is not None:
                        painter.drawStaticText(*number)

    def _rect(self, box: Box) -> QRectF:
        if box.id not in self._rects:
            self._rects[box.id] = QRectF(*box.rect)
        return self._rects[box.id]

    def _inside(self, box: Box) -> tuple[QRectF, float]:
        """Return the area inside the thinnest frame, and its corner radius."""
        if box.id not in self._insides:
            small = min(box.rect.width, box.rect.height)
            inside = self._rect(box).adjusted(0.5, 0.5, -0.5, -0.5)
            self._insides[box.id] = inside, min(ROUND, small / 4)
        return self._insides[box.id]

    def _number(self, box: Box) -> Number | None:
        if box.id not in self._numbers:
            self._numbers[box.id] = self._number_of(box)
        return self._numbers[box.id]
