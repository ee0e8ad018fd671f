"""The items of a lecture, one below the other, each with its state."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from widgets.controls.basics import tip
from widgets.controls.wrapped import line_px
from widgets.lecture.presenter_data import ItemLine, Standing
from widgets.style.icons import pixmap
from widgets.style.ink import draw_box, draw_words, use_ink
from widgets.style.look import Look
from widgets.style.theme import STEP, Theme

Index = QModelIndex | QPersistentModelIndex
LINE_ROLE = Qt.ItemDataRole.UserRole
SIGN_PX, CORNER = 6 * STEP, 10


class ItemList(QListView):
    """`chosen` carries the place of the item that was clicked. Keys belong to the window."""

    chosen = Signal(int)

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self._shown: Sequence[ItemLine] = ()
        self._items = QStandardItemModel(self)
        self.setModel(self._items)
        self.setItemDelegate(_Row(look, self))
        self.setProperty("role", "plain")
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSelectionMode(QListView.SelectionMode.NoSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))

    def show_lines(self, lines: Sequence[ItemLine], place: int) -> None:
        """Show all items; that at `place` stays in sight."""
        if lines == self._shown:
            return
        self._shown = lines
        self._items.clear()
        for line in lines:
            item = QStandardItem(line.title)
            item.setFlags(Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable)
            item.setData(line, LINE_ROLE)
            item.setData(f"{line.title}, {line.state}", Qt.ItemDataRole.AccessibleTextRole)
            item.setToolTip(tip(line.title, line.state))
            self._items.appendRow(item)
        self.scrollTo(self._items.index(place, 0))


class _Row(QStyledItemDelegate):
    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        theme = self._look.theme
        return QSize(0, round(line_px(theme.font("text")) + line_px(theme.font("note"))) + 4 * STEP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, line = self._look.theme, index.data(LINE_ROLE)
        rect = QRectF(option.rect).adjusted(0, STEP / 2, 0, -STEP / 2)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        is_now = line.standing is Standing.NOW or is_selected
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if is_now:
            draw_box(painter, rect, CORNER, fill=theme.accent_wash)
        if is_selected and option.state & QStyle.StateFlag.State_HasFocus:
            inside = rect.adjusted(1, 1, -1, -1)
            draw_box(painter, inside, CORNER, theme.accent, theme.accent_wash, 2)
        colour = _colour(line.standing, theme)
        title = theme.font("text", weight=QFont.Weight.DemiBold if is_now else 400)
        note, left = theme.font("note"), rect.left() + 3 * STEP
        top = rect.top() + (rect.height() - line_px(title) - line_px(note)) / 2
        self._sign(painter, line.standing, QPointF(left, top), colour, line_px(title))
        room = QRectF(left + SIGN_PX, top, rect.right() - left - SIGN_PX - STEP, line_px(title))
        for text, font, ink in ((line.title, title, theme.ink), (line.state, note, colour)):
            dots, width = Qt.TextElideMode.ElideRight, int(room.width())
            short = QFontMetrics(font).elidedText(text, dots, width)
            draw_words(painter, room, short, font, ink)
            room = QRectF(room.left(), room.bottom(), room.width(), line_px(note))
        painter.restore()

    def _sign(
        self, painter: QPainter, standing: Standing, at: QPointF, colour: str, height: float
    ) -> None:
        middle = QPointF(at.x() + 2 * STEP, at.y() + height / 2)
        if standing is Standing.NOW:
            use_ink(painter, fill=colour)
            painter.drawEllipse(middle, STEP + 1, STEP + 1)
            return
        side = round(height * 0.8)
        corner = middle - QPointF(side / 2, side / 2)
        if standing is Standing.DONE:
            painter.setPen(QColor(colour))
            painter.drawText(
                QRectF(corner.x(), at.y(), side, height), Qt.AlignmentFlag.AlignCenter, "✓"
            )
        elif standing in (Standing.RECORDING, Standing.NOTHING):
            name = "play" if standing is Standing.RECORDING else "attention"
            painter.drawPixmap(corner, pixmap(name, colour, side))


def _colour(standing: Standing, theme: Theme) -> str:
    match standing:
        case Standing.DONE:
            return theme.good
        case Standing.NOW:
            return theme.accent_word
        case Standing.RECORDING | Standing.NOTHING:
            return theme.attention
        case _:
            return theme.soft
