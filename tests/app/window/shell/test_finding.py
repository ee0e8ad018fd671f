"""The palette finds all that is on the screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QMenu

from app.window.shell.finding import words_of
from tests.app.window.whole import STATES, Whole
from widgets.sheets.choice_row import CHOICE_ROLE
from widgets.sheets.palette import Palette


@pytest.fixture
def whole(look, tmp_path) -> Iterator[Whole]:
    whole = Whole(look, tmp_path)
    yield whole
    whole.close()


def typed(whole: Whole, text: str) -> Palette:
    """Open the palette and type into it."""
    whole.window.actions_here.find()
    palette = whole.window.findChildren(Palette)[-1]
    palette.field.setText(text)
    palette.field.textEdited.emit(text)
    return palette


def found(palette: Palette) -> list[str]:
    model = palette.list.model()
    return [model.index(row, 0).data(CHOICE_ROLE).text for row in range(model.rowCount())]


@pytest.mark.parametrize("state", ["map", "map_measured", "live", "catalogue", "runs"])
def test_every_button_in_sight_is_found_by_its_words(whole, state):
    STATES[state](whole)
    whole.rest()
    buttons = whole.window.place.findChildren(QAbstractButton)
    seen = {words_of(each) for each in buttons if each.isVisible() and each.isEnabled()} - {""}
    assert len(seen) > 3

    for text in seen:
        palette = typed(whole, text)
        assert text in found(palette)
        palette.dismiss()


@pytest.mark.parametrize(
    ("name", "experiment"), [("nvlink", "p2p"), ("avx", "simd"), ("tensor core", "amp")]
)
def test_experiments_are_found_by_the_names_that_people_use(whole, name, experiment):
    whole.rest()
    palette = typed(whole, name)

    assert whole.words.say(f"{experiment}.question") in found(palette)


def test_a_known_load_is_found_and_offered(qtbot, whole):
    STATES["live"](whole)
    whole.rest()
    palette = typed(whole, "known load")

    qtbot.keyClick(palette.field, Qt.Key.Key_Return)

    (menu,) = [each for each in whole.window.findChildren(QMenu) if each.isVisible()]
    assert whole.words.say("live.load_one") in [each.text() for each in menu.actions()]
    menu.close()
