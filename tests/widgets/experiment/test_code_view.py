from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton

from experiments.core import words
from experiments.core.measured_loop import MeasuredLoop
from tests.cases import in_one
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


@in_one("text", ["", "def (", "'''never ends\n", "\tx\n  y\n", "a\0b"])
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
    found = [each for each in view.findChildren(QPushButton) if each.text() == text]
    return found[-1]  # those of files shown before are about to go


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


# --- the loop that is measured ------------------------------------------------------------------

FILES = [("one.py", "x = 1\n"), ("two.py", f"{'import x' + chr(10)}    def f():\n        pass\n")]
LOOP = MeasuredLoop("two.py", 2, "    def f():\n        pass")


def fold(view) -> QPushButton:
    texts = {
        ENGLISH.say("page.all_code", {"count": len(FILES)}),
        ENGLISH.say("page.fold_code"),
    }
    return next(each for each in view.findChildren(QPushButton) if each.text() in texts)


def marked(view) -> list[str]:
    return [each.cursor.block().text() for each in text_of(view).extraSelections()]


@pytest.fixture
def folded(qtbot, view):
    view.resize(700, 500)
    with qtbot.waitExposed(view):
        view.show()
    view.show_sources(FILES, LOOP)
    return view


def test_it_opens_at_the_loop_alone_marked_and_says_where_it_stands(folded):
    assert text_of(folded).toPlainText() == "def f():\n    pass"
    assert marked(folded) == ["def f():", "    pass"]
    assert not chip(folded, "one.py").isVisible()
    where = ENGLISH.say("page.loop_where", {"file": "two.py", "first": 2, "last": 3})
    assert where in [each.text() for each in folded.findChildren(QLabel)]


@pytest.mark.parametrize("key", [None, Qt.Key.Key_Return, Qt.Key.Key_Space])
def test_the_files_unfold_by_click_and_keys_at_the_loop_and_fold_again(qtbot, folded, key):
    def press() -> None:
        if key is None:
            qtbot.mouseClick(fold(folded), Qt.MouseButton.LeftButton)
        else:
            qtbot.keyClick(fold(folded), key)

    press()
    assert text_of(folded).toPlainText() == FILES[1][1]
    assert marked(folded) == LOOP.text.splitlines()
    assert text_of(folded).textCursor().blockNumber() == 1
    assert chip(folded, "two.py").isChecked()
    chip(folded, "one.py").click()
    assert text_of(folded).toPlainText() == FILES[0][1]
    assert marked(folded) == []

    press()
    assert text_of(folded).toPlainText() == "def f():\n    pass"


def test_what_ran_is_said_beside_a_loop_alone(folded):
    def said() -> list[str]:
        return [each.text() for each in folded.findChildren(QLabel) if each.isVisible()]

    folded.show_ran("It ran with 3 rounds.")
    assert "It ran with 3 rounds." in said()
    folded.show_sources(FILES)
    folded.show_ran("It ran with 3 rounds.")
    assert "It ran with 3 rounds." not in said()
    assert not any(each.text() == ENGLISH.say("page.fold_code") and each.isVisible()
                   for each in folded.findChildren(QPushButton))  # fmt: skip


@pytest.mark.parametrize("zoom", [0.8, 1.0, 1.6, 2.0])
def test_fifteen_lines_are_seen_whole(qtbot, look, zoom):
    look.wear(themes.load("light", zoom))
    view = CodeView(ENGLISH, look)
    qtbot.addWidget(view)
    lines = "\n".join(f"line {n} = {'x' * 200}" for n in range(15))
    view.show_sources([("one.py", lines)], MeasuredLoop("one.py", 1, lines))
    view.resize(1200, 900)
    with qtbot.waitExposed(view):
        view.show()

    text = text_of(view)
    last = text.document().lastBlock()
    bottom = text.blockBoundingGeometry(last).translated(text.contentOffset()).bottom()
    assert bottom <= text.viewport().height()
    assert not text.verticalScrollBar().isVisible()
