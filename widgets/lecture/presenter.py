"""The presenter's window: what the class sees, what comes then, notes, time, items, machine."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QFrame, QPushButton, QWidget

from experiments.core.words import Words
from widgets.controls.basics import (
    Policy,
    announce,
    button,
    column,
    follow_width,
    holding,
    label,
    row,
    set_role,
    show_text,
)
from widgets.controls.layouts import FlowLayout, scrolling
from widgets.lecture.audience import LectureWindow, OnKey
from widgets.lecture.item_list import ItemList
from widgets.lecture.presenter_data import Act, PresenterData
from widgets.style.look import Look
from widgets.style.theme import STEP

SIDE_PX = 352  # of the items, at zoom 1
RATIO = 16 / 9

PRESSING = (
    Qt.Key.Key_Space,
    Qt.Key.Key_Return,
    Qt.Key.Key_Enter,
    Qt.Key.Key_Tab,
    Qt.Key.Key_Backtab,
)


class Presenter(LectureWindow):
    """Shows `PresenterData` and two pictures. `asked` carries the name of a button."""

    asked = Signal(str)
    chosen = Signal(int)  # an item of the list

    def __init__(self, words: Words, look: Look, on_key: OnKey) -> None:
        super().__init__(words.say("lecture.presenter"), look, on_key)
        self._look = look
        self.buttons: dict[str, QPushButton] = {}  # by the names of their acts
        self._problem_told = ""
        self.setAutoFillBackground(True)
        self._sees, self._then = Picture(), Picture()
        self.problem = label(role="attention", wrap=True)
        self._notes = label(role="notes", wrap=True)
        self._acts = FlowLayout(space=3 * STEP)
        self._machine, self._worker = label(role="soft"), label(role="soft")
        self._clock, self._plan = label(role="clock"), label(role="soft", wrap=True)
        self.items = ItemList(look, words.say("lecture.items"))
        self.items.chosen.connect(self.chosen)
        pictures = row(self._sees, self._then, space=5 * STEP)
        notes = scrolling(holding(column(self._notes, None)), words.say("lecture.notes"))
        notes.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        buttons = holding(self._acts)
        follow_width(buttons)
        head = label(words.say("lecture.notes"), "head")
        left = column(pictures, self.problem, head, notes, buttons, None, space=4 * STEP)
        self._side = holding(column(self._clock, self._plan, self.items, space=3 * STEP))
        body = row(left, self._side, space=7 * STEP, grows=0)
        foot = row(self._machine, None, self._worker)
        edges = (10 * STEP, 8 * STEP, 7 * STEP, 5 * STEP)
        self.setLayout(column(body, foot, space=4 * STEP, edges=edges, grows=0))
        look.follow(self._fit)

    def show_data(self, data: PresenterData) -> None:
        """Show all texts."""
        self._sees.name(data.sees)
        self._then.name(data.then)
        self._notes.setText(data.notes)
        self._clock.setText(data.clock)
        self._plan.setText(data.plan)
        set_role(self._plan, "doubt" if data.is_behind else "soft")
        show_text(self.problem, data.problem)
        if data.problem and data.problem != self._problem_told:
            announce(self, data.problem, at_once=True)
        self._problem_told = data.problem
        self._machine.setText(data.machine)
        self._worker.setText(data.worker)
        self.items.show_lines(data.items, data.place)
        for act in data.acts:
            self._show_act(act)

    def show_pictures(self, sees: QPixmap, then: QPixmap) -> None:
        """Show what the class sees, and what comes then."""
        self._sees.show_picture(sees)
        self._then.show_picture(then)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leave a focused button only the keys that press it."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return event.key() not in PRESSING and self._on_key(event)
        return super().eventFilter(watched, event)

    def _show_act(self, act: Act) -> None:
        known = self.buttons.get(act.name)
        if known is None:
            known = button("", clicked=lambda: self.asked.emit(act.name))
            known.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            known.installEventFilter(self)
            self.buttons[act.name] = known
            self._acts.addWidget(known)
        known.setText(f"{act.text}  {act.keys}")
        known.setAccessibleName(f"{act.text}, {act.keys}")
        known.setEnabled(act.is_allowed)
        set_role(known, "main" if act.is_main else "plain")

    def _fit(self) -> None:
        self._side.setFixedWidth(round(SIDE_PX * self._look.theme.zoom))


class Picture(QFrame):
    """A small picture of a slide, with its name above."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self._name, self._image = label(role="soft"), _Image()
        self.setLayout(column(self._name, self._image, edges=(3 * STEP,) * 4, grows=1))

    def name(self, text: str) -> None:
        """Say what is in the picture."""
        self._name.setText(text)
        self._image.setAccessibleName(text)

    def show_picture(self, picture: QPixmap) -> None:
        """Show a picture, as large as fits."""
        self._image.picture = picture
        self._image.update()


class _Image(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.picture = QPixmap()
        follow_width(self, across=Policy.Expanding)

    def sizeHint(self) -> QSize:
        return QSize(320, round(320 / RATIO))

    def heightForWidth(self, width: int) -> int:
        return round(width / RATIO)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the picture with its edge."""
        if self.picture.isNull():
            return
        size = self.picture.size().scaled(self.size(), Qt.AspectRatioMode.KeepAspectRatio)
        where = QRectF(0, 0, size.width(), size.height())
        where.moveCenter(QRectF(self.rect()).center())
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawPixmap(where, self.picture, QRectF(self.picture.rect()))
            painter.setPen(QColor(self.palette().midlight().color()))
            painter.drawRect(where.adjusted(0.5, 0.5, -0.5, -0.5))
