"""The question of a lesson: what is compared, and the code that runs."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from experiments.core.words import Words
from widgets.controls.basics import column
from widgets.lesson.code_block import CodeBlock
from widgets.lesson.paragraph import Paragraph
from widgets.style.look import Look
from widgets.style.theme import STEP

READABLE_PX = 680  # a line of text, at zoom 1


class QuestionBlock(QWidget):
    """Text, and code below it."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._context = Paragraph(look)
        self.code = CodeBlock(words.say("lesson.code"), look)
        self.setLayout(column(self._context, self.code, None, space=4 * STEP))
        self._look = look
        look.follow(self._fit)

    def show_question(self, context: str, code: str = "") -> None:
        """Show a question; the code may be missing."""
        self._context.tell(context)
        self._context.setVisible(bool(context))
        self.code.show_code(code)

    def _fit(self) -> None:
        self.setMaximumWidth(round(READABLE_PX * self._look.theme.zoom))
