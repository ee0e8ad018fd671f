"""The chain from the card to a sum computed on it, each link a line that unfolds."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QFrame, QSizePolicy, QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, discard, holding, label, selectable
from widgets.doctor.command import Command
from widgets.doctor.page_data import NAMES, Link
from widgets.doctor.sign import colour_of, draw_sign
from widgets.style.look import Look
from widgets.style.signs import side_px
from widgets.style.theme import STEP

_MARGIN = 4 * STEP
_ARROW_PX = 4  # half of the arrow's width, at zoom 1


class Chain(QFrame):
    """The links. New ones are folded again."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.setProperty("role", "panel")
        self.links: list[ShownLink] = []
        self._lines = column(space=0, edges=(1, STEP, 1, STEP))
        self.setLayout(self._lines)

    def show_links(self, links: Sequence[Link]) -> None:
        """Show these links."""
        discard(*self.links)
        widest = max((link.title for link in links), key=len, default="")
        ends = {0: "first", len(links) - 1: "last"}
        self.links = [
            ShownLink(link, widest, ends.get(place, ""), self._words, self._look)
            for place, link in enumerate(links)
        ]
        for made in self.links:
            self._lines.addWidget(made)


class ShownLink(QWidget):
    """One link: a line to press, and its details below while it is unfolded."""

    def __init__(self, link: Link, widest: str, end: str, words: Words, look: Look) -> None:
        super().__init__()
        self._look, self._end = look, end
        self.line = _Line(link, widest, words, look)
        text = selectable(label(link.text, wrap=True))
        self._inside = column(text, *(Command(each, words, look) for each in link.commands))
        self.details = holding(self._inside)
        self.setLayout(column(self.line, self.details, space=0))
        self.line.setEnabled(bool(link.text))
        self.line.toggled.connect(self.details.setVisible)
        self.details.hide()
        look.follow(self._indent)

    def _indent(self) -> None:
        left = _MARGIN + side_px(self._look.theme) + 3 * STEP
        self._inside.setContentsMargins(left, 0, _MARGIN, 3 * STEP)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw a line from link to link, behind their signs."""
        theme = self._look.theme
        x = _MARGIN + side_px(theme) / 2
        sign = self.line.height() / 2
        gap = side_px(theme) / 2 + STEP / 2
        with QPainter(self) as painter:
            painter.setPen(QPen(QColor(theme.line), max(1.0, 1.5 * theme.zoom)))
            if self._end != "first":
                painter.drawLine(QPointF(x, 0), QPointF(x, sign - gap))
            if self._end != "last":
                painter.drawLine(QPointF(x, sign + gap), QPointF(x, self.height()))


class _Line(QAbstractButton):
    """Sign, title, as much of the sentence as fits, and the state in a word."""

    def __init__(self, link: Link, widest: str, words: Words, look: Look) -> None:
        super().__init__()
        self._link, self._widest, self._look = link, widest, look
        self._word = link.word or words.say(NAMES[link.state])
        self.setCheckable(True)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(f"{link.title}: {self._word}")
        self.setAccessibleDescription(link.text)
        look.changed.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return the height of a line with padding."""
        return QSize(0, self._look.theme.px("text") + 5 * STEP)

    def event(self, event: QEvent) -> bool:
        """Show whether the mouse is over it."""
        if event.type() in (QEvent.Type.Enter, QEvent.Type.Leave):
            self.update()
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint one line."""
        theme, link = self._look.theme, self._link
        whole = QRectF(self.rect())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw_ground(painter, whole)
            side = side_px(theme)
            draw_sign(painter, link.state, QPointF(_MARGIN + side / 2, whole.center().y()), theme)
            left = float(_MARGIN + side + 3 * STEP)
            right = self._draw_arrow(painter, whole.right() - _MARGIN)
            word = theme.font("note")
            word_px = QFontMetricsF(word).horizontalAdvance(self._word)
            self._draw(painter, self._word, word, colour_of(link.state, theme), right - word_px)
            right -= word_px + 4 * STEP
            bold = theme.font("text", weight=600)
            is_later = not link.text
            self._draw(painter, link.title, bold, theme.soft if is_later else theme.ink, left)
            left += QFontMetricsF(bold).horizontalAdvance(self._widest) + 5 * STEP
            plain = theme.font("note")
            metrics = QFontMetricsF(plain)
            if not self.isChecked() and right - left > 6 * theme.px("text"):
                shown = metrics.elidedText(link.text, Qt.TextElideMode.ElideRight, right - left)
                self._draw(painter, shown, plain, theme.soft, left)

    def _draw_ground(self, painter: QPainter, whole: QRectF) -> None:
        theme = self._look.theme
        inner = whole.adjusted(STEP, 1, -STEP, -1)
        painter.setPen(Qt.PenStyle.NoPen)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawRoundedRect(inner, 6, 6)
        elif self.underMouse() and self.isEnabled():
            painter.setPen(QPen(QColor(theme.line), 1))
            painter.drawRoundedRect(inner, 6, 6)

    def _draw_arrow(self, painter: QPainter, right: float) -> float:
        """Draw the arrow if there is anything to unfold; return the x where room ends."""
        theme = self._look.theme
        half = _ARROW_PX * theme.zoom
        middle = QPointF(right - half, self.height() / 2)
        if self.isEnabled():
            up = -1 if self.isChecked() else 1
            painter.setPen(QPen(QColor(theme.soft), 1.5 * theme.zoom))
            points = [(-half, -up * half / 2), (0.0, up * half / 2), (half, -up * half / 2)]
            painter.drawPolyline([middle + QPointF(x, y) for x, y in points])
        return right - 2 * half - 3 * STEP

    def _draw(self, painter: QPainter, text: str, font: QFont, colour: str, left: float) -> None:
        painter.setFont(font)
        painter.setPen(QColor(colour))
        where = QRectF(left, 0, self.width(), self.height())
        painter.drawText(where, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, text)
