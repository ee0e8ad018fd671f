from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QTimer

from app.runs.library import Library
from app.window.core.runner import Runner
from experiments.core import declare
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.jobs import Engine
from experiments.engine.recording import read
from tests import ROOT
from tests.experiments.engine.misbehaving.misbehave.experiment import EXPERIMENT
from tests.experiments.engine.runs import SHELVES, params
from tests.processes import POSIX_ONLY


@pytest.fixture
def library(tmp_path) -> Library:
    return Library(tmp_path / "data")


@pytest.fixture
def runner(qapp, library, monkeypatch) -> Iterator[Runner]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    runner = Runner(library, Engine(SHELVES))
    yield runner
    runner.close()


def test_a_run_is_followed_to_its_end_and_kept(qtbot, runner, library):
    with qtbot.waitSignal(runner.ended):
        run_state = runner.start(EXPERIMENT, params("behaves", rows=3))
        assert runner.is_running

    assert not runner.is_running
    assert run_state.finished.outcome is messages.Outcome.COMPLETED
    assert [row.value for row in run_state.tables["rows"]] == [0.0, 1.0, 2.0]
    kept = library.runs()
    assert [run.run for run in kept] == [run_state.started.run]
    assert len(read(kept[0].path).rows["rows"]) == 3


def test_the_time_goes_on_while_a_run_tells_nothing_and_no_longer(qtbot, runner):
    for timer in runner.findChildren(QTimer):
        timer.setInterval(20)
    runner.start(EXPERIMENT, params("sleeps"))
    qtbot.waitUntil(lambda: runner.run_state.rows > 0)
    for _ in range(3):
        qtbot.waitSignal(runner.moved).wait()
    with qtbot.waitSignal(runner.ended):
        runner.stop()

    with qtbot.assertNotEmitted(runner.moved, wait=60):
        pass


def test_a_run_that_is_stopped_keeps_its_rows(qtbot, runner):
    runner.start(EXPERIMENT, params("sleeps"))
    qtbot.waitUntil(lambda: runner.run_state.rows > 0)
    with qtbot.waitSignal(runner.ended):
        runner.stop()

    assert runner.run_state.finished.outcome is messages.Outcome.STOPPED
    assert runner.run_state.rows == 1


def test_a_run_may_be_stopped_before_it_has_begun(qtbot, runner):
    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("sleeps"))
        runner.stop()

    assert runner.run_state.finished.outcome is messages.Outcome.STOPPED


def test_the_next_run_works_after_one_that_crashed(qtbot, runner):
    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("crashes"))
    named = sys.platform == "win32"  # by the status that it ends with
    expected = messages.Outcome.FAILED if named else messages.Outcome.LOST
    assert runner.run_state.finished.outcome is expected

    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("behaves"))
    assert runner.run_state.finished.outcome is messages.Outcome.COMPLETED


def test_many_rows_are_all_taken_though_a_turn_takes_few(qtbot, runner):
    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("behaves", rows=5_000))

    assert len(runner.run_state.tables["rows"]) == 5_000


def test_a_run_that_cannot_be_kept_is_not_begun(runner, tmp_path):
    (tmp_path / "data").write_text("a file where the folder should be")

    with pytest.raises(UserError) as raised:
        runner.start(EXPERIMENT, params("behaves"))

    assert raised.value.problem.key == "library_unwritable"
    assert not runner.is_running


def test_a_run_that_cannot_begin_ends_in_a_sentence(qtbot, runner, monkeypatch, caplog):
    def fail(*_: object, **__: object) -> None:
        raise OSError(12, "no memory for another process")

    monkeypatch.setattr(Engine, "start", fail)

    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("behaves"))

    finished = runner.run_state.finished
    assert finished.outcome is messages.Outcome.FAILED
    assert finished.problem.key == "not_started"


def test_closing_ends_a_run_under_way(qtbot, runner):
    runner.start(EXPERIMENT, params("sleeps"))
    qtbot.waitUntil(lambda: runner.run_state.rows > 0)

    runner.close()  # tests/conftest.py: no process may be left


def test_a_row_that_is_none_of_the_experiment_ends_the_run_as_failed(qtbot, runner):
    class Other(declare.Row):
        value: str  # the worker sends a number

    other = msgspec.structs.replace(EXPERIMENT, tables={"rows": Other})

    with qtbot.waitSignal(runner.ended):
        runner.start(other, params("behaves", rows=3))

    finished = runner.run_state.finished
    assert finished.outcome is messages.Outcome.FAILED
    assert finished.problem.key == "wire_broken"
    assert not runner.is_running
    assert not any(timer.isActive() for timer in runner.findChildren(QTimer))

    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("behaves", rows=3))
    assert runner.run_state.finished.outcome is messages.Outcome.COMPLETED


def test_it_says_that_it_is_stopping_whoever_asked_and_once(qtbot, runner):
    told = []
    runner.stopping.connect(lambda: told.append(runner.is_stopping))
    runner.stop()  # there is nothing to stop
    runner.start(EXPERIMENT, params("sleeps"))
    assert not runner.is_stopping
    with qtbot.waitSignal(runner.ended):
        runner.stop()
        runner.stop()

    assert told == [True]
    assert not runner.is_stopping


@POSIX_ONLY
def test_a_run_whose_folder_is_deleted_is_rescued_and_said_so(
    qtbot, runner, library, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("sleeps"))
        qtbot.waitUntil(lambda: runner.run_state.rows > 0)
        shutil.rmtree(library.folder)
        runner.stop()

    assert runner.not_kept.key == "run_file_gone"
    (rescued,) = tmp_path.glob("*.jsonl")
    assert read(rescued).finished.outcome is messages.Outcome.STOPPED


def test_a_disk_that_is_full_at_the_last_moment_does_not_hang_the_run(
    qtbot, runner, monkeypatch, tmp_path
):
    close = os.close

    def full(file: int) -> None:
        is_run = os.readlink(f"/proc/self/fd/{file}").endswith(".jsonl")
        close(file)
        if is_run:
            raise OSError(errno.EDQUOT, "quota exceeded")

    monkeypatch.setattr("experiments.engine.recorder.os.close", full)
    monkeypatch.chdir(tmp_path)

    with qtbot.waitSignal(runner.ended):
        runner.start(EXPERIMENT, params("behaves", rows=3))

    assert runner.not_kept.key == "run_kept_elsewhere"
    assert list(tmp_path.glob("*.jsonl"))
