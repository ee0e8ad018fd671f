from __future__ import annotations

import itertools
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QPushButton

from app.reports.checkup_report import checkup_report
from app.reports.privacy import Include
from app.reports.writing import written
from app.runs.library import Kept
from app.runs.run_notes import RunNotes, read_notes
from app.window.core.background import Background
from app.window.core.listing import Listing
from app.window.core.target import CHECKUP, EXPERIMENTS, RUNS, Target
from app.window.runs import importing
from app.window.runs.place import RunsPlace
from experiments.checkup.result import encode
from experiments.memory.burst_random.experiment import Params
from machine.live import recorded_watch
from tests.app.checkup.made import checkup
from tests.app.recordings import burst, ladder, threads
from tests.app.reports.made import NOTES, report
from tests.gallery.live_samples import samples as watched
from tests.processes import PATIENCE_S
from widgets.runs.bin_look import BinLook
from widgets.runs.import_look import ImportLook
from widgets.sheets.question import Question
from widgets.sheets.report_sheet import ReportSheet

NOTHING = Qt.KeyboardModifier.NoModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
CTRL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


class Runs:
    """The place in a session whose background works, and all that it announces."""

    def __init__(self, qtbot, session):
        self.qtbot, self.session, self.library = qtbot, session, session.library
        session.background = Background()
        session.runner = SimpleNamespace(is_running=False, kept_as=None, close=lambda: None)
        session.watcher = SimpleNamespace(close=lambda: None)
        self.told, self.went, self.problems, self.undos = [], [], [], []
        session.noticed.connect(self._hear)
        session.went.connect(self.went.append)
        session.troubled.connect(self.problems.append)
        session.background.troubled.connect(session.troubled)

    def _hear(self, text, action, act):
        self.told.append(text)
        if action:
            assert action == self.session.words.say("runs.undo")
            self.undos.append(act)

    def show(self):
        self.place = RunsPlace(self.session)
        self.qtbot.addWidget(self.place)
        self.place.resize(1360, 850)
        with self.qtbot.waitExposed(self.place):
            self.place.show()
        self.place.activateWindow()
        self.place.arrive()
        self.table, self.details = self.place.table, self.place.details
        self.settle()
        self.table.setFocus()
        return self

    def settle(self):
        """Wait until all that was begun in the background has been done and shown."""
        for _ in range(3):  # what comes back may begin something more
            with self.qtbot.waitCallback() as done:
                self.session.background.do(lambda: None, done)
            with self.qtbot.waitCallback() as done:
                self.session.background.do_soon(lambda: None, done)

    def keep(self, *runs):
        """Put runs into the library; return the names of their files, as they were given."""
        folder = self.library.folder / "made"
        return [
            self.library.adopt(run.write(folder / f"{number}.coreopsis.jsonl")).name
            for number, run in enumerate(runs)
        ]

    def says(self):
        """Return the texts of the details that are seen."""
        labels = self.details.findChildren(QLabel)
        return [label.text() for label in labels if label.isVisible()]

    def keys(self):
        return [run.key for run in self.table.runs.shown]

    def selected(self):
        return [run.key for run in self.table.selected()]

    def press(self, key, modifier=Qt.KeyboardModifier.NoModifier):
        self.qtbot.keyClick(QApplication.focusWidget(), key, modifier)
        self.settle()

    def click(self, button):
        self.qtbot.mouseClick(button, LEFT)
        self.settle()

    def files(self, folder):
        return sorted(path.name for path in (self.library.folder / folder).glob("*"))


@pytest.fixture
def runs(qtbot, session):
    return Runs(qtbot, session)


def chooses(monkeypatch, **dialogs):
    """Let the dialogs of the system be answered by these functions."""
    asks = {
        "files": "place.run_files",
        "target": "sheets.new_file",
        "folder": "sheets.QFileDialog.getExistingDirectory",
    }
    for name, answer in dialogs.items():
        monkeypatch.setattr(f"app.window.runs.{asks[name]}", answer)


def four(runs):
    """Return the place with four runs, the newest first, and the names of their files."""
    names = runs.keep(
        *(burst(at=f"2026-03-0{day}T10:00:00+00:00") for day in (4, 3, 2)),
        ladder(at="2026-03-01T10:00:00+00:00"),
    )
    return runs.show(), names


# --- the list -----------------------------------------------------------------------------------


def test_it_lists_what_the_library_holds_and_shows_the_newest(runs):
    runs, names = four(runs)
    assert runs.keys() == names
    assert runs.selected() == [names[0]]
    assert runs.session.words.say("burst-random.question") in runs.says()
    (first, *_) = runs.table.runs.shown
    assert [(each.label, each.shown) for each in first.results] == [
        ("shuffled over in order", "20×"),
        ("chained over in order", "400×"),
    ]


def test_an_empty_library_leads_to_the_experiments(runs):
    runs.show()
    runs.click(runs.place.page.to_experiments_button)
    assert runs.went == [Target(EXPERIMENTS)]


def test_a_run_that_comes_is_listed_and_changes_nothing_else(runs):
    runs, names = four(runs)
    runs.table.select([names[2]])
    runs.details.note.setFocus()
    runs.qtbot.keyClicks(runs.details.note, "half a sent")
    (name,) = runs.keep(burst(at="2026-03-05T10:00:00+00:00"))
    runs.session.refresh_runs()
    runs.settle()

    assert runs.keys() == [name, *names]
    assert runs.selected() == [names[2]]
    assert runs.details.note.toPlainText() == "half a sent"
    assert runs.details.note.hasFocus()


