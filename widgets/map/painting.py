"""How is the map painted? Boxes, links and texts in the colours of the theme.

Colour is load, thickness is bandwidth. A tile whose load is not known has no colour at all.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from experiments.declare import Part
from widgets.icons import pixmap
from widgets.map.boxes import Box, EarnedValue, Kind, Layout, Letters, Measure, Rect, Wire
from widgets.map.devices import CELL, CELL_GAP, PAD, cell_grid
from widgets.map.dresses import Dresses, State
from widgets.map.lettering import Text, font_of, texts
from widgets.map.view import View
from widgets.theme import STEP, Theme

READABLE_PX = 7.0  # text that would be smaller on the screen is left out
FINE_PX = 5.0  # boxes that would be smaller on the screen have no round corners
ROUND, ROUNDER = 6.0, 10.0
ROUNDER_KINDS = (Kind.PACKAGE, Kind.MEMORY, Kind.GPU, Kind.UNREAD)
CENTRED = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextDontClip
LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextDontClip


class Painting:
    """Paints one layout in one theme."""

    def __init__(self, layout: Layout, theme: Theme, measure: Measure, state: State) -> None:
        self._layout, self._theme, self._measure, self.state = layout, theme, measure, state
        self._dresses = Dresses(theme)
        self._fonts = {letters: font_of(letters, theme) for letters in Letters}
        self._texts: dict[str, list[Text]] = {}
        self._depths = _depths(layout.boxes)
        self._by_id = {box.id: box for box in layout.boxes}

    def forget_texts(self) -> None:
        """Place the texts anew: the values have changed."""
        self._texts.clear()

    def texts(self, box: Box) -> list[Text]:
        """Return the texts of a box, as they are shown now."""
        known = self._texts.get(box.id)
        if known is None:
            known = self._texts[box.id] = texts(box, self._values(box), self._measure)
        return known

    def numbers(self, box: Box) -> Sequence[EarnedValue]:
        """Return the numbers that are known of a box."""
        if box.part is None or not box.bears_value:
            return ()
        return self.state.values.get(box.part, ())

    def paint(self, painter: QPainter, seen: Rect, scale: float) -> None:
        """Paint what lies in the rectangle `seen`, in units of the map."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for wire in self._layout.wires:
            self._paint_wire(painter, wire)
        for box in self._layout.boxes:
            if _touch(box.rect, seen):
                self._paint_box(painter, box, scale)

    def paint_tiles(self, painter: QPainter, tiles: Sequence[Box], view: View) -> None:
        """Paint hardware threads anew, and of their cores what shows through at the edges."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for box in tiles:
            painter.resetTransform()
            painter.setClipRect(view.to_screen(box.rect))
            painter.setTransform(view.transform)
            self._paint_box(painter, self._by_id[box.parent or ""], view.scale)
            self._paint_box(painter, box, view.scale)

    # --- boxes ---------------------------------------------------------------------------------

    def _paint_box(self, painter: QPainter, box: Box, scale: float) -> None:
        fill, pen, ink = self._dresses.dress(box, self.state, self._depths[box.id])
        rect = QRectF(*box.rect)
        small = min(box.rect.width, box.rect.height)
        painter.setPen(pen)
        painter.setBrush(fill)
        if small * scale < FINE_PX:
            painter.drawRect(rect)
        else:
            half = pen.widthF() / 2
            corner = min(ROUNDER if box.kind in ROUNDER_KINDS else ROUND, small / 4)
            painter.drawRoundedRect(rect.adjusted(half, half, -half, -half), corner, corner)
        if box.cells:
            self._paint_cells(painter, box)
        for text in self.texts(box):
            self._write(painter, text, ink or self._dresses.ink(text, box), scale)

    def _paint_cells(self, painter: QPainter, box: Box) -> None:
        """Paint the multiprocessors of a GPU, all alike: their load is one number, or unknown."""
        rows, across = cell_grid(box.cells, box.rect.width - 2 * PAD)
        left, top = box.rect.x + PAD, box.rect.bottom - PAD - rows * (CELL + CELL_GAP) + CELL_GAP
        wide = (box.rect.width - 2 * PAD + CELL_GAP) / across - CELL_GAP
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._dresses.colour("line"))
        painter.drawRects(
            [
                QRectF(
                    left + n % across * (wide + CELL_GAP),
                    top + n // across * (CELL + CELL_GAP),
                    wide,
                    CELL,
                )
                for n in range(box.cells)
            ]
        )

    # --- texts ---------------------------------------------------------------------------------

    def _values(self, box: Box) -> tuple[str, ...]:
        """Return what is said of the number of a box, the longest first."""
        if not self.state.shows_values:
            return ()
        known = self.numbers(box)
        if not known:
            return ("?",) if box.part in self.state.asked and box.asks else ()
        first = known[0]
        if box.part is Part.CORES:  # a bare number would not say of what
            return (f"{first.label} {first.text}", first.text)
        return (first.text,)

    def _write(self, painter: QPainter, text: Text, ink: QColor, scale: float) -> None:
        font = self._fonts[text.letters]
        if font.pixelSize() * scale < READABLE_PX:
            return
        painter.setFont(font)
        painter.setPen(ink)
        painter.drawText(QRectF(*text.rect), int(CENTRED if text.centred else LEFT), text.text)
        if text.role == "attention":
            side_px = round(self._measure.line(text.letters))
            picture = pixmap("attention", ink.name(), side_px)
            width = self._measure.width(text.text, text.letters)
            x = text.rect.centre[0] - width / 2 - side_px - STEP
            painter.drawPixmap(QPointF(x, text.rect.centre[1] - side_px / 2), picture)

    # --- links ---------------------------------------------------------------------------------

    def _paint_wire(self, painter: QPainter, wire: Wire) -> None:
        name = "attention" if wire.needs_look else "soft"
        pen = QPen(
            self._dresses.colour("accent" if wire.box == self.state.chosen else name),
            wire.thickness,
        )
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path_of(wire))


def paint_skeleton(painter: QPainter, theme: Theme, width: float, height: float) -> None:
    """Paint where the parts will stand, while the machine is being read."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    processor = QRectF(2, 2, width * 0.6, height * 0.5)
    memory = QRectF(2, processor.bottom() + 3 * STEP, width * 0.6, height * 0.15)
    device = QRectF(processor.right() + 3 * STEP, 2, width * 0.38 - 3 * STEP, height * 0.3)
    for rect in (processor, memory, device):
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.setBrush(QColor(theme.panel))
        painter.drawRoundedRect(rect, ROUNDER, ROUNDER)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.line))
        title = QRectF(rect.x() + 3 * STEP, rect.y() + 3 * STEP, 30 * STEP, theme.px("note"))
        painter.drawRoundedRect(title, STEP, STEP)


def path_of(wire: Wire) -> QPainterPath:
    """Return the line of a link: a curve to its second point, straight from there on."""
    start, knee, end = (QPointF(*point) for point in wire.points)
    path = QPainterPath(start)
    if start.y() == knee.y() or start.x() == knee.x():
        path.lineTo(knee)
    elif abs(knee.y() - start.y()) > 2 * abs(knee.x() - start.x()):
        corner = QPointF(start.x(), knee.y())
        path.cubicTo(corner, corner, knee)
    else:
        middle = (start.x() + knee.x()) / 2
        path.cubicTo(QPointF(middle, start.y()), QPointF(middle, knee.y()), knee)
    path.lineTo(end)
    return path


def _depths(boxes: Sequence[Box]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for box in boxes:
        depths[box.id] = depths[box.parent] + 1 if box.parent else 0
    return depths


def _touch(one: Rect, other: Rect) -> bool:
    return (
        one.x < other.right
        and other.x < one.right
        and one.y < other.bottom
        and other.y < one.bottom
    )
