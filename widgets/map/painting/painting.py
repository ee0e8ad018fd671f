"""Painting of the map: boxes, links and texts in the colours of the theme.

Colour is load, thickness is bandwidth. A tile of unknown load has no colour.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QRegion,
    QStaticText,
)

from experiments.presentation.grouped import grouped
from widgets.map.layout.boxes import Box, Kind, Layout, Letters, Measure, Rect, Wire
from widgets.map.layout.shapes import bounds, cells, path_of, touch
from widgets.map.painting.box_styles import BoxStyles
from widgets.map.painting.box_texts import BoxTexts
from widgets.map.painting.lettering import Text, font_of, texts
from widgets.map.painting.state import State
from widgets.map.painting.tiles import FINE_PX, ROUND, Number, Tiles
from widgets.map.painting.view import View
from widgets.style.icons import pixmap
from widgets.style.theme import STEP, Theme

READABLE_PX = 7.0  # smaller text is left out
FRAME_PX = 3  # the thickest frame around a box
ROUNDER = 10.0
ROUNDER_KINDS = (Kind.PACKAGE, Kind.MEMORY, Kind.GPU, Kind.UNREAD)


class Painting:
    """Paints one layout in one theme; `is_vector` paints letters as outlines."""

    def __init__(
        self,
        layout: Layout,
        theme: Theme,
        measure: Measure,
        state: State,
        box_texts: BoxTexts,
        *,
        is_vector: bool = False,
    ) -> None:
        self._layout, self._theme, self._measure, self.state = layout, theme, measure, state
        self._box_texts, self._is_vector = box_texts, is_vector
        self._styles = BoxStyles(theme)
        self._fonts = {letters: font_of(letters, theme) for letters in Letters}
        self._baselines = {letters: _baseline(font) for letters, font in self._fonts.items()}
        self._sizes_px = {letters: font.pixelSize() for letters, font in self._fonts.items()}
        self._texts: dict[str, list[Text]] = {}
        self._begins: dict[str, list[QPointF]] = {}  # origins of these texts
        self._depths = _depths(layout.boxes)
        self._by_id = {box.id: box for box in layout.boxes}
        self._edges = [(b, b.rect.x, b.rect.y, b.rect.right, b.rect.bottom) for b in layout.boxes]
        self._bounds = [(wire, bounds(wire)) for wire in layout.wires]
        self._tiles = Tiles(
            self._styles, self._depths, self._fonts[Letters.NUMBER], self._number_of
        )
        self._inside = grouped((box.parent, box) for box in layout.boxes if box.parent)

    def forget_texts(self, box: Box | None = None) -> None:
        """Drop the cached texts of one box or of all, after their values changed."""
        if box is None:
            self._texts.clear()
            self._begins.clear()
        else:
            self._texts.pop(box.id, None)
            self._begins.pop(box.id, None)

    def box(self, name: str) -> Box:
        """Return the box of this id."""
        return self._by_id[name]

    def texts(self, box: Box) -> list[Text]:
        """Return the placed texts of a box."""
        known = self._texts.get(box.id)
        if known is None:
            known = self._texts[box.id] = texts(box, self._box_texts.of(box), self._measure)
        return known

    def paint(self, painter: QPainter, seen: Sequence[Rect], scale: float) -> None:
        """Paint everything that touches the rectangles `seen`, in units of the map."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for wire, around in self._bounds:
            if any(touch(around, rect) for rect in seen):
                self._paint_wire(painter, wire)
        x, y = min(rect.x for rect in seen), min(rect.y for rect in seen)
        end, bottom = max(rect.right for rect in seen), max(rect.bottom for rect in seen)
        is_whole, tiles = len(seen) == 1, []
        for box, left, top, right, low in self._edges:
            if not (left < end and x < right and top < bottom and y < low):
                continue
            if is_whole or any(touch(box.rect, rect) for rect in seen):
                if box.kind is Kind.THREAD and not self._is_vector:
                    tiles.append(box)  # nothing lies over them
                else:
                    self._paint_box(painter, box, scale)
        self._tiles.paint(painter, tiles, self.state, scale, with_numbers=self._has_numbers(scale))

    def paint_links(self, painter: QPainter, wires: Sequence[Wire], view: View) -> None:
        """Repaint lines with their labels, and nothing above them."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        around = [bounds(wire) for wire in wires]
        around += [self._by_id[wire.box].rect for wire in wires]
        region, labels = QRegion(), []
        for rect in around:
            region += view.to_screen(rect)
        for box, *_ in self._edges:
            if not box.parent and any(touch(box.rect, rect) for rect in around):
                if box.kind is Kind.LINK:
                    labels.append(box)
                else:
                    region -= view.to_screen(box.rect)
        painter.setClipRegion(region)
        painter.fillRect(region.boundingRect(), QColor(self._theme.ground))
        painter.setTransform(view.transform)
        for wire, place in self._bounds:
            if any(touch(place, rect) for rect in around):
                self._paint_wire(painter, wire)
        for box in labels:
            self._paint_box(painter, box, view.scale)

    def paint_tiles(self, painter: QPainter, tiles: Sequence[Box], view: View) -> None:
        """Repaint hardware threads, with the ground at their corners."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        has_numbers = self._has_numbers(view.scale)
        self._tiles.paint_over(
            painter, tiles, self._by_id, self.state, view, with_numbers=has_numbers
        )

    def paint_alone(self, painter: QPainter, boxes: Sequence[Box], view: View) -> None:
        """Repaint boxes with their content, and the ground at their corners."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for box in boxes:
            painter.resetTransform()
            around, seen = self._by_id.get(box.parent or ""), view.to_screen(box.rect)
            if around is None:  # its frame stays, since lines end there
                seen.adjust(FRAME_PX, FRAME_PX, -FRAME_PX, -FRAME_PX)
            painter.setClipRect(seen)
            painter.setTransform(view.transform)
            if around is None:
                painter.fillRect(QRectF(*box.rect), QColor(self._theme.ground))
            else:
                self._paint_box(painter, around, view.scale)
            self._paint_whole(painter, box, view.scale)

    def _paint_whole(self, painter: QPainter, box: Box, scale: float) -> None:
        self._paint_box(painter, box, scale)
        for inner in self._inside.get(box.id, ()):
            self._paint_whole(painter, inner, scale)

    def _has_numbers(self, scale: float) -> bool:
        return self._sizes_px[Letters.NUMBER] * scale >= READABLE_PX

    def _number_of(self, box: Box) -> Number | None:
        for text in self.texts(box):
            begin, font = self._origin(text, QRectF(*text.rect)), self._fonts[text.letters]
            begin.setY(begin.y() - QFontMetricsF(font).ascent())
            laid_out = QStaticText(text.text)
            laid_out.setTextFormat(Qt.TextFormat.PlainText)
            laid_out.prepare(font=font)
            return Number(begin, laid_out)
        return None

    # --- boxes ---------------------------------------------------------------------------------

    def _paint_box(self, painter: QPainter, box: Box, scale: float) -> None:
        fill, pen, ink = self._styles.style_of(box, self.state, self._depths[box.id])
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
        if box.bar is not None:
            self._paint_load(painter, box, box.bar)
        found = self.texts(box)
        begins = self._begins.get(box.id)
        if begins is None:
            begins = [self._origin(text, QRectF(*text.rect)) for text in found]
            self._begins[box.id] = begins
        for text, begin in zip(found, begins, strict=True):
            if self._sizes_px[text.letters] * scale < READABLE_PX:
                continue
            colour = ink or self._styles.ink(text, box)
            if text.is_upright:
                self._write_upright(painter, text, colour)
            else:
                self._write(painter, text, begin, colour)

    def _paint_load(self, painter: QPainter, box: Box, bar: Rect) -> None:
        """Paint the load of a device, and how full its memory is."""
        live = self.state.live_of(box.id)
        if box.grid is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._styles.cells(live.step if live else None))
            painter.drawRects(cells(box.grid, box.cells))
        self._paint_bar(painter, bar, live.filled if live else None)

    def _paint_bar(self, painter: QPainter, bar: Rect, filled: float | None) -> None:
        """Paint how full a memory is; only its frame if unknown."""
        rect = QRectF(*bar).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._styles.colour("ground"))
        painter.drawRoundedRect(rect, STEP, STEP)
        if filled:
            painter.setBrush(self._styles.filled)
            part = QRectF(rect)
            part.setWidth(max(2 * STEP, rect.width() * min(1.0, filled)))
            painter.drawRoundedRect(part, STEP, STEP)
        painter.setPen(QPen(self._styles.colour("line"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(rect, STEP, STEP)

    # --- texts ---------------------------------------------------------------------------------

    def _write_upright(self, painter: QPainter, text: Text, ink: QColor) -> None:
        rect = text.rect
        along = QRectF(-rect.height / 2, -rect.width / 2, rect.height, rect.width)
        painter.save()
        painter.translate(*rect.centre)
        painter.rotate(-90)
        self._write(painter, text, self._origin(text, along), ink)
        painter.restore()

    def _write(self, painter: QPainter, text: Text, begin: QPointF, ink: QColor) -> None:
        font = self._fonts[text.letters]
        if self._is_vector:  # outlines: other computers may lack the font
            outline = QPainterPath()
            outline.addText(begin, font, text.text)
            painter.fillPath(outline, ink)
        else:
            painter.setFont(font)
            painter.setPen(ink)
            painter.drawText(begin, text.text)
        if text.role == "attention":
            side_px = round(self._measure.line(text.letters))
            picture = pixmap("attention", ink.name(), side_px)
            middle_y = begin.y() - self._baselines[text.letters]
            at = QPointF(begin.x() - side_px - STEP, middle_y - side_px / 2)
            painter.drawPixmap(at, picture)

    def _origin(self, text: Text, rect: QRectF) -> QPointF:
        """Return the origin of a text; cheaper for Qt than aligning it."""
        room = rect.width() - self._measure.width(text.text, text.letters)
        x = rect.x() + room / 2 * text.centred
        return QPointF(x, rect.center().y() + self._baselines[text.letters])

    # --- links ---------------------------------------------------------------------------------

    def _paint_wire(self, painter: QPainter, wire: Wire) -> None:
        pen = QPen(self._styles.wire(wire, self.state), wire.thickness)
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path_of(wire))


def paint_skeleton(painter: QPainter, theme: Theme, width: float, height: float) -> None:
    """Paint placeholders while the machine is being read."""
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


def _baseline(font: QFont) -> float:
    """Return the distance from the middle of a line to its baseline."""
    metrics = QFontMetricsF(font)
    return (metrics.ascent() - metrics.descent()) / 2


def _depths(boxes: Sequence[Box]) -> dict[str, int]:
    depths: dict[str, int] = {}
    for box in boxes:
        depths[box.id] = depths[box.parent] + 1 if box.parent else 0
    return depths
