"""Head of an experiment's page: ways back, shelf, question, and chips."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import button, column, holding, label, row, tip
from widgets.controls.choices import joined
from widgets.controls.place_head import PlaceHead, chip_row
from widgets.experiment.action_button import ActionChip
from widgets.style.theme import STEP


class Header(QWidget):
    """Ways back, shelf, the question as title, and chips for `actions`; a group is one frame."""

    back = Signal()
    lesson_wanted = Signal()  # of which this is a follow-up

    def __init__(self, words: Words, actions: Sequence[QAction]) -> None:
        super().__init__()
        self._back = button(words.say("catalogue.title"), "crumb", clicked=self.back.emit)
        self._shelf = label("", "soft")
        self._title = label("", "title", wrap=True)
        self._chips = {action: ActionChip(action) for action in actions}
        grouped = [made for action, made in self._chips.items() if action.actionGroup() is not None]
        views = joined(*grouped)
        shown: list[QWidget] = [each for each in self._chips.values() if each not in grouped[1:]]
        shown = [views if each in grouped else each for each in shown]
        to_lesson = words.say("page.to_lesson")
        self._lesson = button("", "crumb", clicked=self.lesson_wanted.emit, tip=to_lesson)
        self._lesson.hide()
        way = holding(row(self._back, self._shelf, self._lesson, None, space=STEP))
        self.setLayout(column(PlaceHead(way, self._title, chip_row(*shown))))

    def show_experiment(
        self, question: str, shelf: str, method: str = "", lesson: str = ""
    ) -> None:
        """Show an experiment; the tip of the title is its method, `lesson` leads to its lesson."""
        self._title.setText(question)
        self._title.setToolTip(tip(method))
        self._shelf.setText(f"· {shelf}" if shelf else "")
        self._lesson.setText(f"· {lesson}")
        self._lesson.setVisible(bool(lesson))
        self.setAccessibleName(question)

    def below(self, action: QAction) -> QPoint:
        """Return the place on the screen below a chip, for its menu."""
        made = self._chips[action]
        return made.mapToGlobal(QPoint(0, made.height() + STEP))
