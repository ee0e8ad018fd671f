"""Main panel of an experiment: its plots, code or data, or an explanation before a run."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QStackedWidget, QWidget

from experiments.core.words import Words
from widgets.controls.basics import column, holding, label, row, show_text
from widgets.controls.layouts import scrolling
from widgets.experiment.code_view import CodeView
from widgets.experiment.views_panel import ViewsPanel
from widgets.style.look import Look
from widgets.style.theme import STEP

READABLE_PX = 560  # a line of text, at zoom 1
WHOLE = 100  # stretch: takes all the room up to READABLE_PX


class MainPanel(QFrame):
    """Shows one side; the data is added when it is first shown."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self.setProperty("role", "panel")
        self.views = ViewsPanel(words, look)
        self.code = CodeView(words, look)
        self._topic, self._method = label("", "head", wrap=True), label(wrap=True)
        self._hint = label("", "soft", wrap=True)
        about = (self._topic, self._method, self._hint)
        for each in about:
            each.setAlignment(Qt.AlignmentFlag.AlignCenter)
            each.setMaximumWidth(round(READABLE_PX * look.theme.zoom))
        inside = column(None, *about, None, space=3 * STEP, edges=(6 * STEP, 0, 6 * STEP, 0))
        middle = row(None, inside, None)
        middle.setStretch(1, WHOLE)
        self._empty = holding(middle)
        self._code_side = _with_margin(self.code)
        self._question_name = words.say("lesson.step_question")
        self._data: QWidget | None = None
        self._added: dict[str, tuple[QWidget, QWidget]] = {}  # a content, and the side it is on
        self._stack = QStackedWidget()
        for side in (self._empty, self.views, self._code_side):
            self._stack.addWidget(side)
        self.setLayout(column(self._stack))

    def show_empty(self, topic: str, method: str = "", hint: str = "") -> None:
        """Show topic, method, and why there is no run."""
        for each, text in ((self._topic, topic), (self._method, method), (self._hint, hint)):
            show_text(each, text)
        self._stack.setCurrentWidget(self._empty)

    def show_question(self, question: QWidget) -> None:
        """Show this widget, which asks the question of a lesson; it scrolls where it is long."""
        self._show_added("question", question, lambda: scrolling(question, self._question_name))

    def show_views(self) -> None:
        """Show the plots."""
        self._stack.setCurrentWidget(self.views)

    def show_code(self) -> None:
        """Show the code."""
        self._stack.setCurrentWidget(self._code_side)

    def show_data(self, data: QWidget) -> None:
        """Show this widget as the data."""
        self._data = data
        self._show_added("data", data, lambda: data)

    def take_keyboard(self) -> None:
        """Focus the rows, or the headline plot."""
        if self._stack.currentWidget() is self.views:
            plot = self.views.plot_in_focus()
            if plot is not None:
                plot.setFocus(Qt.FocusReason.ShortcutFocusReason)
        elif self._data is not None:
            self._data.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _show_added(self, name: str, content: QWidget, framed: Callable[[], QWidget]) -> None:
        """Show a side with this content, which is made when the content is another one."""
        before, side = self._added.get(name, (None, None))
        if side is None or before is not content:
            if side is not None:
                self._stack.removeWidget(side)
                side.deleteLater()
            side = _with_margin(framed())
            self._stack.addWidget(side)
            self._added[name] = content, side
        self._stack.setCurrentWidget(side)


def _with_margin(content: QWidget) -> QWidget:
    return holding(column(content, edges=(4 * STEP,) * 4))
