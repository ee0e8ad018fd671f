"""Code as one reads it beside a question, and on the slide of a lecture."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QRectF

from experiments.core import words
from widgets.lecture.slide_code import SlideCode
from widgets.lesson.code_block import CodeBlock


def block(look, code):
    made = CodeBlock("Code", look)
    made.resize(400, 80)
    made.show_code(code)
    return made


def slide(look, code):
    made = SlideCode(words.load(), look)
    made.show_code(code)
    made.fit(QRectF(0, 0, 400, 80), 1.0)
    return made


@pytest.mark.parametrize(("shown", "first_px"), [(block, 22), (slide, 27)])
def test_each_sign_is_drawn_by_itself(look, qtbot, shown, first_px):
    for signs in ("^=", "!=", "->", ">="):
        first = []
        for code in (signs, f"{signs[0]} {signs[1]}"):
            made = shown(look, code)
            qtbot.addWidget(made)
            first.append(made.grab(QRect(0, 0, first_px, made.height())).toImage())
        assert first[0] == first[1], signs