def test_what_changes_while_another_place_is_shown_is_seen_on_return(runs):
    runs, names = four(runs)
    runs.place.leave()
    (name,) = runs.keep(burst(at="2026-03-05T10:00:00+00:00"))
    runs.session.refresh_runs()
    runs.settle()
    assert runs.keys() == names
    runs.place.arrive()
    runs.settle()
    assert runs.keys() == [name, *names]


def test_the_run_that_is_being_measured_is_not_listed_yet(runs):
    names = runs.keep(burst(), ladder())
    runs.session.runner.is_running = True
    runs.session.runner.kept_as = names[0]
    runs.show()
    assert runs.keys() == [names[1]]


def test_a_run_can_be_asked_for(runs):
    runs, names = four(runs)
    runs.place.open(Target(RUNS, run=Path("elsewhere") / names[2]))
    runs.settle()
    assert runs.selected() == [names[2]]


def test_settings_that_are_not_those_of_a_run_here_are_told(runs):
    entry = SimpleNamespace(params=Params(), quick_params=Params(rounds=2))
    runs.session.entries = {"burst-random": entry}
    params = Params(largest_bytes=entry.params.largest_bytes, rounds=3, huge_pages=True)
    runs.keep(burst(noise=(1.0,), params=params))
    runs.show()
    assert list(runs.table.runs.shown[0].settings) == ["Rounds 3", "Huge pages yes"]


def test_the_first_results_are_those_of_the_card(runs):
    values = {"large_bytes": 2.0**24, "thread_queue_large_s": 1e-4, "pipe_large_s": 0.1}
    run = Kept(
        run="a",
        path=Path("a"),
        experiment="talk-cost",
        at="2026-05-04T03:02:01+00:00",
        quick=False,
        outcome="completed",
        machine="",
        params={},
        message="threads_pass_a_reference",  # which begins with the size of the message
        values=values,
        notes=(),
        run_notes=RunNotes(),
        problem=None,
    )
    line = Listing(runs.session.words, runs.session.catalogue, {}).line(run)

    assert [each.value for each in line.results] == [1e-4, 0.1]


def test_a_run_without_those_says_what_it_found_of_a_part(runs):
    runs.keep(ladder(reaches=2**20))
    (run,) = runs.library.runs()
    line = Listing(runs.session.words, runs.session.catalogue, {}).line(run)

    assert line.results[0].label == "read from the L1 cache"


def test_a_run_of_an_experiment_that_is_not_known_is_listed_all_the_same(runs):
    runs.keep(burst(change=partial(msgspec.structs.replace, experiment="from-2030")))
    runs.show()
    (line,) = runs.table.runs.shown
    assert (line.title, list(line.results)) == ("from-2030", [])
    assert runs.details.isVisible()


def test_a_foreign_time_is_shown_as_it_is(runs):
    times = ("yesterday", "", "9999-99-99", "2026-03-01T10:00:00")
    runs.keep(*(burst(change=partial(msgspec.structs.replace, at=at)) for at in times))
    runs.show()
    assert len(runs.keys()) == len(times)


def test_a_damaged_file_is_one_sentence_and_can_be_deleted_and_nothing_else(runs):
    names = runs.keep(burst(at="2026-03-02T10:00:00+00:00"), ladder())
    path = runs.library.folder / "runs" / names[0]
    path.write_bytes(path.read_bytes().replace(b'"n":3', b'"n":4'))
    runs.show()
    runs.table.select([names[0]])

    (line,) = runs.table.selected()
    assert "damaged at line" in line.problem
    possible = {action.text() for action in runs.place.own_actions()}
    say = runs.session.words.say
    assert say("runs.delete_runs") in possible
    for key in ("open_run", "again_hint", "compare_runs", "rename", "pin_runs", "export_runs"):
        assert say(f"runs.{key}") not in possible
    for key in (Qt.Key.Key_Return, Qt.Key.Key_F2, Qt.Key.Key_P):
        runs.press(key)
    assert runs.went == []
    assert read_notes(path) == RunNotes()
    runs.press(Qt.Key.Key_Delete)
    assert runs.files("bin") == [names[0]]


# --- opening and comparing ----------------------------------------------------------------------


def test_a_run_is_opened_as_it_was_in_each_of_its_ways(runs):
    runs, names = four(runs)
    runs.table.select([names[3]])
    place = runs.table.visualRect(runs.table.runs.index(3, 2)).center()
    buttons, actions = runs.details.buttons, runs.place.actions_

    runs.press(Qt.Key.Key_Return)
    runs.press(Qt.Key.Key_R)
    runs.qtbot.mouseDClick(runs.table.viewport(), LEFT, pos=place)
    for button in (buttons.open, buttons.again, buttons.replay):
        runs.click(button)
    actions["runs.open_run"].trigger()

    path = runs.library.folder / "runs" / names[3]
    assert [went.then for went in runs.went] == ["", "replay", "", "", "measure", "replay", ""]
    assert all(
        went == Target(EXPERIMENTS, experiment="cache-ladder", run=path, then=went.then)
        for went in runs.went
    )


def test_two_runs_of_one_experiment_are_compared_the_newer_beside_the_older(runs):
    runs, names = four(runs)
    runs.table.select([names[0], names[2]])
    runs.click(runs.details.buttons.compare)
    runs.place.actions_["runs.compare_runs"].trigger()
    folder = runs.library.folder / "runs"
    older, newer = folder / names[2], folder / names[0]
    wanted = Target(EXPERIMENTS, experiment="burst-random", run=older, beside=newer)
    assert runs.went == [wanted, wanted]


