"""Paints one choice of the command palette: text with matched letters, detail, shortcut."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from widgets.style.look import Look
from widgets.style.theme import STEP

Index = QModelIndex | QPersistentModelIndex
HIT_ROLE, CHOICE_ROLE = Qt.ItemDataRole.UserRole, Qt.ItemDataRole.UserRole + 1


class ChoiceRow(QStyledItemDelegate):
    """Paints a row from its `Choice` and `Hit`, which the model returns for the two roles."""

    def __init__(self, look: Look, parent: QObject) -> None:
        super().__init__(parent)
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of one line with padding."""
        return QSize(0, self._look.theme.px("text") + 6 * STEP)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint the shortcut at the right, then as much of text and detail as fits."""
        theme = self._look.theme
        choice, hit = index.data(CHOICE_ROLE), index.data(HIT_ROLE)
        rect = QRectF(option.rect)
        state = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inner = rect.adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(Qt.PenStyle.NoPen)
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.setBrush(QColor(theme.accent_wash))
            painter.drawRoundedRect(inner, 6, 6)
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawRoundedRect(inner, 6, 6)
        left, right = rect.left() + 3 * STEP, rect.right() - 3 * STEP
        if choice.keys:
            font = theme.font("note")
            painter.setFont(font)
            painter.setPen(QColor(theme.ink if is_chosen else theme.soft))
            width = QFontMetricsF(font).horizontalAdvance(choice.keys)
            place = QRectF(right - width, rect.top(), width + 1, rect.height())
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, choice.keys)
            right -= width + 4 * STEP
        left = self._draw(painter, choice.text, hit.places, (left, right), rect, "text", theme.ink)
        colour = theme.ink if is_chosen else theme.soft
        self._draw(painter, hit.detail, hit.detail_places, (left, right), rect, "note", colour)
        painter.restore()

    def _draw(
        self,
        painter: QPainter,
        text: str,
        places: Iterable[int],
        space: tuple[float, float],
        rect: QRectF,
        size: str,
        colour: str,
    ) -> float:
        """Draw a text with the letters at `places` in bold; return the x of what follows."""
        theme = self._look.theme
        left, right = space
        font = theme.font(size)
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, right - left)
        if right - left < 4 * theme.px("text") or not shown:
            return right
        stress = QTextCharFormat()
        stress.setForeground(QColor(theme.accent_word))
        stress.setFontWeight(QFont.Weight.Bold)
        layout = QTextLayout(shown, font)
        kept = len(text) if shown == text else len(shown) - 1  # without the ellipsis
        layout.setFormats([_range(place, stress) for place in places if place < kept])
        layout.beginLayout()
        line = layout.createLine()
        line.setNumColumns(len(shown))
        layout.endLayout()
        painter.setPen(QColor(colour))
        layout.draw(painter, QPointF(left, rect.center().y() - line.height() / 2))
        return left + line.naturalTextWidth() + 3 * STEP


def _range(place: int, style: QTextCharFormat) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length, made.format = place, 1, style
    return made
