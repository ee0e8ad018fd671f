"""The question of a lesson: what is compared, the code that runs, and a drawing."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QBoxLayout

from experiments.core.teaching.diagram import Diagram
from experiments.core.words import Words
from widgets.controls.basics import column
from widgets.controls.layouts import Fitting
from widgets.lesson.code_block import CodeBlock
from widgets.lesson.diagram import DiagramView
from widgets.lesson.paragraph import Paragraph
from widgets.style.look import Look
from widgets.style.theme import STEP

BESIDE_PX = 680  # at zoom 1: from here on the drawing stands beside text and code


class QuestionBlock(Fitting):
    """Text and code, with the drawing below them or, where it is wide, beside."""

    def __init__(self, words: Words, look: Look) -> None:
        super().__init__()
        self._look = look
        self._context = Paragraph(look)
        self.code = CodeBlock(words.say("lesson.code"), look)
        self.drawing = DiagramView(words, look)
        told = column(self._context, self.code, None, space=4 * STEP)
        self._inside = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._inside.setContentsMargins(0, 0, 0, 0)
        self._inside.setSpacing(6 * STEP)
        self._inside.addLayout(told, 1)
        self._inside.addWidget(self.drawing, 1)
        look.changed.connect(self._fit)

    def show_question(
        self,
        context: str,
        code: str = "",
        diagram: Diagram | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Show a question; code and drawing may be missing."""
        self._context.tell(context)
        self._context.setVisible(bool(context))
        self.code.show_code(code)
        self.drawing.show_diagram(diagram, labels or {})

    def _fit(self) -> None:
        """Put the drawing below or beside."""
        direction = QBoxLayout.Direction
        is_wide = self.width() >= BESIDE_PX * self._look.theme.zoom
        self._inside.setDirection(direction.LeftToRight if is_wide else direction.TopToBottom)