def test_of_two_runs_it_is_said_which_is_which_however_they_were_chosen(runs):
    runs, names = four(runs)
    say, when = runs.session.words.say, [run.exact for run in runs.table.runs.shown]
    told = say("runs.compare_order", {"a": when[2], "b": when[0]})
    for chosen in ((names[0], names[2]), (names[2], names[0])):
        runs.table.select(chosen)
        assert told in runs.says()


def test_the_keys_and_the_mouse_select_several(runs):
    runs, names = four(runs)
    runs.press(Qt.Key.Key_Down, SHIFT)
    assert runs.selected() == names[:2]
    runs.press(Qt.Key.Key_A, CTRL)
    assert runs.selected() == names

    places = [runs.table.visualRect(runs.table.runs.index(row, 2)).center() for row in range(4)]
    for place, modifier in ((places[0], NOTHING), (places[3], CTRL), (places[2], CTRL)):
        runs.qtbot.mouseClick(runs.table.viewport(), LEFT, modifier, place)
    assert runs.selected() == [names[0], names[2], names[3]]
    runs.qtbot.mouseClick(runs.table.viewport(), LEFT, NOTHING, places[0])
    runs.qtbot.mouseClick(runs.table.viewport(), LEFT, SHIFT, places[2])
    assert runs.selected() == names[:3]


def test_several_are_pinned_by_their_button_and_stay_selected(runs):
    runs, names = four(runs)
    runs.table.select(names[1:3])
    runs.click(runs.details.buttons.pin)
    assert {run.key for run in runs.table.runs.shown if run.is_pinned} == set(names[1:3])
    assert runs.selected() == names[1:3]
    assert runs.details.buttons.pin.accessibleName() == runs.session.words.say("runs.unpin")
    runs.click(runs.details.buttons.pin)
    assert not any(run.is_pinned for run in runs.table.runs.shown)


def test_a_second_run_to_compare_with_is_chosen_without_holding_a_key(runs):
    runs, names = four(runs)
    runs.click(runs.details.buttons.compare_with)
    assert runs.session.words.say("runs.compare_ask") in runs.says()
    click_on(runs, 2)

    runs.table.select([names[0]])
    runs.click(runs.details.buttons.compare_with)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Return):
        runs.press(key)
    folder = runs.library.folder / "runs"
    pairs = [(went.run, went.beside) for went in runs.went]
    assert pairs == [(folder / names[2], folder / names[0])] * 2


def test_others_say_why_they_cannot_be_compared(runs):
    runs, names = four(runs)
    say = runs.session.words.say
    runs.place.actions_["runs.compare_with"].trigger()
    click_on(runs, 3)
    assert runs.went == []
    assert set(runs.selected()) == {names[0], names[3]}
    assert say("runs.compare_other") in runs.says()

    for chosen in ((0, 1, 3), (0, 3)):
        runs.table.select([names[number] for number in chosen])
        assert say("runs.compare_other") in runs.says()
        assert not runs.details.buttons.compare.isVisible()
        assert not runs.place.actions_["runs.compare_runs"].isEnabled()


def test_the_only_run_of_an_experiment_has_nothing_to_be_compared_with(runs):
    runs, names = four(runs)
    assert runs.details.buttons.compare_with.isEnabled()

    runs.table.select([names[3]])

    assert not runs.details.buttons.compare_with.isEnabled()
    assert not runs.place.actions_["runs.compare_with"].isEnabled()
    assert "No other run" in runs.details.buttons.compare_with.toolTip()


def test_comparing_can_be_left(runs):
    runs, names = four(runs)
    ways = (
        partial(runs.press, Qt.Key.Key_Escape),
        partial(runs.click, runs.details.buttons.leave),
        partial(click_on, runs, 0),
        runs.place.leave,
    )
    for leave in ways:
        runs.table.select([names[0]])
        runs.table.setFocus()
        runs.place.actions_["runs.compare_with"].trigger()
        runs.press(Qt.Key.Key_Down)
        leave()
        assert runs.selected() == [names[0]]
        assert runs.details.buttons.compare_with.isVisible()
        click_on(runs, 1)
        assert runs.went == []


def click_on(runs, row):
    place = runs.table.visualRect(runs.table.runs.index(row, 2)).center()
    runs.qtbot.mouseClick(runs.table.viewport(), LEFT, pos=place)
    runs.settle()


# --- what people say of a run -------------------------------------------------------------------


def test_a_run_is_renamed(runs):
    runs, names = four(runs)
    for name in ("Before the update", "Büro/№ 5 \\ <b>&amp;</b> \x00 {x} 漢字 😀", "."):
        runs.press(Qt.Key.Key_F2)
        assert runs.details.name.hasFocus()
        runs.details.name.setText(name)
        runs.press(Qt.Key.Key_Return)

        assert read_notes(runs.library.folder / "runs" / names[0]).name == runs.details.name.text()
        assert runs.table.runs.shown[0].title == runs.details.name.text()
        assert runs.details.name.text().startswith(name[:5])
    assert runs.problems == []


def test_note_and_tags_are_kept_and_the_rest_of_what_was_said_stays(runs):
    runs, names = four(runs)
    first = runs.library.runs()[0]
    runs.library.describe(first, RunNotes(name="mine", pinned=True))
    runs.session.refresh_runs()
    runs.settle()
    runs.details.note.setPlainText("two\nlines")
    runs.details.tags.setText("office, hot day")
    runs.details.note.setFocus()
    runs.table.setFocus()
    runs.settle()

    assert read_notes(first.path) == RunNotes(
        name="mine",
        note="two\nlines",
        tags=["office", "hot day"],
        pinned=True,
    )
    assert [run.key for run in runs.table.runs.shown if "office" in run.tags] == [names[0]]


