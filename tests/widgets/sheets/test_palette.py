from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from PySide6.QtCore import Qt

from tests.widgets.sheets.below import WORDS, Below
from widgets.sheets.choice_row import ChoiceRow
from widgets.sheets.palette import Choice, Palette


@pytest.fixture
def window(qtbot) -> Below:
    return Below(qtbot)


@pytest.fixture
def palette(window) -> Palette:
    made: Any = Palette(WORDS, window.look, window)
    made.done = []
    names = [("Map", "Ctrl+1"), ("Live", "Ctrl+2"), ("Cache ladder", "")]
    names += [(f"Run {number}", "") for number in range(497)]
    made.open_with(
        [
            Choice(name, f"detail {place}", keys, partial(made.done.append, name))
            for place, (name, keys) in enumerate(names)
        ]
    )
    return made


def chosen(palette) -> str:
    return palette.list.currentIndex().data()


def test_one_types_at_once_and_runs_what_is_found_by_enter(qtbot, window, palette):
    assert palette.field.hasFocus()

    qtbot.keyClicks(palette.field, "cl")
    assert chosen(palette) == "Cache ladder"
    with qtbot.waitSignal(palette.closed):
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)

    assert palette.done == ["Cache ladder"]
    assert window.button.hasFocus()


def test_what_is_chosen_runs_after_the_palette_has_gone(qtbot, window):
    palette, seen = Palette(WORDS, window.look, window), []
    palette.open_with([Choice("One", run=lambda: seen.append(palette.isVisible()))])

    qtbot.keyClick(palette.field, Qt.Key.Key_Enter)

    assert seen == [False]


def test_keys_move_in_the_list_and_go_round(qtbot, palette):
    def after(key) -> str:
        qtbot.keyClick(palette.field, key)
        return chosen(palette)

    assert chosen(palette) == "Map"
    assert after(Qt.Key.Key_Down) == "Live"
    assert after(Qt.Key.Key_Up) == "Map"
    assert after(Qt.Key.Key_Up) == "Run 496"
    assert after(Qt.Key.Key_Down) == "Map"
    assert after(Qt.Key.Key_PageDown).startswith("Run ")
    assert after(Qt.Key.Key_PageUp) == "Map"
    assert after(Qt.Key.Key_End) == "Run 496"
    assert after(Qt.Key.Key_Home) == "Map"


def test_a_click_runs_a_choice(qtbot, palette):
    index = palette.list.model().index(1, 0)
    place = palette.list.visualRect(index).center()

    with qtbot.waitSignal(palette.closed):
        qtbot.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=place)

    assert palette.done == ["Live"]


def test_nothing_found_is_said_and_enter_does_nothing(qtbot, palette):
    qtbot.keyClicks(palette.field, "zzz")

    assert palette.nothing.isVisible()
    assert "zzz" in palette.nothing.text()
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    assert palette.done == []

    palette.field.clear()
    qtbot.keyClicks(palette.field, "m")
    assert palette.list.isVisible()
    assert chosen(palette) == "Map"


def test_escape_runs_nothing(qtbot, palette):
    with qtbot.waitSignal(palette.closed):
        qtbot.keyClick(palette.field, Qt.Key.Key_Escape)

    assert palette.done == []


def test_a_row_says_all_of_itself_to_those_who_do_not_see_it(palette):
    index = palette.list.model().index(0, 0)

    assert index.data(Qt.ItemDataRole.AccessibleTextRole) == "Map, detail 0, Ctrl+1"
    assert palette.field.accessibleName()


@pytest.mark.parametrize("zoom", [1.0, 2.0])
def test_long_texts_are_cut_and_the_sheet_stays_in_the_window(qtbot, zoom):
    window = Below(qtbot, zoom=zoom)
    window.resize(820, 560)
    palette = Palette(WORDS, window.look, window)

    palette.open_with([Choice("word " * 90, "detail " * 30, "Ctrl+Shift+F12")] * 30)
    qtbot.keyClicks(palette.field, "word")

    assert window.rect().contains(palette.sheet.geometry())
    assert isinstance(palette.list.itemDelegate(), ChoiceRow)
    assert not palette.grab().isNull()


def test_the_letters_that_are_meant_stand_out(qtbot, window):
    def stressed(typed: str) -> bool:
        palette = Palette(WORDS, window.look, window)
        palette.open_with([Choice("Cache ladder")])
        qtbot.keyClicks(palette.field, typed)
        picture = palette.list.viewport().grab().toImage()
        accent = window.look.theme.accent_word.lower()
        palette.dismiss()
        return any(
            picture.pixelColor(x, y).name() == accent
            for x in range(picture.width())
            for y in range(picture.height())
        )

    assert stressed("cl")
    assert not stressed("")
