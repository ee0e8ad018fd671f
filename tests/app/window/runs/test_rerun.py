"""Runs again with the settings of another run: what will differ, and what cannot be here."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.window.core.target import EXPERIMENTS, Target
from app.window.runs import rerun as again
from experiments.engine.environment import environment
from experiments.memory.stream.experiment import Params as StreamParams
from tests.app.recordings import burst, made, many_small
from tests.app.window.runs.test_place import LEFT, Runs
from tests.experiments.machines import machine
from widgets.runs.import_look import ImportLook
from widgets.sheets.question import Question

SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def runs(qtbot, session):
    session.machine = msgspec.structs.replace(machine(), fingerprint="here")
    return Runs(qtbot, session)


def of(**changes):
    """Return a change of the first line of a run."""
    return lambda started: msgspec.structs.replace(started, **changes)


def here():
    return msgspec.structs.replace(machine(), fingerprint="here")


def asked(runs):
    """Return the question that is open, and its texts."""
    found = [each for each in runs.place.window().findChildren(Question) if each.isVisible()]
    (sheet,) = found
    return sheet, [each.text() for each in sheet.findChildren(QLabel) if each.isVisible()]


def target(runs, name, then):
    return Target(
        EXPERIMENTS, experiment="burst-random", run=runs.library.folder / "runs" / name, then=then
    )


def test_a_run_of_here_is_run_again_without_a_question(runs):
    (name,) = runs.keep(burst(here=here()))
    runs.show()
    runs.press(Qt.Key.Key_R, SHIFT)
    assert runs.went == [target(runs, name, "measure")]


def test_what_will_differ_is_said_first(runs):
    libraries = {**environment()["libraries"], "numba": "0.1"}
    environment_then = {"python": "3.8.1", "libraries": libraries}
    there = msgspec.structs.replace(machine(), fingerprint="there")
    (name,) = runs.keep(burst(here=there, change=of(environment=environment_then)))
    runs.show()
    runs.click(runs.details.buttons.again)
    sheet, told = asked(runs)
    (told,) = [text for text in told if "\n" in text]
    say = runs.session.words.say
    now = environment()
    assert told.split("\n") == [
        say("again.other_machine", {"then": "Test CPU", "here": "Test CPU"}),
        say("again.other_library", {"name": "python", "before": "3.8.1", "after": now["python"]}),
        say(
            "again.other_library",
            {"name": "numba", "before": "0.1", "after": now["libraries"]["numba"]},
        ),
    ]
    assert runs.went == []

    runs.click(sheet.buttons["run"])
    assert runs.went == [target(runs, name, "measure")]


def test_who_says_no_runs_nothing_and_who_only_looks_opens_it(runs):
    there = msgspec.structs.replace(machine(), fingerprint="there")
    (name,) = runs.keep(burst(here=there))
    runs.show()
    runs.click(runs.details.buttons.again)
    runs.qtbot.keyClick(asked(runs)[0], Qt.Key.Key_Escape)
    assert runs.went == []
    runs.click(runs.details.buttons.again)
    runs.click(asked(runs)[0].buttons["show"])
    assert runs.went == [target(runs, name, "")]


def test_more_threads_than_here_are_said(runs):
    there = machine()
    count = len(there.cpu.threads_list)
    few = msgspec.structs.replace(
        here(), cpu=msgspec.structs.replace(there.cpu, threads_list=there.cpu.threads_list[:1])
    )
    assert count > 1
    runs.session.machine = few
    runs.keep(made("stream", StreamParams(threads=count), [], here=here()))
    runs.show()
    runs.click(runs.details.buttons.again)
    say, (_, told) = runs.session.words.say, asked(runs)
    values = {"name": say("stream.params.threads"), "value": str(count), "count": 1}
    assert say("again.more_threads", values) in told


def refused(runs, run):
    """Try to run the same; return the sentence that says why it cannot be."""
    runs.keep(run)
    runs.show()
    runs.click(runs.details.buttons.again)
    sheet, told = asked(runs)
    assert runs.session.words.say("again.cannot") in told
    assert "run" not in sheet.buttons
    return told[1]


def test_a_device_that_is_missing_is_said(runs):
    told = refused(runs, many_small("cuda:0", here=here()))
    assert "cuda:0" in told


def test_memory_that_is_missing_is_said(runs, monkeypatch):
    monkeypatch.setattr(again, "available_bytes", lambda: 1000)
    told = refused(runs, burst(here=here()))
    assert "1000 B" in told or "1,000" in told or "free" in told


def test_settings_of_another_version_are_said(runs):
    told = refused(runs, burst(here=here(), change=of(params={"unknown": 1})))
    assert "unknown" in told


def test_a_file_from_elsewhere_is_run_here_and_compared(runs, tmp_path):
    path = burst(here=here()).write(tmp_path / "theirs.coreopsis.jsonl")
    runs.show()
    runs.place.page.files_dropped.emit([path])
    runs.settle()
    (sheet,) = runs.place.window().findChildren(ImportLook)
    runs.qtbot.mouseClick(sheet.same_button, LEFT)
    runs.settle()
    wanted = Target(EXPERIMENTS, experiment="burst-random", run=path, then="compare")
    assert runs.went == [wanted]
    assert runs.files("runs") == []  # nothing was imported


def test_a_file_that_is_gone_is_one_sentence(runs):
    (name,) = runs.keep(burst(here=here()))
    runs.show()
    (runs.library.folder / "runs" / name).unlink()
    runs.place.actions_["runs.again_hint"].trigger()
    runs.settle()
    assert [problem.key for problem in runs.problems] == ["recording_missing"]
    assert runs.went == []