def test_a_note_and_a_pin_right_after_it_both_remain(runs):
    runs, names = four(runs)
    runs.details.note.setFocus()
    runs.qtbot.keyClicks(runs.details.note, "hot")
    runs.details.hand_on()
    runs.place.actions_["runs.pin_runs"].trigger()
    runs.details.tags.setText("office")
    runs.details.hand_on()
    runs.settle()

    path = runs.library.folder / "runs" / names[0]
    assert read_notes(path) == RunNotes(note="hot", tags=["office"], pinned=True)


def test_a_note_on_a_run_that_is_deleted_at_once_goes_with_it(runs):
    runs, names = four(runs)
    runs.details.note.setFocus()
    runs.qtbot.keyClicks(runs.details.note, "hot")
    runs.place.actions_["runs.delete_runs"].trigger()
    runs.settle()
    runs.details.hand_on()
    runs.settle()

    assert read_notes(runs.library.folder / "bin" / names[0]).note == "hot"
    assert len(runs.files("runs")) == 3


def test_what_was_typed_is_kept_when_the_place_is_left(runs):
    runs, names = four(runs)
    runs.details.name.setFocus()
    runs.qtbot.keyClicks(runs.details.name, "new")
    runs.place.leave()
    runs.settle()
    assert read_notes(runs.library.folder / "runs" / names[0]).name == "new"


def test_a_library_that_cannot_be_written_is_one_sentence_and_what_was_typed_stays(
    runs, monkeypatch
):
    runs, names = four(runs)

    def full(path, data):
        raise OSError(28, "No space left on device")

    # The tests run as root too, for whom no folder is read-only.
    monkeypatch.setattr("app.runs.run_notes.write_whole", full)
    runs.details.name.setFocus()
    runs.qtbot.keyClicks(runs.details.name, "new")
    runs.press(Qt.Key.Key_Return)
    assert "No space left on device" in "".join(runs.says())
    assert runs.details.name.text() == "new"
    runs.session.refresh_runs()
    runs.settle()
    assert runs.details.name.text() == "new"

    monkeypatch.undo()
    runs.press(Qt.Key.Key_Return)
    assert "No space left on device" not in "".join(runs.says())
    assert read_notes(runs.library.folder / "runs" / names[0]).name == "new"


def test_runs_are_pinned_and_unpinned(runs):
    runs, names = four(runs)
    runs.table.select([names[2]])

    def by_mouse():
        row = runs.table.runs.row_of(names[2])
        place = runs.table.visualRect(runs.table.runs.index(row, 0)).center()
        runs.qtbot.mouseClick(runs.table.viewport(), LEFT, pos=place)

    ways = (
        partial(runs.press, Qt.Key.Key_P),
        by_mouse,
        partial(runs.click, runs.details.buttons.pin),
        runs.place.actions_["runs.pin_runs"].trigger,
    )
    for pin in ways:
        pin()
        runs.settle()
        assert runs.keys() == [names[2], names[0], names[1], names[3]]
        assert runs.selected() == [names[2]]
        pin()
        runs.settle()
        assert runs.keys() == names


def test_a_click_on_a_button_leaves_the_list_its_keys(runs):
    runs, names = four(runs)
    runs.table.select([names[2]])
    runs.details.name.setFocus()
    runs.qtbot.mouseClick(runs.details.buttons.pin, LEFT)
    runs.settle()
    assert runs.keys()[0] == names[2]

    runs.qtbot.keyClick(runs.place.window().focusWidget(), Qt.Key.Key_P)
    runs.settle()

    assert runs.keys() == names


def test_what_is_typed_after_a_click_beside_a_field_opens_no_run(runs):
    runs, names = four(runs)
    runs.table.select([names[2]])
    runs.table.setFocus()
    labels = (each for each in runs.details.findChildren(QLabel) if each.isVisible())
    finding = next(each for each in labels if "Shuffled reads" in each.text())
    runs.qtbot.mouseClick(finding, LEFT)
    for key in (Qt.Key.Key_P, Qt.Key.Key_R, Qt.Key.Key_Return):
        runs.qtbot.keyClick(runs.place.window().focusWidget(), key)
    runs.settle()

    assert runs.keys() == names
    assert runs.went == []


def test_of_several_runs_all_are_pinned_before_any_is_unpinned(runs):
    runs, names = four(runs)
    runs.table.select([names[1]])
    runs.press(Qt.Key.Key_P)
    runs.table.select([names[1], names[3]])
    runs.press(Qt.Key.Key_P)
    assert runs.keys() == [names[1], names[3], names[0], names[2]]
    runs.press(Qt.Key.Key_P)
    assert runs.keys() == names


def test_letters_that_are_typed_do_not_pin(runs):
    runs, _ = four(runs)
    runs.details.name.setFocus()
    runs.qtbot.keyClicks(runs.details.name, "p")
    runs.settle()
    assert runs.details.name.text() == "p"
    assert not any(run.is_pinned for run in runs.table.runs.shown)


# --- deleting -----------------------------------------------------------------------------------


