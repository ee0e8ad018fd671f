"""Paths through the catalogue: an order, progress, and the next step."""

from __future__ import annotations

import pytest

from experiments.core.catalogue import Catalogue as Experiments
from experiments.presentation.paths import paths
from tests.widgets.catalogue.test_catalogue import ENGLISH, WIDE, card_data, shown
from widgets.catalogue.card_data import PathData, State
from widgets.catalogue.catalogue import Catalogue
from widgets.catalogue.filter_bar import FilterBar
from widgets.style import theme
from widgets.style.look import Look

BACK = PathData(id="back", title="Backwards", about="From d to a", experiments=("d", "b", "a"))
CARDS = [card_data(name) for name in "abcd"]


@pytest.fixture
def catalogue(qtbot):
    made = Catalogue(ENGLISH, Look(theme.load("dark")))
    qtbot.addWidget(made)
    made.show_cards(CARDS)
    made.resize(*WIDE)
    made.show_paths([BACK], "")
    made.show()
    return made


def test_a_path_shows_its_experiments_alone_and_in_its_order(catalogue, qtbot):
    assert shown(catalogue) == "abcd"
    with qtbot.waitSignal(catalogue.path_chosen) as chosen:
        catalogue.show_paths([BACK], "back")
    assert chosen.args == ["back"]
    grid = catalogue.findChild(FilterBar).filter
    assert grid.path is BACK
    assert [card.data.id for card in catalogue._grid.shown] == ["d", "b", "a"]  # noqa: SLF001
    catalogue.findChild(FilterBar).show_all()
    assert shown(catalogue) == "abcd"


def test_go_on_opens_the_next_that_is_not_measured(catalogue, qtbot):
    catalogue.show_paths([BACK], "back")
    button = catalogue.findChild(FilterBar).surprise
    assert button.text() == ENGLISH.say("catalogue.go_on")
    with qtbot.waitSignal(catalogue.opened) as opened:
        button.click()
    assert opened.args == ["d"]
    done = [card_data(name, state=State.MEASURED, is_measured=name == "d") if name == "d"
            else card_data(name) for name in "abcd"]  # fmt: skip
    catalogue.show_cards(done)
    with qtbot.waitSignal(catalogue.opened) as opened:
        button.click()
    assert opened.args == ["b"]
    catalogue.show_cards([card_data(n, state=State.MEASURED, is_measured=True) for n in "abcd"])
    assert not button.isEnabled()
    assert button.toolTip() == ENGLISH.say("catalogue.path_over")


def test_go_on_comes_back_to_a_disturbed_run_after_all_that_is_new(catalogue, qtbot):
    catalogue.show_paths([BACK], "back")
    for done, after in (("d", "b"), ("db", "a"), ("dba", "d")):
        catalogue.show_cards(
            [card_data(n, state=State.PARTIAL if n in done else State.NEW) for n in "abcd"]
        )
        with qtbot.waitSignal(catalogue.opened) as opened:
            catalogue.findChild(FilterBar).surprise.click()
        assert opened.args == [after], done


def test_the_chip_says_how_much_of_the_path_is_measured(catalogue):
    catalogue.show_paths([BACK], "back")
    catalogue.show_cards(
        [card_data("d", state=State.MEASURED, is_measured=True), *map(card_data, "abc")]
    )
    counted = {"title": "Backwards", "measured": 1, "count": 3}
    said = ENGLISH.say("catalogue.path_counted", counted)
    assert catalogue.findChild(FilterBar)._path.text() == said  # noqa: SLF001


def test_every_path_names_lessons_and_has_words():
    experiments = {each.id: each for each in Experiments()}
    for path in paths().values():
        assert len(set(path.experiments)) == len(path.experiments)
        assert {*path.experiments} <= {*experiments}, path.id
        assert ENGLISH.has(f"paths.{path.id}"), path.id
        assert ENGLISH.has(f"paths.{path.id}_about"), path.id
        assert path.after(path.experiments[0]) == path.experiments[1]
        assert path.after(path.experiments[-1]) == path.after("no-such") == ""
