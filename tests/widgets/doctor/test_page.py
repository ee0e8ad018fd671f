from __future__ import annotations

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from machine.doctor.verdicts import State
from tests.widgets.sheets.below import WORDS, Below
from widgets.doctor.page import DoctorPage
from widgets.doctor.page_data import Link, PageData, PythonChoice
from widgets.style import theme

COMMAND = "/py -m pip install --upgrade torch --index-url https://download.pytorch.org/whl/cu130"
PAGE = "https://pytorch.org/get-started/locally/"
LINKS = (
    Link(title="Card", state=State.OK, text="NVIDIA GeForce RTX 4070."),
    Link(title="Health", state=State.LOOK, text="Broken memory:", commands=("sudo reboot",)),
    Link(title="Its build", state=State.WRONG, text="Built for processors:", commands=(COMMAND,)),
    Link(title="A sum on it"),
)
WRONG = PageData(
    headline="It cannot be used yet.",
    state=State.WRONG,
    text="Built for processors:",
    commands=(COMMAND, PAGE),
    links=LINKS,
)
WELL = PageData(headline="Nothing is wrong.", state=State.OK, links=LINKS[:1], is_well=True)
OFFERED = (
    PythonChoice(path="", text="this program"),
    PythonChoice(path="/home/ada/a&b/.venv", text="~/a&b/.venv  ·  PyTorch 2.9.0"),
)


@pytest.fixture
def page(request, qtbot):
    zoom = getattr(request, "param", 1.0)
    window = Below(qtbot, zoom=zoom)
    page = DoctorPage(WORDS, window.look, window)
    page.window_below = window
    page.chooser.offer(OFFERED)
    page.chooser.show_chosen("")
    page.tell(WRONG)
    page.open()
    for _ in range(4):
        QApplication.processEvents()
    return page


def settle():
    for _ in range(4):
        QApplication.processEvents()


# --- what is shown ------------------------------------------------------------------------------


def test_the_first_thing_that_is_wrong_stands_on_top_with_what_mends_it(page):
    assert page.title.text() == "Why does my GPU not work?"
    assert page.box.headline.text() == WRONG.headline
    assert page.box.text.text() == WRONG.text
    assert page.box.property("role") == "trouble-fault"
    assert [command.button.text() for command in page.box.commands] == ["Copy", "Open page"]


def test_where_all_is_well_the_page_is_called_otherwise(page):
    page.tell(WELL)

    assert page.title.text() == WORDS.say("doctor.page.well")
    assert page.accessibleName() == page.title.text()
    assert page.box.property("role") == "trouble-good"
    assert page.box.commands == []


def test_each_link_says_its_state_in_a_word(page):
    names = [link.line.accessibleName() for link in page.chain.links]

    assert names == [
        "Card: fine",
        "Health: have a look",
        "Its build: wrong",
        "A sum on it: not yet looked at",
    ]


def test_details_are_folded_until_they_are_asked_for(page):
    health = page.chain.links[1]
    assert not health.details.isVisible()

    health.line.setFocus()
    QTest.keyClick(health.line, Qt.Key.Key_Return)
    assert health.details.isVisible()
    QTest.mouseClick(health.line, Qt.MouseButton.LeftButton)
    assert not health.details.isVisible()


def test_a_link_that_was_not_reached_has_nothing_to_unfold(page):
    assert [link.line.isEnabled() for link in page.chain.links] == [True, True, True, False]


@pytest.mark.parametrize("page", [1.0, 1.6], indirect=True)
def test_the_sheet_is_as_high_as_what_it_shows_and_within_the_window(page):
    low = page.sheet.height()
    page.tell(WELL)
    settle()
    assert page.sheet.height() < low
    assert page.area.verticalScrollBar().maximum() == 0

    page.tell(PageData(headline="x", state=State.OK, links=LINKS * 12))
    settle()
    assert page.sheet.height() <= page.height()
    assert page.area.verticalScrollBar().maximum() > 0


@pytest.mark.parametrize("mode", theme.MODES)
def test_another_theme_is_worn_while_it_is_open(page, mode):
    page.window_below.look.wear(theme.load(mode, 1.3))

    assert not page.grab().isNull()


def test_while_it_is_examined_nothing_has_been_looked_at(page):
    page.wait("~/thesis", [Link(title="Card"), Link(title="Driver")])

    assert "~/thesis" in page.box.headline.text()
    assert [link.line.accessibleName() for link in page.chain.links] == [
        "Card: not yet looked at",
        "Driver: not yet looked at",
    ]
    assert not page.copy_text.isEnabled()
    assert not page.copy_json.isEnabled()


