from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication

from tests.widgets.sheets.below import WORDS, Below
from widgets.sheets.settings_page import SettingsDialog

VALUES = {
    "mode": "system",
    "zoom": 1.0,
    "letters": True,
    "less_motion": False,
    "closing": "ask",
    "numbers": False,
}


def opened(qtbot, *, zoom=1.0, size=(1280, 720), **values) -> SettingsDialog:
    window = Below(qtbot, zoom=zoom)
    window.resize(*size)
    page: Any = SettingsDialog(WORDS, window.look, window)
    page.window_below, page.changes = window, []
    page.changed.connect(page.changes.append)
    page.show_settings(**{**VALUES, **values}, folder="/a/folder")
    page.open()
    QApplication.processEvents()
    return page


def test_it_shows_what_is_set_and_changes_nothing_by_itself(qtbot):
    page = opened(qtbot, mode="light", letters=False, closing="stop")

    assert page.mode.buttons["light"].isChecked()
    assert page.closing.buttons["stop"].isChecked()
    assert not page.letters.isChecked()
    assert page.zoom.buttons["1.0"].isChecked()
    assert page.folder.text() == "/a/folder"
    assert page.changes == []


@pytest.mark.parametrize(("setting", "choice"), [("mode", "dark"), ("closing", "finish")])
def test_a_choice_holds_at_once(qtbot, setting, choice):
    page = opened(qtbot)

    qtbot.mouseClick(getattr(page, setting).buttons[choice], Qt.MouseButton.LeftButton)

    assert page.changes == [{setting: choice}]


def test_letters_can_be_switched_off(qtbot):
    page = opened(qtbot)

    qtbot.keyClick(page.letters, Qt.Key.Key_Space)

    assert page.changes == [{"letters": False}]


def test_less_motion_can_be_asked_for(qtbot):
    page = opened(qtbot)

    qtbot.keyClick(page.less_motion, Qt.Key.Key_Space)

    assert page.changes == [{"less_motion": True}]


def test_each_size_of_the_text_is_one_click(qtbot):
    page = opened(qtbot)

    for zoom in ("2.0", "0.8"):
        qtbot.mouseClick(page.zoom.buttons[zoom], Qt.MouseButton.LeftButton)

    assert page.changes == [{"zoom": 2.0}, {"zoom": 0.8}]


def test_a_size_between_two_is_shown_as_the_nearer_one(qtbot):
    page = opened(qtbot, zoom=1.0)
    page.show_settings(**{**VALUES, "zoom": 1.19}, folder="")

    assert page.zoom.buttons["1.15"].isChecked()
    assert page.changes == []


def test_the_folder_can_be_opened_and_where_that_fails_its_path_be_copied(qtbot):
    page = opened(qtbot)

    with qtbot.waitSignal(page.folder_wanted):
        page.opener.click()
    page.tell_not_opened()
    assert page.not_opened.isVisible()
    page.copier.click()

    assert QApplication.clipboard().text() == "/a/folder"
    assert page.copier.text() == WORDS.say("settings.folder_copied")


def test_every_control_has_a_name_and_is_reached_by_tab(qtbot):
    page = opened(qtbot)
    reached = []
    while (control := QApplication.focusWidget()) not in reached:
        reached.append(control)
        qtbot.keyClick(control, Qt.Key.Key_Tab)

    assert reached[1] in page.mode.buttons.values()
    assert reached[2] in page.zoom.buttons.values()
    assert reached[3] in page.kind.buttons.values()
    assert reached[4] is page.letters
    assert reached[5] is page.less_motion
    assert reached[6] in page.closing.buttons.values()
    assert reached[7:9] == [page.opener, page.copier]
    assert all(control.accessibleName() or control.text() for control in reached)


def test_arrow_keys_choose_within_a_row(qtbot):
    page = opened(qtbot)
    page.mode.buttons["system"].setFocus()

    qtbot.keyClick(page.mode.buttons["system"], Qt.Key.Key_Right)

    assert page.changes == [{"mode": "light"}]


@pytest.mark.parametrize("zoom", [1.0, 1.6, 2.0])
@pytest.mark.parametrize("size", [(1440, 900), (820, 560)])
def test_it_stays_within_the_window_and_the_last_control_can_be_reached(qtbot, zoom, size):
    page = opened(qtbot, zoom=zoom, size=size)
    assert page.window_below.rect().contains(page.sheet.geometry())

    page.closer.setFocus()
    qtbot.keyClick(page.closer, Qt.Key.Key_Backtab)  # the last one, scrolled into view
    last = QApplication.focusWidget()
    assert last.visibleRegion().boundingRect().size() == last.size()


def test_it_follows_the_text_size_while_it_is_open(qtbot):
    from widgets.style import theme

    page = opened(qtbot)
    before = page.sheet.width()

    page.window_below.look.wear(theme.load("light", 1.45))

    qtbot.waitUntil(lambda: page.sheet.width() > before * 1.3)
    assert page.window_below.rect().contains(page.sheet.geometry())
