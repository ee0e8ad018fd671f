from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from tests.widgets.runs.samples import WORDS, run, worn
from widgets.runs.page import RunsPage

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(qtbot):
    page = RunsPage(worn(), WORDS)
    qtbot.addWidget(page)
    page.resize(1296, 800)
    with qtbot.waitExposed(page):
        page.show()
    page.activateWindow()
    return page


def keys(page):
    return [each.key for each in page.table.runs.shown]


def said(page) -> list[str]:
    return [each.text() for each in page.findChildren(QLabel) if each.isVisible()]


def may_fall(page) -> bool:
    """Return whether the page says that files may be dropped on it."""
    return WORDS.say("runs.drop") in said(page)


def chips(page):
    found = page.findChildren(QPushButton)
    shown = [each for each in found if each.property("role") == "chip" and each.isCheckable()]
    return {each.text(): each for each in shown if not each.isHidden()}


def test_without_runs_it_says_so_and_leads_to_the_experiments(qtbot, page):
    page.show_runs([])
    assert not page.table.isVisible()
    with qtbot.waitSignal(page.experiments_asked):
        qtbot.mouseClick(page.to_experiments_button, LEFT)
    with qtbot.waitSignal(page.import_asked):
        qtbot.mouseClick(page.import_button, LEFT)


def test_before_the_runs_are_known_it_does_not_say_that_there_are_none(page):
    assert not page.to_experiments_button.isVisible()
    assert not page.table.isVisible()


def test_typing_searches_and_escape_shows_all_again(qtbot, page):
    page.show_runs([run(1), run(2), run(3)])
    page.search.setFocus()
    qtbot.keyClicks(page.search, "question 2")
    assert keys(page) == ["run 2"]
    assert WORDS.say("runs.found", {"found": 1, "count": 3}) in said(page)
    qtbot.keyClick(page.search, Qt.Key.Key_Escape)
    assert len(keys(page)) == 3
    qtbot.keyClick(page.search, Qt.Key.Key_Escape)
    assert page.table.hasFocus()


@pytest.mark.parametrize("key", [Qt.Key.Key_Down, Qt.Key.Key_Return])
def test_from_the_search_the_keys_lead_to_what_was_found(qtbot, page, key):
    page.show_runs([run(1), run(2)])
    page.search.setFocus()
    qtbot.keyClicks(page.search, "question 1")
    qtbot.keyClick(page.search, key)
    assert page.table.hasFocus()
    assert [each.key for each in page.table.selected()] == ["run 1"]


def test_a_search_that_finds_nothing_says_so_and_can_be_taken_back(qtbot, page):
    page.show_runs([run(1, tags=("a",))])
    page.search.setFocus()
    qtbot.keyClicks(page.search, "xyz")
    qtbot.mouseClick(chips(page)["a"], LEFT)
    assert page.show_all_button.isVisible()
    assert not page.details.isVisible()
    qtbot.mouseClick(page.show_all_button, LEFT)
    assert keys(page) == ["run 1"]
    assert page.details.isVisible()


def test_tags_in_use_are_chips_that_filter(qtbot, page):
    page.show_runs([run(1, tags=("b", "a")), run(2, tags=("b",)), run(3)])
    assert list(chips(page)) == ["a", "b"]
    page.table.setFocus()
    qtbot.mouseClick(chips(page)["b"], LEFT)
    assert keys(page) == ["run 2", "run 1"]
    assert page.window().focusWidget() is page.table  # which has keys of its own
    qtbot.keyClick(chips(page)["a"], Qt.Key.Key_Space)
    assert keys(page) == ["run 1"]
    qtbot.mouseClick(chips(page)["b"], LEFT)
    qtbot.mouseClick(chips(page)["a"], LEFT)
    assert len(keys(page)) == 3


def test_a_chosen_tag_outlives_a_refresh_until_no_run_has_it(qtbot, page):
    page.show_runs([run(1, tags=("a",)), run(2)])
    qtbot.mouseClick(chips(page)["a"], LEFT)
    page.show_runs([run(1, tags=("a",)), run(2, tags=("c",)), run(3)])
    assert chips(page)["a"].isChecked()
    assert keys(page) == ["run 1"]
    page.show_runs([run(1), run(2, tags=("c",)), run(3)])
    assert list(chips(page)) == ["c"]
    assert len(keys(page)) == 3


def test_the_search_outlives_a_refresh(qtbot, page):
    page.show_runs([run(1), run(2)])
    page.search.setText("question 2")
    page.show_runs([run(1), run(2), run(22)])
    assert keys(page) == ["run 22", "run 2"]


# --- files that are dropped ---------------------------------------------------------------------


def dropped(*paths):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    return data


def drag(page, data):
    event = QDragEnterEvent(
        QPoint(300, 300), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(page, event)
    return event.isAccepted()


def drop(page, data):
    event = QDropEvent(
        QPointF(300, 300), Qt.DropAction.CopyAction, data, LEFT, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(page, event)


def test_files_over_the_page_show_where_they_may_fall(page):
    page.show_runs([run(1)])
    assert drag(page, dropped("/a/x.jsonl"))
    assert may_fall(page)
    QApplication.sendEvent(page, QDragLeaveEvent())
    assert not may_fall(page)


def test_files_that_fall_are_handed_on(qtbot, page):
    page.show_runs([])
    data = dropped("/a/x.jsonl", "/b/a folder")
    drag(page, data)
    with qtbot.waitSignal(page.files_dropped) as handed:
        drop(page, data)
    assert handed.args == [[Path("/a/x.jsonl"), Path("/b/a folder")]]
    assert not may_fall(page)


def test_what_is_no_file_is_not_taken(qtbot, page):
    text, elsewhere = QMimeData(), QMimeData()
    text.setText("a run")
    elsewhere.setUrls([QUrl("https://example.org/x.jsonl")])
    for data in (text, elsewhere):
        assert not drag(page, data)
        assert not may_fall(page)


def test_a_file_may_fall_on_a_field_too(page):
    for field in (page.search, page.details.name, page.details.note, page.details.tags):
        assert not field.acceptDrops()
        assert not field.findChild(type(page), "viewport")
    assert not page.details.note.viewport().acceptDrops()
