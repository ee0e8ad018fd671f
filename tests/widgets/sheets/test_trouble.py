from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage

from tests.widgets.sheets.below import WORDS, Below
from widgets.sheets.trouble import CrashDialog, TroubleBox

SENTENCE = "Its process was killed. Choose a smaller size."


@pytest.fixture
def window(qtbot) -> Below:
    return Below(qtbot)


@pytest.fixture
def box(window) -> TroubleBox:
    made = TroubleBox(WORDS, window.look)
    window.layout().addWidget(made)
    return made


def colours(widget) -> set[str]:
    picture = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    return {QColor(rgb).name() for rgb in set(picture.constBits().cast("I"))}


def test_there_is_nothing_to_see_before_there_is_trouble(box):
    assert box.isHidden()


def test_trouble_is_a_sentence_with_a_sign_of_its_colour(window, box):
    box.tell(SENTENCE)

    assert box.text.text() == SENTENCE
    assert box.accessibleName().endswith(SENTENCE)
    theme = window.look.theme
    assert theme.attention.lower() in colours(box)
    assert theme.fault.lower() not in colours(box)


def test_the_next_steps_are_buttons_of_the_newest_trouble_only(qtbot, box):
    done = []
    box.tell("First.", actions=[("Once", lambda: done.append("old"))])
    box.tell(SENTENCE, actions=[("Again", lambda: done.append("again")), ("Less", done.clear)])

    assert [button.text() for button in box.buttons] == ["Again", "Less"]
    qtbot.mouseClick(box.buttons[0], Qt.MouseButton.LeftButton)
    assert done == ["again"]


def test_details_are_copied_with_their_sentence(qtbot, box):
    box.tell(SENTENCE, detail="status -9")

    qtbot.mouseClick(box.copy, Qt.MouseButton.LeftButton)

    assert QGuiApplication.clipboard().text() == f"{SENTENCE}\nstatus -9"


def test_without_details_there_is_nothing_to_copy(box):
    box.tell("First.", detail="something")
    box.tell(SENTENCE)

    assert box.copy.isHidden()


def test_cleared_trouble_is_gone(box):
    box.tell(SENTENCE)
    box.clear()

    assert box.isHidden()


def test_a_long_sentence_is_wholly_seen_in_a_narrow_box(qtbot):
    window = Below(qtbot, zoom=1.6)
    box = TroubleBox(WORDS, window.look)
    window.layout().addWidget(box)
    window.resize(420, 700)
    box.tell(SENTENCE * 4, actions=[("Run again", box.clear), ("Try smaller sizes", box.clear)])

    qtbot.waitUntil(lambda: box.text.height() >= box.text.heightForWidth(box.text.width()))


# --- what nobody expected -----------------------------------------------------------------------


@pytest.fixture
def dialog(qtbot, window) -> Iterator[CrashDialog]:
    made = CrashDialog("the report", WORDS, window)
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    made.open()
    yield made
    made.close()


def test_to_go_on_is_what_enter_and_escape_do(qtbot, dialog):
    wanted = []
    dialog.quit_wanted.connect(lambda: wanted.append("quit"))
    assert dialog.go_on.isDefault()

    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
    dialog.open()
    with qtbot.waitSignal(dialog.finished):
        qtbot.keyClick(dialog, Qt.Key.Key_Escape)

    assert wanted == []


def test_to_quit_must_be_chosen(qtbot, dialog):
    with qtbot.waitSignals([dialog.finished, dialog.quit_wanted]):
        qtbot.mouseClick(dialog.quit, Qt.MouseButton.LeftButton)


def test_the_report_can_be_read_and_copied_and_not_changed(qtbot, dialog):
    qtbot.keyClicks(dialog.report, "x")
    assert dialog.report.toPlainText() == "the report"

    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == "the report"


def test_more_of_them_are_counted(qtbot, dialog):
    assert dialog.count.isHidden()
    dialog.add("second")
    assert "one more" in dialog.count.text()
    for number in range(30):
        dialog.add(f"number {number}")

    assert "31 more" in dialog.count.text()
    qtbot.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert "second" in QGuiApplication.clipboard().text()
    assert "number 29" not in QGuiApplication.clipboard().text()
