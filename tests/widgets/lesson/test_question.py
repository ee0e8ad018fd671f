from __future__ import annotations

import pytest
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel

from experiments.core import words
from widgets.lesson.question import QuestionBlock
from widgets.style import theme as themes

ENGLISH = words.load("en")
CODE = """
def job():                      # pure Python
    for _ in range(n):
        total += "a<b"
"""


@pytest.fixture
def block(look, shown):
    made = QuestionBlock(ENGLISH, look)
    made.show_question("Four jobs.", CODE)
    return shown(made)


def code_of(block):
    document = QTextDocument()
    document.setHtml(block.code.findChild(QLabel).text())
    return document.toPlainText().replace("\N{NO-BREAK SPACE}", " ")


def fit(block, qtbot, width):
    block.resize(width, 600)
    qtbot.waitUntil(lambda: block.layout().geometry().width() == width)


def test_code_is_shown_as_it_is_where_there_is_room(block, qtbot):
    fit(block, qtbot, 600)

    assert code_of(block) == CODE.strip("\n")


def test_a_remark_moves_closer_and_then_long_lines_wrap_below_their_indent(block, qtbot):
    fit(block, qtbot, 300)
    assert code_of(block).splitlines()[0] == "def job():  # pure Python"

    fit(block, qtbot, 180)
    lines = code_of(block).splitlines()
    assert lines[0].split() != CODE.split("\n")[1].split()
    assert lines[1].startswith("    ")
    assert "".join("".join(lines).split()) == "".join(CODE.split())


def test_code_follows_the_theme(block, look):
    before = block.code.findChild(QLabel).text()
    look.wear(themes.load("light"))

    assert block.code.findChild(QLabel).text() != before


def test_without_code_there_is_only_the_text(block):
    block.show_question("Four jobs.")

    assert not block.code.isVisible()
