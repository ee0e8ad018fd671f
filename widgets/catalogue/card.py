"""Card of one experiment: its question, a small sketch of its plot, its result and state.

That of a follow-up is low, and has no sketch: it stands below the card of its lesson.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QPointF, QRectF, QSize, QSizeF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QDrag,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QWidget

from experiments.core.units import DURATION, show
from experiments.core.words import Words
from widgets.catalogue import sketch
from widgets.catalogue.card_data import WORDS, CardData, State
from widgets.controls.wrapped import draw_lines, line_px, wrapped
from widgets.style.icons import pixmap
from widgets.style.ink import CENTRE, RIGHT, draw_box, draw_words, painting
from widgets.style.look import Look
from widgets.style.theme import STEP, Theme

EXPERIMENT_MIME = "application/x-coreopsis-experiment"
PADDING, LOW_PADDING, CORNER = 4 * STEP, 2 * STEP, 12
TITLE_LINES, NOTE_LINES = 2, 2
MOST_TITLE_LINES = 3  # the last one takes its room from the sketch
SKETCH_WIDTH, SKETCH_HEIGHT = 118, 54  # pixels at zoom 1
WALKS = {
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Home,
    Qt.Key.Key_End,
}  # fmt: skip


class Card(QAbstractButton):
    """A button that shows one experiment; `clicked` opens it, `walked` carries an arrow key.

    It can be dragged, with the id of its experiment.
    """

    walked = Signal(int)
    reached = Signal()  # it got the focus

    def __init__(self, data: CardData, words: Words, look: Look) -> None:
        super().__init__()
        self._words, self._look = words, look
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        look.changed.connect(self.update)
        self.data = data
        self._pressed = QPointF()
        self.show_data(data)

    def show_data(self, data: CardData) -> None:
        """Show this data."""
        self.data = data
        self.setText(data.question)
        self.setAccessibleName(data.question)
        values = {"state": self._state_word(), "time": self._time(), "note": data.note}
        is_known = data.state is not State.UNKNOWN
        described = self._words.say("catalogue.described", values) if is_known else data.note
        for key, applies in (
            ("catalogue.described_lesson", data.is_lesson),
            ("catalogue.described_tool", data.is_tool),
            ("catalogue.described_follows", data.follows),
        ):
            if applies:
                values = {"described": described, "lesson": data.lesson}
                described = self._words.say(key, values)
        sketched = "" if data.sketch.is_measured else self._words.say("catalogue.sketched")
        self.setAccessibleDescription(f"{described} {sketched}".strip())
        self.setToolTip(sketched if data.runs_here else data.note)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the least size; the grid widens it to its column."""
        theme = self._look.theme
        if self.data.follows:
            lines = TITLE_LINES * line_px(theme.bold()) + line_px(theme.font("note"))
            return QSize(round(2 * SKETCH_WIDTH * theme.zoom), round(2 * LOW_PADDING + lines))
        height = (
            2 * PADDING
            + TITLE_LINES * line_px(_title(theme))
            + 3 * STEP
            + round(SKETCH_HEIGHT * theme.zoom)
            + 3 * STEP
            + NOTE_LINES * line_px(theme.font("note"))
        )
        return QSize(round(2 * SKETCH_WIDTH * theme.zoom), round(height))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Enter too, and emit arrow keys."""
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            event.ignore()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif event.key() in WALKS:
            self.walked.emit(event.key())
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a click, or a drag."""
        super().mousePressEvent(event)
        self._pressed = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the experiment once the mouse has moved with its button down."""
        super().mouseMoveEvent(event)
        is_held = bool(event.buttons() & Qt.MouseButton.LeftButton)
        far = QApplication.startDragDistance()
        if is_held and (event.position() - self._pressed).manhattanLength() >= far:
            self.setDown(False)
            drag(self, EXPERIMENT_MIME, self.data.id, Qt.DropAction.CopyAction)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Emit `reached`, but not below the mouse: the card would move away under the click."""
        super().focusInEvent(event)
        if event.reason() != Qt.FocusReason.MouseFocusReason:
            self.reached.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the whole card."""
        theme = self._look.theme
        with painting(self) as painter:
            self._paint_frame(painter, theme)
            high = LOW_PADDING if self.data.follows else PADDING
            inner = QRectF(self.rect()).adjusted(PADDING, high, -PADDING, -high)
            self._paint_head(painter, inner, theme)
            if not self.data.follows:
                self._paint_sketch(painter, inner, theme)
            if self.data.is_lesson or self.data.is_tool:
                self._paint_mark(painter, inner, theme)
            self._paint_foot(painter, inner, theme)

    def _paint_frame(self, painter: QPainter, theme: Theme) -> None:
        edge, width = theme.line, 1.0
        if self.hasFocus():
            edge, width = theme.accent, 2.0
        elif self.underMouse():
            edge = theme.accent
        inset = width / 2
        frame = QRectF(self.rect()).adjusted(inset, inset, -inset, -inset)
        fill = theme.accent_wash if self.isDown() else theme.panel
        draw_box(painter, frame, CORNER, edge, fill, width)

    def _paint_head(self, painter: QPainter, inner: QRectF, theme: Theme) -> None:
        font, most = _title(theme), MOST_TITLE_LINES
        if self.data.follows:
            font, most = theme.bold(), TITLE_LINES
        line = QRectF(inner.left(), inner.top(), inner.width(), line_px(font))
        draw_words(painter, line, self._time(), theme.font("note"), theme.soft, RIGHT)
        painter.setPen(QColor(theme.ink))
        room = inner.adjusted(0, 0, -self._beside_title_px(theme), 0)
        draw_lines(painter, room, self.data.question, font, most)

    def _paint_sketch(self, painter: QPainter, inner: QRectF, theme: Theme) -> None:
        width = inner.width() - self._beside_title_px(theme)
        title = wrapped(self.data.question, _title(theme), width, MOST_TITLE_LINES)
        line = line_px(_title(theme))
        down = max(len(title) - TITLE_LINES, 0) * line
        top = inner.top() + TITLE_LINES * line + 3 * STEP + down
        size = QSizeF(SKETCH_WIDTH * theme.zoom, SKETCH_HEIGHT * theme.zoom - down)
        sketch.paint(painter, QRectF(QPointF(inner.left(), top), size), self.data.sketch, theme)

    def _paint_mark(self, painter: QPainter, inner: QRectF, theme: Theme) -> None:
        """Draw the word that marks a lesson or a tool, below the time."""
        word = self._words.say("catalogue.lesson" if self.data.is_lesson else "catalogue.tool")
        font = theme.font("small")
        width, height = QFontMetricsF(font).horizontalAdvance(word) + 4 * STEP, line_px(font) + STEP
        top = inner.top() + TITLE_LINES * line_px(_title(theme)) + 3 * STEP
        box = QRectF(inner.right() - width, top, width, height)
        inside = box.adjusted(0.5, 0.5, -0.5, -0.5)
        draw_box(painter, inside, height / 2, theme.accent, theme.accent_wash)
        draw_words(painter, box, word, font, theme.accent_word, CENTRE)

    def _beside_title_px(self, theme: Theme) -> float:
        """Return the width taken by the time."""
        time = self._time()
        width = QFontMetricsF(theme.font("note")).horizontalAdvance(time)
        return width + 3 * STEP if time else 0.0

    def _paint_foot(self, painter: QPainter, inner: QRectF, theme: Theme) -> None:
        word = self._state_word()
        bold, plain = theme.bold(), theme.font("note")
        line = line_px(plain)
        foot = QRectF(inner.left(), inner.bottom() - line, inner.width(), line)
        draw_words(painter, foot, word, bold, _colour(self.data.state, theme), RIGHT)
        taken: float = painter.fontMetrics().horizontalAdvance(word)
        if self.data.state in (State.PARTIAL, State.FAILED, State.REFUSED):
            side = round(line)
            taken += side + STEP
            sign = pixmap("attention", theme.attention, side)
            painter.drawPixmap(round(inner.right() - taken), round(foot.top()), sign)
        room = inner.adjusted(0, 0, -(taken + 3 * STEP if word else 0), 0)
        painter.setPen(QColor(theme.soft))
        most = 1 if self.data.follows else NOTE_LINES
        room.setTop(inner.bottom() - most * line)
        draw_lines(painter, room, self.data.note, plain, most, at_bottom=True)

    def _time(self) -> str:
        seconds = self.data.seconds
        return "" if seconds is None else show(seconds, DURATION)

    def _state_word(self) -> str:
        key = WORDS.get(self.data.state)
        percent = round(100 * self.data.fraction)
        return "" if key is None else self._words.say(key, {"percent": percent})


def drag(widget: QWidget, mime: str, text: str, action: Qt.DropAction) -> None:
    """Drag a text of a kind from a widget, until it is dropped."""
    data, dragged = QMimeData(), QDrag(widget)
    data.setData(mime, text.encode())
    dragged.setMimeData(data)
    dragged.exec(action)


def dropped(data: QMimeData, mime: str) -> str:
    """Return the text of a kind that was dropped."""
    return bytes(data.data(mime).data()).decode()


def _title(theme: Theme) -> QFont:
    return theme.bold("head")


def _colour(state: State, theme: Theme) -> str:
    match state:
        case State.MEASURED:
            return theme.good
        case State.RUNNING:
            return theme.accent_word
        case State.PARTIAL | State.FAILED | State.REFUSED:
            return theme.attention
        case _:
            return theme.soft
