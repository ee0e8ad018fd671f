"""The shelf "Yours": broken files are sentences on cards, changed ones are taken over."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QAbstractButton, QLabel

from app.context import Context
from app.window.catalogue.place import ExperimentsPlace
from app.window.core import own_shelf
from app.window.core.background import Background
from app.window.core.session import Session
from app.window.core.settings import Settings
from app.window.core.target import EXPERIMENTS, Target
from app.window.experiment.actions import ExperimentActions
from app.window.experiment.place import ExperimentPage
from experiments import yours
from experiments.core.parameters import to_json
from experiments.core.words import load
from experiments.engine.jobs import Engine
from tests.app.own import BROKEN, broken, good, mend
from tests.app.window.stage import FakeRunner, settle
from tests.experiments.machines import machine
from widgets.catalogue.catalogue import Catalogue

# What never ends to load takes a second of the processor: tests/app/test_own_experiments.py has it.
QUICKLY = {kind: what for kind, what in BROKEN.items() if kind != "endless"}


class Shelf:
    """A session that examines a folder of the user's own, and the catalogue of it."""

    def __init__(self, look, folder: Path, settings: Settings) -> None:
        self.folder = folder / "experiments"
        self.session = Session(Context(data=folder), look, settings)
        self.told: list[str] = []
        self.remembered: list[dict] = []
        self.session.noticed.connect(lambda text, *_: self.told.append(text))
        self.session.remembered.connect(self.remembered.append)
        self.session.background = Background()
        self.session.runner = FakeRunner()  # type: ignore[assignment]
        self.session.machine = machine()
        self.place = ExperimentsPlace(self.session)
        self.own = own_shelf.OwnShelf(self.session)
        self.place.arrive()

    def note(self, name: str) -> str:
        """Return what the card of an experiment says, "" while there is none."""
        for card in self.place.findChildren(QAbstractButton):
            if card.accessibleName() == name:
                return card.accessibleDescription()
        return ""

    def examine(self) -> None:
        """Look at the files, and wait until the catalogue is as they are."""
        changes: list[None] = []
        self.session.catalogue_changed.connect(lambda: changes.append(None))
        self.own.look()
        settle(lambda: bool(changes))

    def close(self) -> None:
        self.own.close()
        self.place.leave()
        self.session.background.close()
        self.place.deleteLater()


@pytest.fixture
def shelf(qtbot, look, tmp_path):
    made = []

    def make(*kinds: str, settings: Settings | None = None) -> Shelf:
        for kind in kinds:
            (good if kind == "good" else lambda at, kind=kind: broken(at, kind))(
                tmp_path / "experiments"
            )
        made.append(Shelf(look, tmp_path, settings or Settings()))
        return made[-1]

    yield make
    for each in made:
        each.close()
    yours.use([])


def test_broken_ones_are_sentences_on_their_cards_and_stand_first_with_the_good_one(shelf):
    there = shelf("good", *QUICKLY)
    there.examine()
    say = there.session.words.text

    for name, _, key in QUICKLY.values():
        said = there.note(name.replace("_", "-"))
        assert say(f"problems.{key}").partition("{")[0].split(",")[0] in said, name
    assert "call-cost" in there.session.catalogue.ids()
    assert there.session.catalogue.load("stream").shelf == "memory"
    assert there.session.words.say("stream.question") == load().say("stream.question")
    settle(lambda: "call-cost" in there.session.entries)
    cards = there.place.findChild(Catalogue).cards
    own = [card.is_own for card in cards]
    assert own == sorted(own, reverse=True)
    assert cards[0].id == "call-cost"
    assert sum(own) == 1 + len(QUICKLY)
    # Ours stays where it was, although one of the broken ones has its name.
    assert [card.shelf for card in cards if card.id == "stream"] == ["memory"]


def test_a_changed_file_is_taken_over_and_a_broken_one_is_not_loaded(shelf):
    there = shelf("good")
    there.examine()
    file = there.folder / "call_cost" / "experiment.py"
    whole = file.read_text(encoding="utf-8")

    file.write_text(whole.replace("100_000, minimum", "200_000, minimum"), encoding="utf-8")
    there.examine()
    assert there.session.catalogue.load("call-cost").params().calls == 200_000
    there.place.open(Target(EXPERIMENTS, experiment="call-cost"))
    page = there.place.findChild(ExperimentPage)
    assert page.told is None
    file.write_text("def broken(:", encoding="utf-8")
    there.examine()
    assert "call-cost" in there.session.catalogue.refused
    settle(lambda: page.told == there.session.catalogue.refused["call-cost"])
    mend(there.folder / "call_cost")
    there.examine()
    assert there.session.catalogue.load("call-cost").params().calls == 100_000


def test_a_click_on_a_broken_one_says_what_is_wrong_with_a_way_to_its_folder(shelf):
    there = shelf("syntax")
    there.examine()
    (card,) = (
        each for each in there.place.findChildren(QAbstractButton)
        if each.accessibleName() == "odd-syntax"
    )  # fmt: skip

    card.click()

    assert "experiment.py" in there.told[-1]


def test_that_code_runs_from_a_folder_is_said_once(shelf):
    there = shelf("good")
    there.examine()
    first = [text for text in there.told if str(there.folder) in text]
    again = shelf(settings=Settings(**there.remembered[-1]))
    again.examine()

    assert len(first) == 1
    assert not [text for text in again.told if str(there.folder) in text]


def test_an_error_in_measure_is_named_with_its_line_on_the_page(shelf):
    there = shelf("good")
    file = there.folder / "call_cost" / "experiment.py"
    whole = file.read_text(encoding="utf-8")
    text = whole.replace("    def nothing()", "    lost()\n\n    def nothing()")
    file.write_text(text, encoding="utf-8")
    there.examine()
    settle(lambda: "call-cost" in there.session.entries)
    experiment = there.session.catalogue.load("call-cost")
    engine = Engine()
    *_, finished = engine.start(experiment, to_json(experiment.params()), quick=True).events()
    engine.close()

    there.place.open(Target(EXPERIMENTS, experiment="call-cost"))
    there.place.findChild(ExperimentActions).run.trigger()
    there.session.runner.hear(finished)

    line = text.partition("    lost()")[0].count("\n") + 1
    error = "NameError: name 'lost' is not defined"
    where = {"file": "experiment.py", "line": line, "error": error}
    shown = there.session.words.say("problems.own_error", where)
    settle(lambda: shown in [each.text() for each in there.place.findChildren(QLabel)])