def test_a_deleted_run_goes_to_the_bin_and_comes_back_with_all_that_was_said_of_it(runs):
    runs, names = four(runs)
    runs.library.describe(runs.library.runs()[1], RunNotes(name="mine"))
    runs.table.select([names[1]])
    deletes = (
        partial(runs.press, Qt.Key.Key_Delete),
        partial(runs.click, runs.details.buttons.delete),
        runs.place.actions_["runs.delete_runs"].trigger,
    )
    undoes = (lambda: runs.undos[-1](), partial(runs.press, Qt.Key.Key_Z, CTRL))
    for delete, undo in zip(deletes, itertools.cycle(undoes)):
        runs.told.clear()
        delete()
        runs.settle()
        assert runs.keys() == [names[0], names[2], names[3]]
        assert runs.selected() == [names[2]]
        assert names[1] in runs.files("bin")
        assert len(runs.told) == 1

        undo()
        runs.settle()
        assert runs.keys() == names
        assert runs.selected() == [names[1]]
        assert read_notes(runs.library.folder / "runs" / names[1]).name == "mine"
        assert runs.files("bin") == []
        assert not runs.place.archive.can_undo
        assert runs.told[-1] == runs.session.words.say("runs.back", {"count": 1})


def test_the_menu_of_the_list_offers_what_can_be_done_and_undone(runs):
    runs, _ = four(runs)
    say, offers = runs.session.words.say, {each.text() for each in offered(runs)}
    undo = say("runs.undo_delete")
    assert {say("runs.open_run"), say("runs.delete_runs")} <= offers
    assert not {say("runs.compare_runs"), undo} & offers
    runs.press(Qt.Key.Key_Delete)
    (action,) = [each for each in offered(runs) if each.text() == undo]
    action.trigger()
    runs.settle()
    assert len(runs.keys()) == 4


def test_what_an_earlier_window_deleted_comes_back(runs):
    names = runs.keep(burst(at="2026-03-04T10:00:00"), ladder(), threads())
    for run in runs.library.runs():
        runs.library.delete(run)
    runs.show()
    runs.place.actions_["runs.restore"].trigger()
    runs.settle()
    (sheet,) = runs.place.window().findChildren(BinLook)
    assert list(sheet.checks) == runs_of(names, runs.library.deleted())
    assert sheet.back_button.text() == runs.session.words.say("runs.bin_all", {"count": 3})

    sheet.checks[names[0]].click()
    assert sheet.back_button.text() == runs.session.words.say("runs.bin_some", {"count": 1})
    runs.click(sheet.back_button)

    assert runs.keys() == [names[0]]
    assert runs.selected() == [names[0]]
    assert runs.problems == []


def runs_of(names, deleted):
    assert {run.path.name for run in deleted} == set(names)
    return [run.path.name for run in deleted]


def test_what_came_back_from_the_bin_cannot_be_undone_once_more(runs):
    runs, names = four(runs)
    runs.table.select(names[:2])
    runs.press(Qt.Key.Key_Delete)
    runs.place.archive.restore([run for run in runs.library.deleted() if run.path.name == names[0]])
    runs.settle()
    assert runs.place.archive.can_undo
    runs.press(Qt.Key.Key_Z, CTRL)
    assert runs.keys() == names
    assert not runs.place.archive.can_undo
    assert runs.problems == []


def test_several_are_deleted_and_brought_back_at_once(runs):
    runs, names = four(runs)
    runs.press(Qt.Key.Key_A, CTRL)
    runs.press(Qt.Key.Key_Delete)
    assert runs.keys() == []
    assert runs.place.page.to_experiments_button.isVisible()
    assert runs.told == [runs.session.words.say("runs.deleted", {"count": 4})]
    runs.place.actions_["runs.undo_delete"].trigger()
    runs.settle()
    assert runs.keys() == names
    assert sorted(runs.selected()) == sorted(names)


def test_two_deletions_are_undone_one_after_the_other(runs):
    runs, names = four(runs)
    runs.press(Qt.Key.Key_Delete)
    runs.press(Qt.Key.Key_Delete)
    assert runs.keys() == names[2:]
    runs.press(Qt.Key.Key_Z, CTRL)
    assert runs.keys() == names[1:]
    runs.press(Qt.Key.Key_Z, CTRL)
    assert runs.keys() == names
    runs.press(Qt.Key.Key_Z, CTRL)
    for undo in runs.undos:
        undo()
    runs.settle()
    assert runs.keys() == names
    assert runs.problems == []


def test_a_notice_undoes_its_own_deletion_in_whatever_order(runs):
    runs, names = four(runs)
    runs.press(Qt.Key.Key_Delete)
    runs.press(Qt.Key.Key_Delete)
    runs.undos[0]()
    runs.settle()
    assert runs.keys() == [names[0], names[2], names[3]]
    runs.press(Qt.Key.Key_Z, CTRL)
    assert runs.keys() == names


def test_deleting_and_undoing_faster_than_the_disk_ends_well(runs):
    runs, names = four(runs)
    delete, undo = runs.place.actions_["runs.delete_runs"], runs.place.actions_["runs.undo_delete"]
    delete.trigger()
    undo.trigger()
    delete.trigger()
    runs.settle()
    undo.trigger()
    runs.settle()
    assert runs.keys() == names
    assert runs.problems == []


def test_a_run_that_somebody_else_deleted_is_one_sentence(runs):
    runs, names = four(runs)
    (runs.library.folder / "runs" / names[0]).unlink()
    runs.press(Qt.Key.Key_Delete)
    assert [problem.key for problem in runs.problems] == ["library_unwritable"]
    assert runs.keys() == names[1:]
    assert not runs.place.archive.can_undo


