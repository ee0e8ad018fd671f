"""A run that is opened again stands as it was left."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtWidgets import QApplication, QLabel

from app.runs.run_notes import LeftAs, RunNotes, notes_path, read_notes
from app.window.experiment.status_text import State
from experiments.core import words
from tests.app.recordings import burst
from tests.app.window.stage import found, live_s, settle
from widgets.experiment.side_column import SideColumn, Tab

ENGLISH = words.load("en")


@pytest.fixture
def kept(stage):
    """Return the files of two runs of here, the newer first."""
    here = stage.session.machine = msgspec.structs.replace(
        stage.session.machine, fingerprint="here"
    )
    days = ("2026-05-04", "2026-05-03")
    return stage.keep(*(burst(here=here, at=f"{day}T03:02:01+00:00") for day in days))


def opened(stage, path):
    stage.page.open_run(path)
    settle(lambda: stage.page.model.state is State.ENDED and stage.page.model.path == path)
    live_s(0.3)  # what nobody sees is filled later


def tab(stage):
    return found(stage.page, SideColumn).tab


def test_side_tab_and_plot_come_back_with_their_run(stage, kept):
    one, other = kept
    opened(stage, one)
    stage.do.data.trigger()
    found(stage.page, SideColumn).choose(Tab.SETTINGS)
    stage.plots[1].setFocus()
    stage.views.place = 1

    opened(stage, other)
    settle(lambda: read_notes(one).left_as is not None)
    stage.use_runs()
    assert read_notes(one).left_as == LeftAs(side="data", tab="settings", view="useful")
    assert not stage.do.data.isChecked()
    stage.views.place = 0

    opened(stage, one)
    settle(lambda: tab(stage) is Tab.SETTINGS)
    assert stage.do.data.isChecked()
    assert stage.views.place == 1


def test_what_is_left_as_it_came_writes_nothing(stage, kept):
    opened(stage, kept[1])
    stage.page.leave()
    live_s(0.2)
    assert not any(notes_path(path).exists() for path in kept)


def test_what_was_said_of_the_run_stays(stage, kept):
    notes_path(kept[0]).write_bytes(msgspec.json.encode(RunNotes(name="mine", tags=["a"])))
    stage.use_runs()
    opened(stage, kept[0])
    stage.do.code.trigger()
    stage.page.leave()
    settle(lambda: read_notes(kept[0]).left_as is not None)
    assert read_notes(kept[0]) == RunNotes(name="mine", tags=["a"], left_as=LeftAs(side="code"))


def test_notes_that_name_nothing_known_change_nothing(stage, kept):
    left = LeftAs(side="elsewhere", tab="none", view="none")
    notes_path(kept[0]).write_bytes(msgspec.json.encode(RunNotes(left_as=left)))
    stage.use_runs()
    opened(stage, kept[0])
    assert stage.do.plot.isChecked()
    assert tab(stage) is Tab.RESULT


def test_its_note_is_read_on_its_page(stage, kept):
    note = "window open, " * 40
    notes_path(kept[0]).write_bytes(msgspec.json.encode(RunNotes(note=note)))
    stage.use_runs()
    opened(stage, kept[0])
    QApplication.processEvents()
    said = [each.text() for each in stage.page.findChildren(QLabel) if each.isVisible()]
    (told,) = [text for text in said if "window open" in text]
    assert ENGLISH.say("page.note", {"note": "window open"}) in told
    assert len(told) < len(note)