def test_where_nothing_can_be_examined_only_the_reason_is_shown(page):
    page.refuse("There is nothing to be examined.")

    assert page.box.headline.text() == "There is nothing to be examined."
    assert not page.chooser.isVisible()
    assert not page.chain.isVisible()
    assert not page.copy_text.isEnabled()


# --- what can be done ---------------------------------------------------------------------------


def test_a_command_is_copied_whole(page):
    command = page.box.commands[0]

    QTest.mouseClick(command.button, Qt.MouseButton.LeftButton)

    assert QGuiApplication.clipboard().text() == COMMAND
    assert command.button.text() == "Copied"


def test_a_page_is_opened(page, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", opened.append)

    page.box.commands[1].button.click()

    assert opened == [QUrl(PAGE)]


@pytest.mark.parametrize(("button", "kind"), [("copy_text", "text"), ("copy_json", "json")])
def test_the_report_is_asked_for(page, qtbot, button, kind):
    with qtbot.waitSignal(page.copy_asked) as asked:
        getattr(page, button).click()

    assert asked.args == [kind]


def test_the_pythons_found_are_offered_and_the_one_that_is_examined_is_marked(page, qtbot):
    actions = page.chooser.menu.actions()
    assert [action.text() for action in actions[:2]] == [
        "this program",
        "~/a&&b/.venv  ·  PyTorch 2.9.0",
    ]
    assert [action.isChecked() for action in actions[:2]] == [True, False]

    with qtbot.waitSignal(page.wanted) as wanted:
        actions[1].trigger()

    assert wanted.args == ["/home/ada/a&b/.venv"]


def test_the_menu_opens_by_key(page, qtbot):
    page.chooser.current.setFocus()
    QTest.keyClick(page.chooser.current, Qt.Key.Key_Return)
    qtbot.waitUntil(page.chooser.menu.isVisible)
    page.chooser.menu.close()


def test_a_path_is_typed(page, qtbot):
    assert not page.chooser.naming.isVisible()
    page.chooser.menu.actions()[-1].trigger()
    assert page.chooser.path.hasFocus()

    QTest.keyClicks(page.chooser.path, " ~/thesis/.venv ")
    with qtbot.waitSignal(page.wanted) as wanted:
        QTest.keyClick(page.chooser.path, Qt.Key.Key_Return)

    assert wanted.args == ["~/thesis/.venv"]


def test_nothing_typed_is_nothing_wanted(page, qtbot):
    page.chooser.ask_for_path()

    with qtbot.assertNotEmitted(page.wanted):
        page.chooser.examine.click()


def test_why_a_path_is_none_is_said_where_it_was_typed(page):
    page.chooser.refuse("There is no /nowhere.")
    assert page.chooser.problem.isVisible()
    assert page.chooser.problem.text() == "There is no /nowhere."

    page.chooser.show_chosen("/home/ada/a&b/.venv")
    assert not page.chooser.naming.isVisible()
    assert page.chooser.current.accessibleName().count("~/a&b/.venv") == 1


def test_a_python_that_was_not_offered_is_called_by_its_path(page):
    page.chooser.show_chosen("/opt/py/bin/python")

    assert "/opt/py/bin/python" in page.chooser.current.toolTip()


# --- what falls on it ---------------------------------------------------------------------------


def may_fall(page) -> bool:
    """Return whether the page says that something may be dropped on it."""
    said = WORDS.say("doctor.page.drop")
    return any(each.isVisible() for each in page.findChildren(QLabel) if each.text() == said)


def drag(page, data):
    event = QDragEnterEvent(
        QPoint(300, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    event.ignore()
    QApplication.sendEvent(page, event)
    return event.isAccepted()


def drop(page, data):
    event = QDropEvent(
        QPointF(300, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )  # fmt: skip
    QApplication.sendEvent(page, event)


def test_a_folder_that_falls_on_the_page_is_examined(page, qtbot, tmp_path):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path))])

    assert drag(page, data)
    assert may_fall(page)
    with qtbot.waitSignal(page.wanted) as wanted:
        drop(page, data)

    assert wanted.args == [str(tmp_path)]
    assert not may_fall(page)


@pytest.mark.parametrize("url", ["https://example.org/python", None])
def test_what_is_no_file_of_this_machine_may_not_fall(page, url):
    data = QMimeData()
    data.setUrls([QUrl(url)]) if url else data.setText("python")

    assert not drag(page, data)


def test_escape_closes_it(page, qtbot):
    with qtbot.waitSignal(page.closed):
        QTest.keyClick(page, Qt.Key.Key_Escape)