def test_in_a_field_undo_belongs_to_the_text(runs):
    runs, names = four(runs)
    runs.press(Qt.Key.Key_Delete)
    runs.details.name.setFocus()
    runs.qtbot.keyClicks(runs.details.name, "x")
    runs.press(Qt.Key.Key_Z, CTRL)
    assert runs.details.name.text() == ""
    assert runs.keys() == names[1:]


def bin_question(runs):
    runs.place.actions_["runs.empty_bin"].trigger()
    runs.settle()
    return runs.place.findChild(Question)


def test_the_bin_is_emptied_after_a_question_that_says_how_many(runs):
    runs, names = four(runs)
    runs.table.select(names[:3])
    runs.press(Qt.Key.Key_Delete)
    asked = bin_question(runs)
    say = runs.session.words.say
    assert asked.accessibleName() == say("runs.empty_bin_question", {"count": 3})
    runs.qtbot.mouseClick(asked.buttons["leave"], LEFT)
    runs.settle()
    assert len(runs.files("bin")) == 3

    asked = bin_question(runs)
    runs.qtbot.mouseClick(asked.buttons["empty"], LEFT)
    runs.settle()
    assert runs.files("bin") == []
    assert runs.told[-1] == say("runs.bin_emptied", {"count": 3})
    assert not runs.place.actions_["runs.undo_delete"].isEnabled()
    runs.undos[0]()
    runs.settle()
    assert runs.problems == []
    assert runs.keys() == names[3:]


def test_an_empty_bin_has_nothing_to_restore_and_is_not_asked_about(runs):
    runs, _ = four(runs)
    runs.place.actions_["runs.restore"].trigger()
    assert bin_question(runs) is None
    assert runs.told == [runs.session.words.say("runs.bin_is_empty")] * 2


# --- going elsewhere ----------------------------------------------------------------------------


def test_a_run_is_exported_to_the_file_that_is_chosen(runs, tmp_path, monkeypatch):
    runs, names = four(runs)
    asked, target = [], tmp_path / "x.coreopsis.jsonl.gz"

    def choose(_session, _parent, _title, _kinds, suggested):
        asked.append(suggested)
        return target

    chooses(monkeypatch, target=choose)
    ways = (
        partial(runs.press, Qt.Key.Key_E, CTRL),
        partial(runs.click, runs.details.buttons.export),
        runs.place.actions_["runs.export_runs"].trigger,
    )
    for export in ways:
        target.unlink(missing_ok=True)
        export()
        runs.settle()
        assert target.read_bytes()[:2] == b"\x1f\x8b"
    assert asked == [names[0]] * 3
    assert (
        runs.told
        == [runs.session.words.say("runs.exported", {"count": 1, "path": str(target)})] * 3
    )


def test_exports_get_the_ending_that_import_lists_or_go_into_a_folder(runs, tmp_path, monkeypatch):
    runs, names = four(runs)
    chooses(monkeypatch, target=lambda *_: tmp_path / "bigpages.jsonl")
    runs.place.actions_["runs.export_runs"].trigger()
    runs.settle()
    assert [path.name for path in tmp_path.glob("bigpages*")] == ["bigpages.coreopsis.jsonl"]

    folder = tmp_path / "out"
    folder.mkdir()
    chooses(monkeypatch, folder=lambda *_: folder)
    runs.table.select(names[:2])
    runs.place.actions_["runs.export_runs"].trigger()
    runs.settle()
    assert sorted(path.name for path in folder.iterdir()) == sorted(names[:2])


def test_a_place_that_cannot_be_written_is_one_sentence(runs, tmp_path, monkeypatch):
    runs, _ = four(runs)
    chooses(monkeypatch, target=lambda *_: tmp_path / "missing" / "x.jsonl")
    runs.place.actions_["runs.export_runs"].trigger()
    runs.settle()
    assert [problem.key for problem in runs.problems] == ["not_exported"]
    assert runs.told == []


def test_who_chooses_no_file_after_all_exports_and_imports_nothing(runs, monkeypatch):
    runs, names = four(runs)
    chooses(monkeypatch, target=lambda *_: None)
    chooses(monkeypatch, folder=lambda *_: None)
    chooses(monkeypatch, files=lambda *_: [])
    runs.place.actions_["runs.export_runs"].trigger()
    runs.press(Qt.Key.Key_A, CTRL)
    runs.place.actions_["runs.export_runs"].trigger()
    runs.place.actions_["runs.import_runs"].trigger()
    runs.settle()
    assert (runs.told, runs.problems) == ([], [])
    assert runs.keys() == names


# --- coming from elsewhere ----------------------------------------------------------------------


def bring(runs, *paths):
    """Drop files and return the sheet that shows what is inside."""
    runs.place.page.files_dropped.emit(list(paths))
    runs.settle()
    return runs.place.findChild(ImportLook)


def test_checkups_are_shown_in_their_own_place(runs, tmp_path):
    runs, _ = four(runs)
    document = checkup_report(runs.session.words, checkup(), Include())
    report, plain = tmp_path / "report.coreopsis.html", tmp_path / "plain.json"
    report.write_bytes(written(document, "html", runs.session.words))
    plain.write_bytes(encode(checkup()))
    run = threads().write(tmp_path / "x.coreopsis.jsonl")

    assert bring(runs, report, plain) is None
    assert runs.went == [Target(CHECKUP, files=(report, plain))]
    assert bring(runs, report, run) is not None
    assert len(runs.went) == 1


