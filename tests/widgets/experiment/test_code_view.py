from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPlainTextEdit, QPushButton

from experiments.core import words
from widgets.experiment.code_view import CodeView
from widgets.experiment.highlighting import spans
from widgets.style import theme as themes
from widgets.style.look import Look

ENGLISH = words.load("en")
TEXT = '''"""Two
lines."""
def f(x):  # a comment
    return "s" if x else 12
'''


def test_every_kind_of_word_is_found_where_it_stands():
    lines = spans(TEXT)

    assert [kind for _, _, kind in lines[0]] == ["string"]
    assert lines[1][0][0] == 0
    assert [(TEXT.splitlines()[2][a:b], kind) for a, b, kind in lines[2]] == [
        ("def", "keyword"),
        ("# a comment", "comment"),
    ]
    assert [kind for _, _, kind in lines[3]] == [
        "keyword", "string", "keyword", "keyword", "number",
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "def (", "'''never ends\n", "\tx\n  y\n", "a\0b"])
def test_what_is_no_python_is_shown_all_the_same(text):
    assert len(spans(text)) == text.count("\n") + 1


@pytest.fixture
def look(qapp) -> Look:
    return Look(themes.load("dark"))


@pytest.fixture
def view(qtbot, look):
    view = CodeView(ENGLISH, look)
    qtbot.addWidget(view)
    view.show_sources([("one.py", TEXT), ("two.py", "x = 1\n")])
    return view


def text_of(view) -> QPlainTextEdit:
    return view.findChild(QPlainTextEdit)


def chip(view, text) -> QPushButton:
    return next(each for each in view.findChildren(QPushButton) if each.text() == text)


def test_the_first_file_is_shown_and_the_others_are_offered(view):
    assert text_of(view).toPlainText() == TEXT
    assert [chip(view, name).toolTip() for name in ("one.py", "two.py")] == ["", ""]
    chip(view, "two.py").click()
    assert text_of(view).toPlainText() == "x = 1\n"


def test_it_can_only_be_read(view):
    assert text_of(view).isReadOnly()


@pytest.mark.parametrize("use", ["copy", "save"])
def test_all_of_it_is_asked_for_as_one_script(qtbot, view, use):
    with qtbot.waitSignal(getattr(view, f"{use}_wanted")):
        chip(view, ENGLISH.say(f"page.{use}_script")).click()


def test_keywords_have_the_colour_of_the_theme(view, look):
    block = text_of(view).document().findBlockByNumber(2)
    (first, *_) = block.layout().formats()

    assert first.format.foreground().color().name().upper() == look.theme.accent_word.upper()


def test_it_opens_at_what_measures_and_a_helper_behind_its_imports(qtbot, view):
    def top():
        text = text_of(view)
        return text.cursorForPosition(text.viewport().rect().topLeft()).block().text()

    imports, rest = "import x\n" * 60, "    pass\n" * 200
    main = f"{imports}def first():\n    pass\n\n\ndef measure(params):\n{rest}"
    view.resize(600, 400)
    with qtbot.waitExposed(view):
        view.show()
    view.show_sources([("main.py", main), ("helper.py", f"{imports}@njit\ndef chase():\n{rest}")])
    assert top() == "def measure(params):"
    assert chip(view, "main.py").toolTip() == ENGLISH.say("page.code_help")
    chip(view, "helper.py").click()
    assert top() == "@njit"
    chip(view, "main.py").click()
    assert top() == "def measure(params):"
