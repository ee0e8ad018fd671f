"""A tile of one resource: its name, errors, one large number, and its last minute.

It paints itself, and only what has changed: there are many tiles, and samples come often.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from experiments.presentation.load.face import Face
from experiments.presentation.load.history import SPAN_S
from widgets.controls.basics import tip
from widgets.live.cores import CoresBody
from widgets.live.minute import move
from widgets.live.sparkline import Sparkline
from widgets.style.look import Look
from widgets.style.theme import STEP

Body = Sparkline | CoresBody

PAD = 4 * STEP
CORNER = 12
BODY_HEIGHT = 16 * STEP  # at least, at zoom 1
STRIDE_S, LONG_STRIDE_S = 1.0, 5.0
ATTENTION = "▲ "
DIGITS = re.compile(r"\d")
WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap


class Tile(QWidget):
    """Holds `body`, a picture of the last minute. Arrow keys move the reading cursor.

    `about` are paragraphs of the tip, below the text about the parts. `about_words` replaces them
    at a "detail" and at unknown "errors".
    """

    stepped = Signal(float, int)  # seconds further back, rows further down
    grown = Signal()  # its least height may have changed
    released = Signal()  # remove the reading cursor

    def __init__(
        self,
        title: str,
        body: Body,
        look: Look,
        about: Sequence[str] = (),
        about_words: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(title)
        self.title, self.body, self._look = title, body, look
        self._about, self._about_words = about, about_words
        self.face = Face(number="")
        self._foot, self._indent = ("", "", ""), 0
        self._rects: dict[str, QRect] = {}
        self._heights: dict[tuple[int, str], int] = {}
        self._detail_height = 0  # only grows, so that nothing jumps back and forth
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # corners and all: what lies
        body.setParent(self)  # behind need not be painted for every new number
        look.changed.connect(self._start_anew)
        self._start_anew()

    def show_face(self, face: Face) -> None:
        """Show these words."""
        before, self.face = self.face, face
        if face == before:
            return
        height = self._height_of(self._detail)
        same_shape = face.known == before.known and face.errors == before.errors
        if not same_shape or height > self._detail_height:
            self._detail_height = max(height, self._detail_height) if same_shape else height
            self._arrange()
            self.update()
            self.grown.emit()
        for name in ("number", "detail"):
            if getattr(face, name) != getattr(before, name):
                self.update(self._rects[name])
        spoken = (f"{face.number}.", face.detail, face.errors)
        self.setAccessibleDescription(" ".join(part for part in spoken if part))
        if face.tip != before.tip or not self.toolTip():
            self.setToolTip(tip(face.tip, *self._about))

    def show_foot(self, left: str, middle: str, right: str, *, indent: int = 0) -> None:
        """Write texts below the body: left (after `indent`), centred and right."""
        if (left, middle, right, indent) == (*self._foot, self._indent):
            return
        same_shape = any(self._foot) and indent == self._indent
        self._foot, self._indent = (left, middle, right), indent
        if same_shape:
            self.update(self._rects["left"])
        else:
            self._arrange()
            self.update()
            self.grown.emit()

    def least_height(self) -> int:
        """Return the height at which nothing is cut off."""
        least = max(
            round(BODY_HEIGHT * self._look.theme.zoom), self.body.minimumSizeHint().height()
        )
        return self._body_top() + least + self._foot_height() + PAD

    def minimumSizeHint(self) -> QSize:
        """Return the size at which nothing is cut off."""
        return QSize(self.minimumWidth(), self.least_height())

    def texts(self) -> dict[str, tuple[str, QFont, QRect]]:
        """Return the texts with their places and fonts."""
        left, middle, right = self._foot if self.face.known else ("", "", "")
        written = {
            "title": self.title,
            "errors": self._errors,
            "number": self.face.number,
            "detail": self._detail,
            "left": left,
            "middle": middle,
            "right": right,
        }
        return {
            name: (text, self._fonts[name], self._rects[name])
            for name, text in written.items()
            if text
        }

    def tip_at(self, place: QPoint) -> str:
        """Return the tip at a place."""
        for name, about in self._about_words.items():
            is_known = name == "errors" and self.face.error_state != "unknown"
            if self._rects[name].contains(place) and not is_known:
                return tip(*about)
        return self.toolTip()

    def event(self, event: QEvent) -> bool:
        """Show the tip under the mouse."""
        if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip:
            return super().event(event)
        QToolTip.showText(event.globalPos(), self.tip_at(event.pos()), self)
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame and the words in the event's region."""
        theme = self._look.theme
        colours = {
            "title": theme.ink,
            "number": theme.ink if self.face.known else theme.soft,
            "detail": theme.attention if self.face.attention else theme.soft,
            "errors": {"none": theme.good, "some": theme.attention, "fault": theme.fault}.get(
                self.face.error_state, theme.soft
            ),
        }
        flags = {
            "detail": WRAPPED,
            "errors": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            "right": Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            "middle": Qt.AlignmentFlag.AlignCenter,
        }
        with QPainter(self) as painter:
            self._paint_behind(painter, event)
            asked = event.region()
            for name, (text, font, rect) in self.texts().items():
                if asked.intersects(rect):
                    painter.setFont(font)
                    painter.setPen(QColor(colours.get(name, theme.soft)))
                    painter.drawText(rect, flags.get(name, Qt.AlignmentFlag.AlignVCenter), text)
            if self.hasFocus():
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(QColor(theme.accent), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 11, 11)

    def _paint_behind(self, painter: QPainter, event: QPaintEvent) -> None:
        """Paint the panel as the style sheet does, but faster."""
        theme = self._look.theme
        if self.rect().adjusted(PAD, PAD, -PAD, -PAD).contains(event.rect()):
            painter.fillRect(event.rect(), QColor(theme.panel))
            return
        painter.fillRect(event.rect(), QColor(theme.ground))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(theme.line))
        painter.setBrush(QColor(theme.panel))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), CORNER, CORNER)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Place words and body."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._detail_height = self._height_of(self._detail)
        self._arrange()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move the reading cursor."""
        far = event.modifiers() & Qt.KeyboardModifier.ShiftModifier
        stride_s = LONG_STRIDE_S if far else STRIDE_S
        steps = {
            Qt.Key.Key_Left: (stride_s, 0),
            Qt.Key.Key_Right: (-stride_s, 0),
            Qt.Key.Key_Home: (SPAN_S, 0),
            Qt.Key.Key_End: (-SPAN_S, 0),
            Qt.Key.Key_Up: (0.0, -1),
            Qt.Key.Key_Down: (0.0, 1),
        }
        if event.key() in steps:
            self.stepped.emit(*steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Remove focus ring and cursor."""
        super().focusOutEvent(event)
        self.released.emit()
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        """Measure again after a change of fonts."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self._arrange()

    @property
    def _errors(self) -> str:
        is_there = self.face.error_state in ("some", "fault")
        return (ATTENTION if is_there else "") + self.face.errors

    @property
    def _detail(self) -> str:
        return (ATTENTION if self.face.attention else "") + self.face.detail

    def _start_anew(self) -> None:
        self._take_fonts()
        self._detail_height = self._height_of(self._detail)
        self._arrange()
        self.updateGeometry()
        self.update()

    def _arrange(self) -> None:
        width, title = self.width() - 2 * PAD, self._line_height("title")
        errors = self._metrics["errors"].horizontalAdvance(self._errors)
        number = self._line_height("number")
        top, foot = self._body_top(), self._foot_height()
        below = self.height() - PAD - foot + STEP
        self._rects = {
            "title": QRect(PAD, PAD, width - errors - 2 * STEP, title),
            "errors": QRect(PAD + width - errors - 1, PAD, errors + 1, title),
            "number": QRect(PAD, PAD + title + STEP, width, number),
            "detail": QRect(PAD, PAD + title + number + 2 * STEP, width, self._detail_height),
            **{
                name: QRect(PAD + self._indent, below, width - self._indent, foot - STEP)
                for name in ("left", "middle", "right")
            },
        }
        self.body.setVisible(self.face.known)
        body = QRect(PAD, top, width, max(0, self.height() - PAD - foot - top))
        if isinstance(self.body, CoresBody):
            self.body.setGeometry(body)
        else:
            move(self.body, body)

    def _body_top(self) -> int:
        heights = self._line_height("title") + self._line_height("number")
        return PAD + heights + self._detail_height + 5 * STEP

    def _foot_height(self) -> int:
        return self._line_height("left") + STEP if any(self._foot) else 0

    def _line_height(self, name: str) -> int:
        return self._metrics[name].height() + 1  # since height() is rounded down

    def _height_of(self, text: str) -> int:
        """Return the height of the detail, wrapped."""
        metrics, width = self._metrics["detail"], max(self.width() - 2 * PAD, 1)
        # Digits are equally wide, so numbers of the same length share a measure.
        shape = DIGITS.sub("0", text)
        if (width, shape) not in self._heights:
            room = QRect(0, 0, width, 1 << 14)
            height = metrics.boundingRect(room, WRAPPED, shape).height()
            self._heights[width, shape] = max(height, self._line_height("detail"))
        return self._heights[width, shape]

    def _take_fonts(self) -> None:
        theme = self._look.theme
        small, note = theme.font("small"), theme.font("note")
        self._fonts = {
            "title": theme.font("head", weight=QFont.Weight.DemiBold),
            "number": theme.font("title", weight=QFont.Weight.Bold),
            "detail": note,
            "errors": note,
            "left": small,
            "middle": small,
            "right": small,
        }
        self._metrics = {name: QFontMetrics(font) for name, font in self._fonts.items()}
        self._heights.clear()