def test_a_file_is_shown_before_it_is_kept(runs, tmp_path, monkeypatch):
    runs, names = four(runs)
    path = threads(at="2026-03-02T20:00:00+00:00").write(tmp_path / "x.coreopsis.jsonl.gz")
    chooses(monkeypatch, files=lambda *_: [path])
    runs.press(Qt.Key.Key_O, CTRL)
    runs.place.findChild(ImportLook).dismiss()
    runs.click(runs.place.page.import_button)
    runs.place.findChild(ImportLook).dismiss()
    runs.settle()
    sheet = bring(runs, path)
    assert len(runs.files("runs")) == 4
    runs.qtbot.mouseClick(sheet.keep_button, LEFT)
    runs.settle()

    assert len(runs.files("runs")) == 5
    (name,) = set(runs.keys()) - set(names)
    assert runs.selected() == [name]
    assert runs.told == [runs.session.words.say("import.kept", {"count": 1})]
    assert path.exists()


def test_a_file_that_is_only_looked_at_stays_where_it_is(runs, tmp_path):
    runs, _ = four(runs)
    path = threads().write(tmp_path / "x.coreopsis.jsonl")
    sheet = bring(runs, path)
    runs.qtbot.mouseClick(sheet.look_button, LEFT)
    runs.settle()
    assert runs.went == [Target(EXPERIMENTS, experiment="gil-threads", run=path)]
    assert len(runs.files("runs")) == 4


def test_a_dropped_report_is_shown_kept_and_opened_like_a_run_file(runs, tmp_path):
    runs, names = four(runs)
    path = tmp_path / "x.coreopsis.html"
    document = report(tmp_path, threads(at="2026-03-02T20:00:00+00:00"))
    path.write_bytes(written(document, "html", runs.session.words))

    runs.place.open(Target(RUNS, files=(path,)))
    runs.settle()
    sheet = runs.place.findChild(ImportLook)
    runs.qtbot.mouseClick(sheet.look_button, LEFT)
    runs.settle()
    assert runs.went == [Target(EXPERIMENTS, experiment="gil-threads", run=path)]

    sheet = bring(runs, path)
    runs.qtbot.mouseClick(sheet.keep_button, LEFT)
    runs.settle()
    (name,) = set(runs.keys()) - set(names)
    assert runs.selected() == [name]
    notes = read_notes(runs.library.folder / "runs" / name)
    assert (notes.name, notes.note) == (NOTES.name, NOTES.note)


def test_a_report_has_the_note_that_was_just_typed(runs):
    runs, _ = four(runs)
    runs.details.note.setFocus()
    runs.qtbot.keyClicks(runs.details.note, "just typed")

    runs.place.actions_["report.of_run"].trigger()
    runs.qtbot.waitUntil(lambda: runs.place.window().findChild(ReportSheet) is not None)

    sheet = runs.place.window().findChild(ReportSheet)
    sheet.checks["note"].click()
    runs.qtbot.waitUntil(lambda: "just typed" in sheet.text.toPlainText())


def test_a_report_is_of_one_run(runs):
    runs, _ = four(runs)
    assert runs.place.actions_["report.of_run"].isEnabled()
    assert runs.details.buttons.report.isVisible()
    runs.table.selectAll()
    assert not runs.place.actions_["report.of_run"].isEnabled()
    assert not runs.details.buttons.report.isVisible()


def test_a_file_of_live_says_what_it_is_for(runs, tmp_path):
    runs, _ = four(runs)
    path = tmp_path / "minute.coreopsis-watch.jsonl"
    samples = [msgspec.to_builtins(sample) for sample in watched(3, seconds=30)]
    recorded_watch.write(path, samples, at="2026-11-20T10:00:00", machine=None)
    torn = tmp_path / "torn.coreopsis-watch.jsonl"
    torn.write_bytes(b"{")

    sheet = bring(runs, path, torn)

    told = "\n".join(each.text() for each in sheet.findChildren(QLabel))
    assert "30 s of Live, saved on 20 November 2026 10:00:00." in told
    assert "torn.coreopsis-watch.jsonl cannot be shown" in told


def test_good_damaged_foreign_and_newer_files_and_folders_come_together(runs, tmp_path):
    runs, _ = four(runs)
    good = threads().write(tmp_path / "good.coreopsis.jsonl")
    data = burst().data
    for name, change in (
        ("damaged.jsonl", data.replace(b'"n":3', b'"n":4')),
        ("foreign.txt", b"hello"),
        ("newer.jsonl", data.replace(b'"version":1', b'"version":9', 1)),
        ("empty.jsonl", b""),
    ):
        (tmp_path / name).write_bytes(change)
    ladder().write(tmp_path / "folder" / "deep" / "in.coreopsis.jsonl")
    (tmp_path / "nothing").mkdir()
    paths = [good, *(tmp_path / name for name in (
        "damaged.jsonl", "foreign.txt", "newer.jsonl", "empty.jsonl", "folder", "nothing", "gone",
    ))]  # fmt: skip

    sheet = bring(runs, *paths)

    told = "\n".join(each.text() for each in sheet.findChildren(QLabel))
    for text in (
        "good.coreopsis.jsonl", "is damaged at line", "is not a run of Coreopsis",
        "made by a newer Coreopsis", "holds no run", "in.coreopsis.jsonl",
        "a folder without run files", "There is no file",
    ):  # fmt: skip
        assert text in told, text
    runs.qtbot.mouseClick(sheet.keep_button, LEFT)
    runs.settle()
    assert len(runs.files("runs")) == 6
    assert len(runs.selected()) == 2
    assert runs.problems == []


@pytest.mark.parametrize("names", [[], ["a.txt"]])
def test_a_folder_without_end_is_not_looked_through_to_its_end(runs, monkeypatch, names):
    def walk(folder):
        while True:
            yield str(folder), [], names

    monkeypatch.setattr(importing.os, "walk", walk)

    (found,) = importing.look_inside([Path("/")], [], runs.session.words, Listing({}, {}, {}))
    assert found.experiment == ""


