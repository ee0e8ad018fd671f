"""A prediction of an order: rows that are dragged, or moved by keys, into it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QFrame, QPushButton

from experiments.core.teaching.lessons import Rank
from experiments.core.units import unbroken
from experiments.core.words import Words
from widgets.controls.basics import announce, button, column, label, restyle, row, takes_escape
from widgets.lesson.arrow_focus import rove, step_to
from widgets.lesson.prediction_input import At, PredictionInput
from widgets.style.look import Look
from widgets.style.theme import STEP

_TAKING = (Qt.Key.Key_Space, Qt.Key.Key_Return, Qt.Key.Key_Enter)
_VERTICAL = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}


class RankInput(PredictionInput):
    """Up and Down choose a row; Alt with them moves it. Space takes it along, and lets it go.

    It starts in the `order` of items that it is given. A button keeps that order as the answer.
    """

    def __init__(self, predict: Rank, words: Words, look: Look, order: Sequence[int] = ()) -> None:
        super().__init__(predict.ask)
        self._words = words
        self._start = tuple(order) or tuple(range(len(predict.items)))
        self._order = list(self._start)
        self.rows = [_Row(item, words) for item in predict.items]
        self._taken: _Row | None = None
        self._inside = column(space=STEP + 2)
        for made in self.rows:
            made.moved.connect(self._move)
            made.dragged.connect(self._drag)
            made.taken.connect(self._take)
        self.keep = button(words.say("lesson.keep_order"), "flush-link", clicked=self._keep)
        policy = self.keep.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.keep.setSizePolicy(policy)
        self._hint = label(words.say("lesson.rank_keys"), "soft", wrap=True)
        self.setLayout(column(self._inside, self._hint, self.keep))
        self._show()

    def focus_first(self) -> None:
        """Give the focus to the first row."""
        self.rows[self._order[0]].setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose another row, or move this one."""
        focused = next((each for each in self.rows if each.hasFocus()), None)
        if focused is not None and event.key() in _TAKING:
            self._take(None if focused is self._taken else focused)
        elif focused is not None and event.key() == Qt.Key.Key_Escape and self._taken:
            self._take(None)
        elif focused is not None and event.key() in _VERTICAL and self._moves(event):
            self._move(focused, _VERTICAL[Qt.Key(event.key())])
        elif step_to(self._shown(), event.key()) is None:
            super().keyPressEvent(event)
        else:
            self._take(None)

    def event(self, event: QEvent) -> bool:
        """Take Esc while a row is taken along."""
        return takes_escape(event, wanted=self._taken is not None) or super().event(event)

    def set_at(self, at: At | None) -> None:
        """Show an order, or the order that it started in."""
        self._order = [int(each) for each in at] if at is not None else list(self._start)
        super().set_at(at)

    def _moves(self, event: QKeyEvent) -> bool:
        return self._taken is not None or bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)

    def _shown(self) -> list[_Row]:
        return [self.rows[item] for item in self._order]

    def _take(self, taken: _Row | None) -> None:
        """Let arrow keys move this row, or none."""
        was, self._taken = self._taken, taken
        for each in self.rows:
            restyle(each, "taken", each is taken)
        if taken is not None and was is None:
            announce(self, self._words.say("lesson.rank_taken", {"item": taken.item}))

    def _keep(self) -> None:
        self.focus_first()  # the button is about to hide
        self._answer(tuple(map(float, self._order)))

    def _move(self, moved: _Row, by: int) -> None:
        self._put(moved, self._order.index(self.rows.index(moved)) + by)

    def _drag(self, dragged: _Row, y: int) -> None:
        """Put a row where the mouse is, in pixels of the row's own."""
        middle = dragged.y() + y
        others = [each for each in self._shown() if each is not dragged]
        self._put(dragged, sum(each.geometry().center().y() < middle for each in others))

    def _put(self, moved: _Row, place: int) -> None:
        item = self.rows.index(moved)
        place = min(max(0, place), len(self._order) - 1)
        if self._order.index(item) == place:
            return
        self._order.remove(item)
        self._order.insert(place, item)
        self._answer(tuple(map(float, self._order)))
        told = {"item": moved.item, "place": place + 1, "count": len(self._order)}
        announce(self, self._words.say("lesson.rank_place", told))

    def _show(self) -> None:
        for place, each in enumerate(self._shown()):
            if self._inside.indexOf(each) != place:
                self._inside.removeWidget(each)
                self._inside.insertWidget(place, each)
            each.show_place(place + 1, len(self._order))
        self._inside.activate()  # a drag goes on by where the rows are now
        if not any(each.hasFocus() for each in self.rows):
            rove(self.rows, self._shown()[0])
        self._hint.setVisible(self.isEnabled())
        self.keep.setVisible(self._at is None and self.isEnabled())


class _Row(QFrame):
    """An item with its place; emits how it is to be moved."""

    moved = Signal(object, int)  # itself, by so many places
    dragged = Signal(object, int)  # itself, to this y in its own pixels
    taken = Signal(object)  # itself, or None

    def __init__(self, item: str, words: Words) -> None:
        super().__init__()
        self.item = item
        self._words = words
        self._place = label(role="place")
        self._up = self._mover("↑", "lesson.rank_up", -1)
        self._down = self._mover("↓", "lesson.rank_down", 1)
        parts = self._place, label(unbroken(item), wrap=True), self._up, self._down
        self.setLayout(row(*parts, edges=(3 * STEP, STEP, STEP, STEP), grows=1))
        self.setCursor(Qt.CursorShape.OpenHandCursor)
        self.setProperty("role", "rank")
        self.setAccessibleDescription(words.say("lesson.rank_keys"))

    def show_place(self, place: int, count: int) -> None:
        """Show at which place it is."""
        self._place.setText(str(place))
        self._up.setEnabled(place > 1)
        self._down.setEnabled(place < count)
        told = {"item": self.item, "place": place, "count": count}
        self.setAccessibleName(self._words.say("lesson.rank_place", told))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take it along."""
        if event.button() is Qt.MouseButton.LeftButton:
            self.taken.emit(self)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go where the mouse goes."""
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.dragged.emit(self, round(event.position().y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let it go."""
        self.taken.emit(None)

    def _mover(self, sign: str, key: str, by: int) -> QPushButton:
        name = self._words.say(key, {"item": self.item})
        made = button(sign, "icon", clicked=lambda: self.moved.emit(self, by), tip=name)
        made.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # keys move the row itself
        made.setAccessibleName(name)
        return made
