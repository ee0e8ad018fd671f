from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from tests.widgets.runs.samples import WORDS, worn
from widgets.runs.import_look import ImportLook, Inside

GOOD = Inside(
    key="/a", file="a.jsonl", question="Does it matter?", facts=(("Rows", "126"),), brief="126 rows"
)
HERE = Inside(
    key="/b", file="b.jsonl", question="Again?", remark="It is here already.", is_here=True
)
BAD = Inside(key="/c", file="c.jsonl", problem="c.jsonl is damaged.")
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def brought(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    look = worn()
    window.resize(1200, 670)
    with qtbot.waitExposed(window):
        window.show()
    window.activateWindow()

    def show(*files):
        sheet = ImportLook(window, files, look, WORDS)
        sheet.kept, sheet.looked, sheet.left, sheet.shown = [], [], [], []
        sheet.keep_asked.connect(sheet.kept.append)
        sheet.look_asked.connect(sheet.looked.append)
        sheet.show_asked.connect(sheet.shown.append)
        sheet.closed.connect(lambda: sheet.left.append(True))
        sheet.open()
        return sheet

    return show


def texts(sheet):
    return [each.text() for each in sheet.findChildren(QLabel) if each.isVisible()]


def press(qtbot, sheet, key):
    (found,) = [
        each
        for each in sheet.findChildren(QPushButton)
        if each.text() == WORDS.say(key) and each.isVisible()
    ]
    qtbot.mouseClick(found, LEFT)


def test_it_shows_what_is_inside_one_file(brought):
    told = texts(brought(GOOD))
    for text in ("Does it matter?", "a.jsonl", "Rows", "126"):
        assert text in told


def test_the_file_is_kept_when_that_is_asked_for(qtbot, brought):
    sheet = brought(GOOD)
    assert sheet.focusWidget() is sheet.keep_button
    qtbot.keyClick(sheet.keep_button, Qt.Key.Key_Return)
    assert (sheet.kept, sheet.looked, sheet.left) == ([["/a"]], [], [True])


def test_the_file_can_only_be_looked_at(qtbot, brought):
    sheet = brought(GOOD)
    press(qtbot, sheet, "import.look")
    assert (sheet.kept, sheet.looked, sheet.left) == ([], ["/a"], [True])


@pytest.mark.parametrize("how", ["button", "escape", "beside"])
def test_the_file_can_be_left(qtbot, brought, how):
    sheet = brought(GOOD)
    if how == "button":
        press(qtbot, sheet, "import.leave")
    elif how == "escape":
        qtbot.keyClick(sheet, Qt.Key.Key_Escape)
    else:
        qtbot.mouseClick(sheet, LEFT, pos=QPoint(5, 5))
    assert (sheet.kept, sheet.looked, sheet.left) == ([], [], [True])


def test_a_damaged_file_shows_its_sentence_and_cannot_be_kept(brought):
    sheet = brought(BAD)
    assert "c.jsonl is damaged." in texts(sheet)
    buttons = {each.text() for each in sheet.findChildren(QPushButton) if each.isVisible()}
    assert buttons == {"", WORDS.say("import.leave")}


def test_of_several_files_the_good_ones_are_kept(qtbot, brought):
    sheet = brought(GOOD, HERE, BAD)
    told = texts(sheet)
    for text in ("126 rows", "It is here already.", "c.jsonl is damaged."):
        assert text in told
    assert sheet.keep_button.text() == WORDS.say("import.keep_all", {"count": 1})
    qtbot.mouseClick(sheet.keep_button, LEFT)
    assert sheet.kept == [["/a"]]


@pytest.mark.parametrize(
    ("files", "key"), [((HERE,), "import.show"), ((HERE, HERE), "import.show_all")]
)
def test_what_is_here_already_is_not_kept_but_shown(qtbot, brought, files, key):
    sheet = brought(*files)
    assert not sheet.keep_button.isVisible()
    assert sheet.focusWidget() is sheet.show_button
    press(qtbot, sheet, key)
    assert (sheet.kept, sheet.shown) == ([], [[each.key for each in files]])


def test_one_of_several_files_can_be_looked_at(qtbot, brought):
    sheet = brought(GOOD, HERE, BAD)
    links = [
        each
        for each in sheet.findChildren(QPushButton)
        if each.text() == WORDS.say("import.look") and each.isVisible()
    ]
    assert [each.accessibleName() for each in links] == ["Just look: a.jsonl", "Just look: b.jsonl"]
    qtbot.mouseClick(links[1], LEFT)
    assert sheet.looked == ["/b"]


def test_a_hundred_files_can_be_scrolled_through(brought):
    sheet = brought(*(Inside(key=f"/{n}", file=f"{n}", question="Q?") for n in range(100)))
    assert sheet.sheet.height() < sheet.height()
    assert sheet.keep_button.isVisible()
    bottom = sheet.keep_button.mapTo(sheet, sheet.keep_button.rect().bottomLeft()).y()
    assert bottom < sheet.height()