def test_a_run_that_is_here_already_says_so_and_is_shown_instead(runs, tmp_path):
    run = burst(at="2026-03-04T10:00:00+00:00")
    name, other = runs.keep(run, burst(at="2026-03-04T11:00:00+00:00"))
    runs.show()
    runs.table.select([other])
    runs.place.page.search.setText("nothing such")
    path = run.write(tmp_path / "again.coreopsis.jsonl.gz")
    sheet = bring(runs, path)
    told = [each.text() for each in sheet.findChildren(QLabel)]
    assert any("Already in your library" in text for text in told)
    assert not sheet.keep_button.isVisible()
    runs.qtbot.mouseClick(sheet.show_button, LEFT)
    runs.settle()
    assert set(runs.keys()) == {name, other}
    assert runs.selected() == [name]
    assert runs.told == []


def test_a_run_whose_file_was_changed_says_so_beside_the_list(runs):
    (name,) = runs.keep(burst())
    path = runs.library.folder / "runs" / name
    path.write_bytes(path.read_bytes().replace(b'"repeat":3', b'"repeat":4'))
    runs.show()
    runs.table.select([name])
    told = [each.text() for each in runs.details.findChildren(QLabel)]
    assert any("file was changed" in text for text in told)


def test_a_run_of_which_only_the_beginning_is_here_takes_its_place(runs, tmp_path):
    run = burst(at="2026-03-04T10:00:00+00:00")
    (name,) = runs.keep(run)
    path = runs.library.folder / "runs" / name
    path.write_bytes(b"".join(run.lines[:10]))
    runs.show()
    sheet = bring(runs, run.write(tmp_path / "rescued.coreopsis.jsonl"))
    told = [each.text() for each in sheet.findChildren(QLabel)]
    assert any("only its beginning" in text for text in told)
    runs.qtbot.mouseClick(sheet.keep_button, LEFT)
    runs.settle()
    assert path.read_bytes() == run.data
    assert runs.keys() == [name]


def test_a_file_that_vanishes_after_the_look_is_one_sentence(runs, tmp_path):
    runs, names = four(runs)
    path = threads().write(tmp_path / "x.coreopsis.jsonl")
    sheet = bring(runs, path)
    path.unlink()
    runs.qtbot.mouseClick(sheet.keep_button, LEFT)
    runs.settle()
    assert [problem.key for problem in runs.problems] == ["recording_missing"]
    assert runs.keys() == names


# --- everything at hand -------------------------------------------------------------------------


def test_every_action_and_button_has_words_and_keys_are_its_own(runs):
    runs, _ = four(runs)
    actions = runs.place.actions_.findChildren(QAction)
    keys = [each.shortcut().toString() for each in actions if not each.shortcut().isEmpty()]
    assert len(keys) == len(set(keys)) == 11
    assert all(each.text() for each in actions)
    assert set(runs.place.own_actions()) <= set(actions)

    buttons = [each for each in runs.place.findChildren(QPushButton) if each.isVisible()]
    assert len(buttons) >= 5
    assert all(each.accessibleName() or each.text() for each in buttons)

    runs.press(Qt.Key.Key_F, CTRL)
    assert runs.place.page.search.hasFocus()


def offered(runs):
    """Return what the menu of the list offers."""
    runs.table.menu_asked.emit(QPoint(5, 5))
    menu = [each for each in runs.place.findChildren(QMenu) if each.isVisible()][-1]
    found = [each for each in menu.actions() if each.text() and each.isEnabled()]
    menu.close()
    return found


def test_the_index_is_made_anew_on_request(runs):
    runs, names = four(runs)
    (runs.library.folder / "index.sqlite3").write_bytes(b"nonsense" * 1000)
    runs.place.actions_["runs.rebuild"].trigger()
    runs.settle()
    assert runs.keys() == names
    assert runs.told == [runs.session.words.say("runs.rebuilt")]


def test_another_look_reaches_everything(worn, runs):
    from widgets.style import theme

    runs, _ = four(runs)
    before = runs.place.grab().toImage()
    runs.session.look.wear(theme.load("light", 1.3))
    after = runs.place.grab().toImage()
    assert before.pixelColor(300, 500) != after.pixelColor(300, 500)


def test_the_library_is_read_while_the_window_goes_on(runs, monkeypatch):
    runs, names = four(runs)
    (name,) = runs.keep(burst(at="2026-03-05T10:00:00+00:00"))
    is_reading, may_go_on = threading.Event(), threading.Event()
    read = runs.library.runs

    def slow():
        is_reading.set()
        assert may_go_on.wait(PATIENCE_S)
        return read()

    monkeypatch.setattr(runs.library, "runs", slow)
    runs.session.refresh_runs()
    runs.qtbot.waitUntil(is_reading.is_set)

    runs.qtbot.keyClick(runs.table, Qt.Key.Key_Down)
    assert runs.selected() == [names[1]]
    assert runs.keys() == names
    may_go_on.set()
    runs.settle()
    assert runs.keys() == [name, *names]


def test_the_lines_of_the_list_are_made_outside_the_thread_of_the_window(runs, monkeypatch):
    made_by, line = set(), Listing.line

    def noted(self, run):
        made_by.add(threading.current_thread())
        return line(self, run)

    monkeypatch.setattr(Listing, "line", noted)
    four(runs)
    assert made_by
    assert threading.main_thread() not in made_by
