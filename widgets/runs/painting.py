"""Painting of one row of the list: two lines of text, numbers at the right, a hairline.

Texts for screen readers come from the model.
"""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolTip,
)

from widgets.controls.basics import tip
from widgets.controls.wrapped import wrapped
from widgets.runs.listed import ListedRun, Prediction
from widgets.runs.model import RUN_ROLE, Column
from widgets.style.icons import pixmap
from widgets.style.ink import LEFT, RIGHT, draw_box, draw_words
from widgets.style.look import Look
from widgets.style.theme import STEP

MARGIN = 2 * STEP  # left and right of a cell
LEADING = 1.45  # relative to a line of text
ICON = 14  # pixels at zoom 1
TAG_CORNER = 4
RING_PX = 3
LINE_ALPHA = 90  # of the line between selected runs

Index = QModelIndex | QPersistentModelIndex


class RunPainter(QStyledItemDelegate):
    """Draws the cells of a RunsModel."""

    def __init__(self, look: Look, table: QTableView) -> None:
        super().__init__(table)
        self._look, self._table = look, table
        self.has_predictions = False

    def row_height(self) -> int:
        """Return the height of one row: of two lines, or the three of a prediction."""
        theme = self._look.theme
        two = round(LEADING * (theme.px("text") + theme.px("note"))) + 4 * STEP
        three = 3 * round(LEADING * theme.px("note")) + 2 * STEP
        return max(two, three) if self.has_predictions else two

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the height of a row; the column sets the width."""
        return QSize(0, self.row_height())

    def helpEvent(
        self,
        event: QHelpEvent,
        view: QAbstractItemView,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        """Show the tip of a cell, preceded by the title if that is cut off."""
        if not index.isValid() or event.type() != QHelpEvent.Type.ToolTip:
            return super().helpEvent(event, view, option, index)
        QToolTip.showText(event.globalPos(), self.tip(index, option.rect), view, option.rect)
        return True

    def tip(self, index: Index, cell: QRect) -> str:
        """Return the tip of a cell with this rectangle."""
        text, title = index.data(Qt.ItemDataRole.ToolTipRole) or "", index.data(RUN_ROLE).title
        room = self._lines(cell)[0].width()
        is_cut = QFontMetrics(self._title_font()).horizontalAdvance(title) > room
        return tip(title) + text if index.column() == Column.RUN and is_cut else text

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one cell."""
        run, column = index.data(RUN_ROLE), Column(index.column())
        painter.save()
        painter.setClipRect(option.rect)
        self._draw_ground(painter, option, index)
        upper, lower = self._lines(option.rect)
        match column:
            case Column.PIN:
                self._draw_pin(painter, option, run)
            case Column.WHEN:
                self._draw_text(painter, upper, run.when)
                self._draw_soft(painter, lower, run.kind)
            case Column.RUN if run.problem:
                self._draw_problem(painter, upper, lower, run)
            case Column.RUN:
                # A long question uses the second line if that is empty.
                title = wrapped(run.title, self._title_font(), upper.width(), 1 + run.is_bare)
                for line, part in zip((upper, lower), title, strict=False):
                    self._draw(painter, line, part, self._title_font(), self._look.theme.ink)
                self._draw_said(painter, lower, run)
            case Column.RESULT:
                for line, result in zip((upper, lower), run.results, strict=False):
                    self._draw_result(painter, line, result.label, result.shown)
            case Column.PREDICTION if run.prediction is not None:
                self._draw_prediction(painter, option.rect, run.prediction)
            case Column.SETTINGS:
                font, settings = self._look.theme.font("note"), " · ".join(run.settings)
                text = wrapped(settings, font, upper.width(), 2)
                for line, part in zip((upper, lower), text, strict=False):
                    self._draw_soft(painter, line, part)
            case Column.MACHINE:
                self._draw_soft(painter, upper, run.machine)
        painter.restore()

    def _lines(self, rect: QRect) -> tuple[QRect, QRect]:
        theme = self._look.theme
        upper, lower = (round(LEADING * theme.px(name)) for name in ("text", "note"))
        inner = rect.adjusted(MARGIN, 0, -MARGIN, -1)
        top = inner.top() + (inner.height() - upper - lower) // 2
        return (
            QRect(inner.left(), top, inner.width(), upper),
            QRect(inner.left(), top + upper, inner.width(), lower),
        )

    def _draw_ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._look.theme, option.rect
        line = QColor(theme.line)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, QColor(theme.accent_wash))
            line = QColor(theme.accent)  # the line colour is invisible on this ground
            line.setAlpha(LINE_ALPHA)
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, line)
        if self._table.hasFocus() and self._table.currentIndex().row() == index.row():
            self._draw_ring(painter, rect, is_first=index.column() == Column.PIN)

    def _draw_ring(self, painter: QPainter, rect: QRect, *, is_first: bool) -> None:
        """Mark the current row."""
        accent = QColor(self._look.theme.accent)
        painter.fillRect(rect.left(), rect.top(), rect.width(), 1, accent)
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, accent)
        if is_first:
            painter.fillRect(rect.left(), rect.top(), RING_PX, rect.height(), accent)

    def _draw_pin(self, painter: QPainter, option: QStyleOptionViewItem, run: ListedRun) -> None:
        theme = self._look.theme
        if run.problem:
            return
        if run.is_pinned:
            colour = theme.accent
        elif option.state & QStyle.StateFlag.State_MouseOver:
            colour = theme.soft
        else:
            return
        self._draw_icon(painter, option.rect.center().x(), option.rect.center().y(), "pin", colour)

    def _draw_icon(self, painter: QPainter, x: int, y: int, name: str, colour: str) -> int:
        """Draw an icon around a point; return its width."""
        size = round(ICON * self._look.theme.zoom)
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(x - size // 2, y - size // 2, pixmap(name, colour, size, ratio))
        return size

    def _title_font(self) -> QFont:
        return self._look.theme.font("text", weight=QFont.Weight.Medium)

    def _draw_text(self, painter: QPainter, line: QRect, text: str) -> None:
        theme = self._look.theme
        self._draw(painter, line, text, theme.font("text"), theme.ink)

    def _draw_soft(self, painter: QPainter, line: QRect, text: str) -> None:
        theme = self._look.theme
        self._draw(painter, line, text, theme.font("note"), theme.soft)

    def _draw(
        self,
        painter: QPainter,
        line: QRect,
        text: str,
        font: QFont,
        colour: str,
        align: Qt.AlignmentFlag = LEFT,
    ) -> int:
        """Draw text on a line, cut if it does not fit; return its width."""
        metrics = QFontMetrics(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, line.width())
        draw_words(painter, line, shown, font, colour, align | Qt.TextFlag.TextSingleLine)
        return min(line.width(), metrics.horizontalAdvance(shown))

    def _draw_result(self, painter: QPainter, line: QRect, name: str, number: str) -> None:
        theme = self._look.theme
        font = theme.font("note", mono=True)
        width = self._draw(painter, line, number, font, theme.ink, RIGHT)
        self._draw_soft(painter, line.adjusted(0, 0, -width - MARGIN, 0), name)

    def _draw_prediction(self, painter: QPainter, cell: QRect, guess: Prediction) -> None:
        """Draw what was said, what it was, and how far off; a surprise with its sign."""
        theme = self._look.theme
        font, high = theme.font("note"), round(LEADING * theme.px("note"))
        inner = cell.adjusted(MARGIN, 0, -MARGIN, -1)
        is_exact = guess.guess == guess.right  # said once, it may take both lines
        told = wrapped(guess.said, font, inner.width(), 2) if is_exact else [guess.said, guess.was]
        told = [text for text in told if text]
        top = inner.top() + (inner.height() - high * (len(told) + bool(guess.judged))) // 2
        line = QRect(inner.left(), top, inner.width(), high)
        for text in told:
            self._draw(painter, line, text, font, theme.ink)
            line.translate(0, high)
        if not guess.is_surprise:
            self._draw_soft(painter, line, guess.judged)
            return
        half = round(ICON * theme.zoom) // 2
        x, y = line.left() + half, line.center().y()
        left = self._draw_icon(painter, x, y, "attention", theme.attention) + STEP
        self._draw(painter, line.adjusted(left, 0, 0, 0), guess.judged, font, theme.attention)

    def _draw_problem(self, painter: QPainter, upper: QRect, lower: QRect, run: ListedRun) -> None:
        theme = self._look.theme
        self._draw_text(painter, upper, run.title)
        width = self._draw_icon(
            painter, lower.left() + ICON // 2, lower.center().y(), "attention", theme.attention
        )
        line = lower.adjusted(width + STEP, 0, 0, 0)
        self._draw(painter, line, run.problem, theme.font("note"), theme.attention)

    def _draw_said(self, painter: QPainter, line: QRect, run: ListedRun) -> None:
        """Draw how it ended, its tags, then its question (if it has a name) and its note."""
        theme, left = self._look.theme, line.left()
        if run.ending:
            name, colour = (
                ("attention", theme.attention) if run.is_troubled else ("stop", theme.soft)
            )
            half = round(ICON * theme.zoom) // 2
            left += self._draw_icon(painter, left + half, line.center().y(), name, colour) + STEP
            rest = line.adjusted(left - line.left(), 0, 0, 0)
            left += self._draw(painter, rest, run.ending, theme.font("note"), colour) + MARGIN
        for tag in run.tags:
            rest = line.adjusted(left - line.left(), 0, 0, 0)
            if rest.width() < 10 * STEP:
                return
            left += self._draw_tag(painter, rest, tag) + STEP
        left += STEP if run.tags else 0
        text = " · ".join(" ".join(part.split()) for part in (run.question, run.note) if part)
        self._draw_soft(painter, line.adjusted(left - line.left(), 0, 0, 0), text)

    def _draw_tag(self, painter: QPainter, line: QRect, tag: str) -> int:
        theme = self._look.theme
        font = theme.font("small")
        width = min(QFontMetrics(font).horizontalAdvance(tag) + 2 * STEP + 1, line.width())
        box = QRect(line.left(), line.top() + 1, width, line.height() - 2)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        inside = box.toRectF().adjusted(0.5, 0.5, -0.5, -0.5)
        draw_box(painter, inside, TAG_CORNER, theme.line, theme.ground)
        self._draw(painter, box.adjusted(STEP, 0, -STEP, 0), tag, font, theme.soft)
        return width
