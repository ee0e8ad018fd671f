from __future__ import annotations

import dataclasses
import gzip
import itertools
import json
import time
from functools import partial
from types import SimpleNamespace

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QMenu,
    QPlainTextEdit,
    QSlider,
)

from app.report import without
from app.runs.run_notes import RunNotes
from app.source import sources
from app.window.core.target import EXPERIMENTS
from app.window.experiment import view_switch
from app.window.experiment.compare_menu import compare_menu
from app.window.experiment.status_text import State
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Need
from experiments.core.judging.trust import Trust
from experiments.core.parameters import to_json
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.python_at_work.gil_threads import experiment as gil_threads
from machine.model import OperatingSystem
from tests.app.recordings import Made, burst, ladder, made, threads
from tests.app.window.stage import events, live_s, settle
from tests.experiments.machines import machine
from widgets.controls.fold import Fold
from widgets.controls.links import LinkLabel
from widgets.controls.replay_bar import ReplayBar
from widgets.controls.tab_order import go_on
from widgets.experiment.code_view import CodeView
from widgets.experiment.machine_strip import Tile
from widgets.plots.plot import Plot
from widgets.style import theme as themes

ENGLISH = words.load("en")


def said(stage) -> str:
    """Return every word that is seen on the page, once what has a turn of its own is there."""
    QApplication.processEvents()
    loaded = [words_of(label) for label in stage.page.findChildren(QLabel) if label.isVisible()]
    buttons = stage.page.findChildren(QAbstractButton)
    said = "\n".join([*loaded, *(each.text() for each in buttons if each.isVisible())])
    return said.replace("\N{NO-BREAK SPACE}", " ")


def words_of(label: QLabel) -> str:
    """Return what a label says, without the links in it."""
    return label.accessibleName() if isinstance(label, LinkLabel) else label.text()


def unfold(stage) -> None:
    """Unfold all that a result rests on."""
    QApplication.processEvents()
    for fold in stage.page.findChildren(Fold):
        fold.head.setChecked(True)


def compare_with(stage) -> QMenu:
    """Return the menu of the button "Compare"."""
    return compare_menu(stage.page.model, stage.page)


def chooses(monkeypatch, target) -> None:
    """Let the dialog of the system return this file."""
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))


def button(stage, text: str) -> QAbstractButton:
    """Return the button that is seen with these words."""
    found = [
        each
        for each in stage.page.findChildren(QAbstractButton)
        if each.text() == text and each.isVisible()
    ]
    assert found, f"no button {text!r} in: {said(stage)}"
    return found[0]


def run_to(stage, *more: messages.Event, made=None, share: float = 1.0) -> None:
    """Start a run of burst-random on the page, and let it say this much."""
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.runner.hear(*events(made or burst(), share), *more)


def ended(outcome: str, **more) -> messages.Finished:
    return messages.Finished(outcome=messages.Outcome(outcome), **more)


def drawn(qtbot, stage) -> None:
    """Wait until every plot is up to date."""
    qtbot.waitUntil(lambda: not stage.drawing.isActive())


# --- before a run ---------------------------------------------------------------------------


def test_the_strip_tells_on_which_parts_of_the_map_numbers_will_stand(stage):
    def tips() -> dict[str, str]:
        return {tile.text(): tile.toolTip() for tile in stage.page.findChildren(Tile)}

    stage.know_machine()
    stage.page.open("cache-ladder")
    assert "Puts numbers here" in tips()["L2"]
    stage.page.open("false-sharing")
    assert "without numbers" in tips()["L2"]
    assert tips()["Memory"].startswith("Not about it")


def test_before_any_run_it_says_what_will_be_done_and_how_long_that_takes(stage):
    stage.page.open("cache-ladder")
    assert "One thread, kept on the last core (pinned), walks" in said(stage)
    assert "what prefetching hides." in said(stage)

    stage.page.open("burst-random")

    assert stage.page.model.state is State.READY
    assert "Reading in order or shuffled: does the order matter?" in said(stage)
    assert "Not measured here yet" in said(stage)
    assert "about 15 s here" in said(stage)
    assert button(stage, "Run").isEnabled()
    assert button(stage, "Run").hasFocus() or stage.page.focusWidget().text() == "Run"


def test_until_the_machine_is_known_it_cannot_run(look, tmp_path):
    from tests.app.window.stage import Stage

    stage = Stage(look, tmp_path)
    stage.page.show()
    stage.page.arrive()
    stage.page.open("burst-random")
    assert "Reading the machine" in said(stage)
    assert not button(stage, "Run").isEnabled()

    stage.know_machine()
    assert button(stage, "Run").isEnabled()
    assert stage.page.focusWidget().text() == "Run"
    stage.close()


def test_a_run_starts_with_what_the_form_says_and_a_quick_one_is_smaller(qtbot, stage):
    stage.page.open("burst-random")
    qtbot.keyClick(stage.page, Qt.Key.Key_F5)

    entry = stage.session.entries["burst-random"]
    assert stage.runner.started == [("burst-random", msgspec.to_builtins(entry.params), False)]

    stage.runner.hear(*events(burst()))
    qtbot.keyClick(stage.page, Qt.Key.Key_F5, Qt.KeyboardModifier.ShiftModifier)
    _, params, quick = stage.runner.started[-1]
    assert quick
    assert params["rounds"] < entry.params.rounds


def test_the_settings_say_what_runs_and_then_again_what_would_run(qtbot, stage):
    stage.page.open("burst-random")
    form, wanted = stage.form, stage.session.entries["burst-random"].params
    button(stage, "Quick run").click()
    begins, *rest = events(burst())
    stage.runner.hear(begins)
    assert form.params().rounds == begins.params["rounds"] != wanted.rounds

    stage.runner.hear(*rest)
    assert form.params() == wanted


def test_what_this_machine_lacks_is_said_instead_of_a_run(stage):
    entry = stage.session.entries["burst-random"]
    lacking = dataclasses.replace(entry, need=entry.experiment.needs[0])
    stage.use_entries({"burst-random": lacking})
    stage.page.open("burst-random")

    assert ENGLISH.say("problems.needs_numba") in said(stage)
    assert "Run" not in said(stage).splitlines()
    assert not any(action.text() == "Run" for action in stage.page.own_actions())
    assert not stage.form.isVisible()  # nothing could be run with other settings


def test_what_the_system_cannot_do_is_said_before_a_run(stage):
    here = stage.session.machine
    for kind in ("macos", "linux"):
        stage.session.machine = msgspec.structs.replace(here, os=OperatingSystem(kind=kind))
        stage.page.open("stream")
        stage.page.open("false-sharing")
        sentence = without(ENGLISH, stage.session.catalogue.load("false-sharing"), kind)
        assert bool(sentence) is (kind == "macos")
        assert sentence in said(stage)
        assert (" cannot " in said(stage)) is (kind == "macos")


def test_settings_come_back_with_what_was_lacking(stage):
    entry = stage.session.entries["burst-random"]
    stage.use_entries({"burst-random": dataclasses.replace(entry, need=Need.GPU)})
    stage.page.open("burst-random")
    QApplication.processEvents()
    assert not stage.form.isVisible()

    stage.use_entries({"burst-random": entry})
    QApplication.processEvents()
    assert stage.form.isVisible()


def test_only_who_lacks_a_gpu_may_ask_why(qtbot, stage):
    stage.page.open("burst-random")
    entry, why = stage.session.entries["burst-random"], ENGLISH.say("doctor.page.why")
    assert why not in said(stage)

    for need in (Need.NUMA, Need.GPU, Need.TWO_GPUS):
        stage.use_entries({"burst-random": dataclasses.replace(entry, need=need)})
        if need is Need.NUMA:
            assert why not in said(stage)
        else:
            with qtbot.waitSignal(stage.session.asked_for_doctor):
                button(stage, why).click()


def test_a_fake_machine_is_not_measured(stage, monkeypatch):
    monkeypatch.setattr(type(stage.session.context), "has_fake_machine", True)
    stage.page.open("burst-random")
    button(stage, "Run").click()

    assert ENGLISH.say("problems.fake_machine_measured") in said(stage)
    assert stage.runner.started == []


def test_a_run_that_needs_more_memory_than_is_free_is_not_started(stage, monkeypatch):
    monkeypatch.setattr("app.window.core.runner.available_bytes", lambda: 1000)
    stage.page.open("burst-random")
    button(stage, "Run").click()

    assert "1000 B are free; choose a smaller size." in said(stage)
    assert stage.runner.started == []
    assert button(stage, "Run").isEnabled()


def test_a_library_that_cannot_be_written_is_said_and_another_try_is_possible(stage):
    def refuse(*_: object, **__: object) -> None:
        raise UserError("library_unwritable", path="/x", reason="read-only")

    works, stage.runner.start = stage.runner.start, refuse
    stage.page.open("burst-random")
    button(stage, "Run").click()
    assert "cannot be written" in said(stage)

    stage.runner.start = works
    button(stage, "Run").click()
    assert "cannot be written" not in said(stage)
    assert stage.page.model.state is State.BEGINNING
    assert "Loading numpy, numba; the first time takes longest." in said(stage)


def test_a_process_is_made_ready_only_for_who_stays(qtbot, stage):
    stage.page.open("burst-random")
    assert stage.runner.warmed == []
    qtbot.waitUntil(lambda: stage.runner.warmed == ["burst-random"])


# --- while it runs --------------------------------------------------------------------------


def test_the_status_line_drops_the_old_run_when_another_begins(stage):
    run_to(stage)
    told = []
    stage.session.status_changed.connect(lambda: told.append(stage.page.status()))
    assert stage.page.status().startswith("Rows: ")

    button(stage, "Run again").click()
    assert told[-1] == ""


def test_from_its_beginning_until_escape_stops_it_a_run_says_what_it_does(qtbot, stage):
    stage.page.open("burst-random")
    button(stage, "Run").click()
    assert "Starting" in said(stage)
    assert button(stage, "Stop").isEnabled()
    assert stage.page.focusWidget().text() == "Stop"

    stage.runner.hear(*events(burst(), 0.55))
    assert "Running" in said(stage)
    assert "about 4 s left" in said(stage)
    assert "round 3 of 5 · in order" in said(stage)
    assert not stage.form.findChild(QSlider).isEnabled()
    qtbot.keyClick(stage.page, Qt.Key.Key_F5)
    assert len(stage.runner.started) == 1

    qtbot.keyClick(stage.page.focusWidget(), Qt.Key.Key_Escape)
    assert stage.runner.stops == 1
    assert "Stopping" in said(stage)


def test_the_time_left_goes_on_through_a_step_that_tells_nothing(stage, monkeypatch):
    run_to(stage, share=0.55)
    now_s = time.monotonic()

    monkeypatch.setattr("experiments.engine.run_state.time.monotonic", lambda: now_s + 2.0)
    stage.runner.moved.emit()
    assert "about 2 s left" in said(stage)

    monkeypatch.setattr("experiments.engine.run_state.time.monotonic", lambda: now_s + 60.0)
    stage.runner.moved.emit()
    assert "longer than estimated" in said(stage)


def test_the_time_left_changes_only_when_that_of_the_status_line_does(stage, monkeypatch):
    run_to(stage, share=0.55)
    now_s = time.monotonic()

    monkeypatch.setattr("experiments.engine.run_state.time.monotonic", lambda: now_s + 2.0)
    stage.pass_second()  # each second, whenever the run moves
    assert "about 4 s left" in said(stage)
    stage.runner.moved.emit()  # which the status line hears as well
    assert "about 2 s left" in said(stage)


def test_whoever_stops_it_the_page_says_so(stage):
    run_to(stage, share=0.5)
    stage.runner.stop()  # from the status line, or by the key of the window

    assert "Stopping" in said(stage)
    assert stage.page.model.state is State.STOPPING


def test_an_error_nobody_expected_does_not_leave_the_page_reading(
    qtbot, stage, monkeypatch, caplog
):
    def fail(*_given, **_more):
        raise RuntimeError("a bug")

    (path,) = stage.keep(burst())
    monkeypatch.setattr("app.window.experiment.page_model.load", fail)
    with qtbot.waitSignal(stage.page.model.refused):
        stage.page.open_run(path)

    assert stage.page.model.state is not State.READING
    assert "a bug" in said(stage)


def test_a_run_to_repeat_that_cannot_be_read_starts_nothing(qtbot, stage):
    stage.page.open("cache-ladder")
    with qtbot.waitSignal(stage.page.model.refused):
        stage.page.open_run(stage.folder / "gone.coreopsis.jsonl", then="measure")
    qtbot.wait(20)

    assert stage.runner.started == []
    assert "gone.coreopsis.jsonl" in said(stage)


def test_a_run_is_opened_and_replayed_in_one_go(qtbot, stage):
    (path,) = stage.keep(burst())
    stage.page.open_run(path, then="replay")

    qtbot.waitUntil(lambda: stage.page.model.state is State.PLAYING)


def test_a_key_too_many_before_a_replay_measures_nothing(qtbot, stage):
    (path,) = stage.keep(burst())
    stage.page.open("burst-random")  # where the button that runs has the keys
    stage.page.open_run(path, then="replay")

    def plays_after_another_space() -> bool:
        QTest.keyClick(stage.page.window().focusWidget() or stage.page, Qt.Key.Key_Space)
        return stage.page.model.player is not None

    qtbot.waitUntil(plays_after_another_space)
    assert not stage.runner.is_running


def test_rows_of_a_table_of_another_version_are_left_out(qtbot, stage):
    made = burst()
    lines = made.lines
    head = messages.decode_event(lines[0])
    head = msgspec.structs.replace(head, tables={**head.tables, "later": {"value": ""}})
    more = messages.Row(table="later", n=0, t_s=0.1, row={"value": 1.0})
    rows = [
        msgspec.structs.replace(event, n=event.n + 1) if isinstance(event, messages.Row) else event
        for event in map(messages.decode_event, lines[1:])
    ]
    path = stage.folder / "other.coreopsis.jsonl"
    path.write_bytes(b"".join(map(messages.encode, [head, more, *rows])))

    with qtbot.waitSignal(stage.page.model.changed):
        stage.page.open_run(path)
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)

    assert stage.page.model.run_state.rows == len(made.lines) - 2


def test_rows_are_drawn_as_they_come(qtbot, stage):
    run_to(stage, share=0.3)
    drawn(qtbot, stage)
    headline = stage.plots[0]
    before = headline.grab().toImage()

    stage.runner.hear(*events(burst(), 0.9)[31:])
    drawn(qtbot, stage)

    assert headline.grab().toImage() != before


def test_nothing_is_drawn_while_nobody_looks(qtbot, stage):
    run_to(stage, share=0.3)
    drawn(qtbot, stage)
    stage.page.leave()
    stage.runner.hear(*events(burst(), 0.9)[31:])
    assert not stage.drawing.isActive()

    stage.page.arrive()
    assert stage.drawing.isActive()


def test_drawing_leaves_the_processor_to_what_is_measured(qtbot, stage, monkeypatch):
    clock = SimpleNamespace(perf_counter=lambda: 100.0, thread_time=lambda: 1.0)
    monkeypatch.setattr(view_switch, "time", clock)
    run_to(stage, share=0.3)
    drawn(qtbot, stage)
    headline = stage.plots[0]
    before = headline.grab().toImage()

    clock.thread_time = lambda: 1.02  # it took 20 ms, and may take a tenth of a core
    clock.perf_counter = lambda: 100.19
    stage.runner.hear(*events(burst(), 0.9)[31:])
    stage.drawing.timeout.emit()
    assert headline.grab().toImage() == before
    clock.perf_counter = lambda: 100.21
    drawn(qtbot, stage)
    assert headline.grab().toImage() != before


@pytest.mark.parametrize(("draws_s", "without"), [(0.001, 0), (0.1, 1)])
def test_plots_fill_together_unless_that_takes_long(stage, monkeypatch, draws_s, without):
    times_s = itertools.count(100.0, draws_s)
    clock = SimpleNamespace(perf_counter=lambda: next(times_s), thread_time=lambda: 1.0)
    monkeypatch.setattr(view_switch, "time", clock)
    run_to(stage, share=0.3)
    stage.drawing.timeout.emit()

    plots = stage.plots
    assert [ENGLISH.say("plot.empty") in plot.summary() for plot in plots].count(True) == without


def test_limit_lines_come_with_the_first_estimate(stage):
    run_to(stage, share=0.9)
    assert stage.page.model.values == {}

    stage.pass_second()

    assert stage.page.model.values["dependent_s"] == pytest.approx(1.2e-7, rel=0.05)


def test_waiting_for_another_program_says_for_whom(stage):
    values = {"experiment": "cache-ladder", "since": "14:03"}
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.runner.hear(messages.Note(key="waiting_for_machine", values=values))

    assert "“How far away is a byte?” has run since 14:03" in said(stage)
    assert button(stage, "Stop").isEnabled()


def test_waiting_for_a_stopped_run_says_how_to_let_it_go_on(stage):
    values = {"experiment": "cache-ladder", "since": "14:03", "stopped": "4711"}
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.runner.hear(messages.Note(key="waiting_for_stopped", values=values))

    assert "“How far away is a byte?” has run since 14:03" in said(stage)
    assert "kill -CONT 4711" in said(stage)


def test_what_is_made_ready_before_the_first_progress_is_said(stage):
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.runner.hear(*events(burst())[:1])
    assert ENGLISH.say("page.preparing") in said(stage)
    live_s(0.06)
    before = button(stage, "Stop").y()

    stage.runner.hear(messages.Progress(fraction=0.1, left_s=3.0))
    assert ENGLISH.say("page.preparing") not in said(stage)
    stage.runner.hear(events(burst())[1])
    live_s(0.06)
    assert button(stage, "Stop").y() == before


def test_rows_that_no_plot_shows_leave_it_preparing(stage):
    stage.page.open("cache-ladder")
    button(stage, "Run").click()
    stage.runner.hear(*events(ladder())[:1])
    clock = {"repeat": 0, "core_hz": 3e9}
    stage.runner.hear(messages.Row(n=0, t_s=0.1, table="clocks", row=clock))
    live_s(0.06)

    assert ENGLISH.say("page.preparing") in said(stage)


def test_another_page_says_what_runs_and_leads_there(qtbot, stage):
    run_to(stage, share=0.5)
    stage.page.open("cache-ladder")

    assert "“Reading in order or shuffled: does the order matter?” is being measured" in said(stage)
    assert not button(stage, "Run").isEnabled()
    with qtbot.waitSignal(stage.session.went) as went:
        button(stage, "Go there").click()
    assert (went.args[0].place, went.args[0].experiment) == (EXPERIMENTS, "burst-random")

    stage.page.open("burst-random")
    assert stage.page.model.state is State.RUNNING
    button(stage, "Stop").click()
    assert stage.runner.stops == 1


def test_a_run_that_goes_on_does_not_disturb_another_page(stage):
    run_to(stage, share=0.5)
    stage.page.open("cache-ladder")
    stage.runner.hear(*events(burst())[60:])

    assert stage.page.model.state is State.READY
    assert "How far away is a byte?" in said(stage)
    assert button(stage, "Run").isEnabled()


# --- after it -------------------------------------------------------------------------------


def test_a_result_is_told_as_in_the_terminal_and_is_there_on_return(qtbot, stage):
    run_to(stage)
    finding = messages.decode_event(burst().lines[-1]).finding

    limit = ENGLISH.say("burst-random.limits.page_translation_included")
    assert ENGLISH.say("burst-random.findings.three_answers", finding.values) in said(stage)
    assert "6 ns\nshuffled, per element" in said(stage)
    assert limit not in said(stage)
    unfold(stage)
    assert "shuffled, per element\n6 ns" in said(stage)
    assert limit in said(stage)
    assert button(stage, "Run again").isEnabled()
    assert stage.page.focusWidget().text() == "Run again"
    assert "Settings changed: Largest array 1 MiB, Rounds 5." in said(stage)
    assert "One thread, kept on the last core (pinned), adds" in said(stage)

    drawn(qtbot, stage)
    method = ENGLISH.say("burst-random.method")[:30]
    told = [each for each in stage.page.findChildren(QLabel) if method in each.toolTip()]
    assert len(told) == 2  # the question, and the headline

    stage.page.open("cache-ladder")
    stage.page.open("burst-random")
    assert stage.page.model.state is State.ENDED
    assert "shuffled, per element" in said(stage)


def test_a_stopped_run_says_how_many_rows_were_kept_and_what_they_say(stage):
    finding = messages.decode_event(burst().lines[-1]).finding
    run_to(stage, ended("stopped", finding=finding), share=0.5)

    assert "Stopped; rows of data kept: 52." in said(stage)
    assert "Full run" not in said(stage)
    assert ENGLISH.say("outcomes.partial") in said(stage)
    assert ENGLISH.say("burst-random.findings.three_answers", finding.values) in said(stage)


def test_a_run_stopped_before_its_first_row_says_so_and_brings_back_what_was_shown(stage):
    noticed = []
    stage.session.noticed.connect(lambda text, *_: noticed.append(text))
    run_to(stage)
    loaded = stage.page.model.loaded
    button(stage, "Run again").click()
    stage.runner.hear(events(burst())[0], ended("stopped"))

    assert noticed == [ENGLISH.say("outcomes.stopped_empty")]
    assert stage.page.model.loaded is loaded
    assert stage.page.model.state is State.ENDED
    stage.page.open("cache-ladder")
    stage.page.open("burst-random")
    assert stage.page.model.loaded is None  # what came to nothing is no result


def test_speedups_that_do_not_part_are_said_to_be_none(stage):
    made = threads()
    finding = messages.decode_event(made.lines[-1]).finding
    unclear = msgspec.structs.replace(finding, unclear=["threads_speedup"])
    stage.page.open("gil-threads")
    button(stage, "Run").click()
    stage.runner.hear(*events(made)[:-1], ended("completed", finding=unclear))
    unfold(stage)

    name = ENGLISH.say("gil-threads.values.threads_speedup")
    assert f"{name}\n{ENGLISH.say('verdicts.unclear')}\n" in said(stage)
    assert ENGLISH.say("outcomes.unclear", {"names": name}) in said(stage)


def test_a_run_that_did_not_end_well_says_why_and_what_to_do(stage):
    problem = messages.ProblemSent(key="killed_by_system", detail="status -9")
    run_to(stage, share=0.5)
    for outcome in ("failed", "killed", "lost"):
        stage.runner.hear(ended(outcome, problem=problem))
        assert ENGLISH.say(f"outcomes.{outcome}") in said(stage)
        assert ENGLISH.say("problems.killed_by_system") in said(stage)

        button(stage, "Run again").click()
        assert ENGLISH.say("problems.killed_by_system") not in said(stage)
        stage.runner.hear(*events(burst(), 0.5))

    stage.runner.hear(ended(outcome, problem=problem))
    button(stage, "Copy details").click()
    assert "status -9" in QGuiApplication.clipboard().text()
    assert "burst-random" in QGuiApplication.clipboard().text()
    button(stage, "Try a quick run").click()
    assert stage.runner.started[-1][2]


def test_a_run_that_could_not_be_kept_says_so(stage):
    stage.runner.not_kept = UserError("run_not_kept", reason="disk full").problem
    run_to(stage)

    assert "could not be kept to its end (disk full)" in said(stage)


def test_the_notes_of_a_run_are_told_with_its_result(stage):
    whole = events(burst())
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.runner.hear(*whole[:-1], messages.Note(key="not_pinned"), whole[-1])

    unfold(stage)
    assert ENGLISH.say("notes.not_pinned") in said(stage)


def test_the_last_run_of_this_machine_is_shown(qtbot, stage):
    theirs = msgspec.structs.replace(machine(), fingerprint="another")  # of the same model
    stage.keep(
        burst(at="2026-05-04T03:02:01+00:00"),
        burst(2.0, at="2026-05-05T03:02:01+00:00", here=theirs),
        burst(3.0, at="2026-05-06T03:02:01+00:00", outcome="stopped"),
    )
    stage.page.open("burst-random")
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)

    assert "Full run, started 2026-05-04" in said(stage)
    assert stage.page.model.loaded.run_state.started.at.startswith("2026-05-04")
    drawn(qtbot, stage)


def test_a_run_that_was_ended_before_it_could_say_anything_says_what_its_rows_tell(stage):
    run_to(stage, messages.Finished(outcome=messages.Outcome.STOPPED), share=0.9)

    assert "shuffled, per element" in said(stage)


def test_a_disturbed_run_says_that_it_was_and_why_and_its_numbers_stand_folded(stage):
    busy = messages.Note(key="machine_was_busy", values={"others_fraction": 0.56})
    begun = msgspec.structs.replace(burst(), lines=burst().lines[:-1])
    last = events(burst())[-1]
    disturbed = msgspec.structs.replace(last.finding, trust=Trust.DISTURBED)
    last = msgspec.structs.replace(last, finding=disturbed)
    run_to(stage, busy, last, made=begun)

    verdict = ENGLISH.say("burst-random.findings.three_answers", last.finding.values)
    assert ENGLISH.say("outcomes.was_disturbed") in said(stage)
    assert ENGLISH.say("because.machine_was_busy", busy.values) in said(stage)
    assert verdict not in said(stage)
    assert "shuffled, per element" not in said(stage)
    unfold(stage)
    assert "shuffled, per element" in said(stage)
    offered = [action.text() for action in stage.page.own_actions()]
    assert ENGLISH.say("page.quiet_run") in offered


def test_a_stopped_run_makes_room_for_the_whole_one_that_its_card_speaks_of(qtbot, stage):
    stage.know_machine()
    stage.keep(burst())
    run_to(stage, ended("stopped"), made=burst(2.0), share=0.5)
    assert stage.page.model.run_state.finished.outcome == "stopped"

    stage.page.open("gil-threads")
    stage.page.open("burst-random")

    qtbot.waitUntil(lambda: stage.page.model.run_state is not None)
    assert stage.page.model.run_state.finished.outcome == "completed"


def test_a_run_that_was_stopped_is_shown_where_none_was_completed(qtbot, stage):
    stage.keep(
        burst(at="2026-05-04T03:02:01+00:00", outcome="stopped"),
        burst(3.0, at="2026-05-06T03:02:01+00:00", outcome="stopped"),
    )
    stage.page.open("burst-random")
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)

    assert stage.page.model.loaded.run_state.started.at.startswith("2026-05-06")
    drawn(qtbot, stage)


def test_the_settings_stay_as_they_were_left(stage):
    stage.page.open("burst-random")
    stage.set_up(msgspec.structs.replace(stage.session.entries["burst-random"].params, rounds=3))
    stage.page.open("cache-ladder")
    stage.page.open("burst-random")

    assert stage.form.params().rounds == 3


# --- recorded runs --------------------------------------------------------------------------


def test_before_any_run_the_recording_that_comes_with_it_can_be_seen(qtbot, stage, monkeypatch):
    path = stage.folder / "burst-random.coreopsis.jsonl.gz"
    path.write_bytes(gzip.compress(burst(here=ELSEWHERE).data))
    monkeypatch.setattr(Catalogue, "recording", lambda _, name: {"burst-random": path}.get(name))
    stage.page.open("cache-ladder")
    assert "Show a recording" not in said(stage)  # it has none

    stage.page.open("burst-random")
    button(stage, "Show a recording").click()
    qtbot.waitUntil(lambda: not stage.page.model.is_reading)

    drawn(qtbot, stage)
    assert "RECORDED" in said(stage)
    assert "Show a recording" not in said(stage)
    button(stage, "Back to this machine").click()
    assert button(stage, "Show a recording").isEnabled()


NOT_ANYWHERE = [
    each.id
    for each in Catalogue()
    if {Need.GPU, Need.TWO_GPUS, Need.NUMA, Need.SMT, Need.CORE_PAIR} & {*each.needs}
]


@pytest.mark.parametrize("name", NOT_ANYWHERE)
def test_what_cannot_run_here_shows_its_recording_or_says_what_it_would_do(qtbot, stage, name):
    entry = stage.session.entries[name]
    need = entry.experiment.needs[0]
    stage.use_entries({name: dataclasses.replace(entry, need=need)})
    stage.page.open(name)

    assert stage.page.model.state is not State.READY
    reason = ENGLISH.say(f"problems.needs_{need}")
    if Catalogue().recording(name) is None:
        settle(lambda: ENGLISH.say("page.no_recording") in said(stage))
        assert reason in said(stage)
        assert ENGLISH.say(f"{name}.method") in said(stage)
        assert not any(plot.isVisible() for plot in stage.page.findChildren(Plot))
        return
    qtbot.waitUntil(lambda: stage.page.model.run_state is not None)
    drawn(qtbot, stage)
    assert "RECORDED" in said(stage)
    assert ENGLISH.say("page.stands_in", {"reason": reason}) in said(stage)
    assert (ENGLISH.say("doctor.page.why") in said(stage)) is (need in (Need.GPU, Need.TWO_GPUS))
    assert "Back to this machine" not in said(stage)  # it would be shown again
    assert not stage.do.run.isEnabled()
    assert any(plot.isVisible() and not plot.painted().layout.is_empty for plot in stage.plots)


def test_a_recording_stands_in_for_no_run_of_this_machine(qtbot, stage):
    stage.keep(burst())
    entry = stage.session.entries["burst-random"]
    stage.use_entries({"burst-random": dataclasses.replace(entry, need=Need.NUMBA)})
    stage.page.open("burst-random")
    qtbot.waitUntil(lambda: stage.page.model.run_state is not None)

    assert stage.page.model.path.parent == stage.folder / "data" / "runs"
    assert "RECORDED" not in said(stage)


ELSEWHERE = msgspec.structs.replace(machine(), fingerprint="elsewhere")


def open_run(qtbot, stage, made, name="run.coreopsis.jsonl"):
    path = made.write(stage.folder / name)
    stage.page.open_run(path)
    qtbot.waitUntil(lambda: not stage.page.model.is_reading)
    return path


def test_a_run_that_is_opened_begins_with_its_plots(qtbot, stage):
    path = open_run(qtbot, stage, burst())
    stage.do.code.trigger()
    stage.page.open_run(path)

    assert stage.do.plot.isChecked()


def test_a_recorded_run_is_shown_as_it_was_and_can_be_run_here(qtbot, stage):
    open_run(qtbot, stage, burst(here=ELSEWHERE))

    assert stage.page.model.state is State.ENDED
    assert stage.form.params().rounds == 5
    assert not stage.form.findChild(QSlider).isEnabled()
    drawn(qtbot, stage)
    assert "RECORDED · Test CPU · 2026-05-04" in said(stage)
    seconds = stage.page.model.experiment.seconds(stage.form.params())
    here = button(stage, "Run with these settings")
    assert here.hint == f"{max(1, round(seconds))} s"  # no room for the key

    here.click()
    ((_, params, quick),) = stage.runner.started
    assert (params["rounds"], quick) == (5, False)
    assert stage.page.model.state is State.BEGINNING


def test_from_a_recorded_run_one_comes_back_to_this_machine(qtbot, stage):
    open_run(qtbot, stage, burst(here=ELSEWHERE))
    button(stage, "Back to this machine").click()

    assert stage.page.model.state is State.READY
    assert stage.form.params() == stage.session.entries["burst-random"].params


def test_the_latest_run_is_no_earlier_one_when_it_is_opened(qtbot, stage):
    here = stage.session.machine = msgspec.structs.replace(
        stage.session.machine, fingerprint="here"
    )
    (latest,) = stage.keep(burst(here=here))
    stage.page.open_run(latest)
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)
    assert button(stage, "Run again")
    assert "Back to latest whole run" not in said(stage)
    assert "earlier run" not in said(stage)

    stage.page.open_run(latest, then="measure")  # with its settings, whatever the form says
    qtbot.waitUntil(lambda: len(stage.runner.started) == 1)
    ((_, params, _),) = stage.runner.started
    assert params["rounds"] == 5


def test_a_run_like_another_is_compared_with_it_once_it_is_kept(qtbot, stage):
    theirs = burst(2.0).write(stage.folder / "theirs.coreopsis.jsonl")
    stage.page.open_run(theirs, then="compare")
    qtbot.waitUntil(lambda: len(stage.runner.started) == 1)
    ours = burst(at="2026-05-06T03:02:01+00:00")
    stage.runner.hear(*events(ours))
    comparing = stage.page.model.comparing
    assert not comparing.is_on  # there is no file yet

    stage.keep(ours)

    qtbot.waitUntil(lambda: comparing.is_on)
    assert [each.run for each in comparing.pair] == [stage_run(theirs), ours.run]
    stage.do.stop_comparing.trigger()
    stage.use_runs()
    live_s(0.3)
    assert not comparing.is_on  # once is enough


def test_who_goes_elsewhere_before_it_ends_gets_no_comparison(qtbot, stage):
    theirs = burst(2.0).write(stage.folder / "theirs.coreopsis.jsonl")
    stage.page.open_run(theirs, then="compare")
    qtbot.waitUntil(lambda: len(stage.runner.started) == 1)
    stage.page.open("burst-random")
    ours = burst(at="2026-05-06T03:02:01+00:00")
    stage.runner.hear(*events(ours))
    stage.keep(ours)
    live_s(0.1)
    assert not stage.page.model.comparing.is_on


def stage_run(path) -> str:
    """Return the id of the run in a file."""
    return json.loads(path.read_bytes().split(b"\n")[0])["run"]


def test_an_earlier_run_of_this_machine_is_no_foreign_recording(qtbot, stage):
    here = stage.session.machine = msgspec.structs.replace(
        stage.session.machine, fingerprint="here"
    )
    stage.keep(burst(here=here))
    open_run(qtbot, stage, burst(here=here))
    drawn(qtbot, stage)

    assert "RECORDED" not in said(stage)
    assert ENGLISH.say("page.earlier_run", {"date": "2026-05-04"}) in said(stage)
    assert button(stage, "Back to latest whole run")


def test_a_damaged_a_foreign_and_an_old_file_are_one_sentence_each(qtbot, stage):
    run_to(stage)
    path = stage.folder / "damaged.coreopsis.jsonl"
    path.write_bytes(b"".join(burst().lines[:5]) + b"garbage\n")
    stage.page.open_run(path)
    qtbot.waitUntil(lambda: not stage.page.model.is_reading)

    assert "is damaged at line 6" in said(stage)
    assert stage.page.model.state is State.ENDED

    foreign = burst(change=partial(msgspec.structs.replace, experiment="soup"))
    open_run(qtbot, stage, foreign, "soup.coreopsis.jsonl")
    assert "There is no experiment called 'soup'" in said(stage)

    old = burst(change=partial(msgspec.structs.replace, experiment_version=0))
    open_run(qtbot, stage, old, "old.coreopsis.jsonl")
    assert ENGLISH.say("notes.other_version", {"recorded": 0, "known": 2}) in said(stage)


def test_the_file_that_was_asked_for_last_is_shown(qtbot, stage):
    first, last = (burst().write(stage.folder / f"{n}.coreopsis.jsonl") for n in "ab")
    stage.page.open_run(first)
    stage.page.open_run(last)
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)
    qtbot.wait(50)

    assert stage.page.model.path == last


def test_a_run_is_played_again_and_the_replay_ended(qtbot, stage):
    (path,) = stage.keep(burst())
    run = next(run for run in stage.session.library.runs() if run.path == path)
    stage.session.library.describe(run, RunNotes(name="laptop, unplugged"))
    stage.use_runs()
    stage.page.open_run(path)
    qtbot.waitUntil(lambda: "laptop, unplugged" in said(stage))
    button(stage, "Replay").click()

    assert stage.page.model.state is State.PLAYING
    assert "Replay · laptop, unplugged" in said(stage)
    assert stage.page.findChild(ReplayBar).isVisible()
    player = stage.page.model.player
    player.restart()
    player.pause()
    assert stage.page.model.run_state.rows == 0
    assert "First memory is filled" in said(stage)
    player.seek(player.total_s / 2)
    assert "First memory is filled" not in said(stage)
    assert stage.page.model.run_state.rows < 105
    assert "round 3 of 5" in said(stage)

    player.seek(1e9)
    assert "Shuffled reads take" in said(stage)
    button(stage, "End the replay").click()
    assert stage.page.model.state is State.ENDED
    assert stage.page.model.run_state.rows == 105


def test_limit_lines_of_a_replay_are_those_of_what_has_been_played(qtbot, stage):
    open_run(qtbot, stage, burst(noise=(1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0)))
    button(stage, "Replay").click()
    model = stage.page.model
    model.player.pause()
    lines = []
    for part in (0.4, 0.95):
        model.player.seek(model.player.total_s * part)
        lines.append(model.values["dependent_s"])
        assert model.values == model.run_state.finding().clear_values()

    assert lines[1] > 1.4 * lines[0]


def test_status_line_and_page_count_the_rows_of_a_replay_at_the_same_time(qtbot, stage):
    open_run(qtbot, stage, burst())
    told = []
    stage.session.status_changed.connect(lambda: told.append(stage.page.status()))
    button(stage, "Replay").click()
    player = stage.page.model.player
    player.pause()
    player.step()
    assert told[-1] == f"Rows: {player.run_state.rows}"


def test_a_run_of_this_window_is_played_from_its_file(qtbot, stage):
    made = burst()
    run_to(stage, made=made)
    assert "Replay" not in said(stage).splitlines()
    stage.keep(made)
    qtbot.keyClick(stage.page, Qt.Key.Key_R)

    qtbot.waitUntil(lambda: stage.page.model.state is State.PLAYING)
    form = stage.form
    assert not form.findChild(QSlider).isEnabled()  # nothing is started from here meanwhile
    button(stage, "End the replay").click()
    assert form.findChild(QSlider).isEnabled()


def test_a_replay_stands_still_while_nobody_looks(qtbot, stage):
    open_run(qtbot, stage, burst())
    button(stage, "Replay").click()
    stage.page.leave()

    assert not stage.page.model.player.is_playing


def gil_run(*rows, **more) -> Made:
    timings = [
        gil_threads.Timing(method="serial", python="3.11", repeat=repeat, wall_s=1.0, gil=True)
        for repeat in range(2)
    ]
    return made("gil-threads", gil_threads.Params(), [*timings, *rows], **more)


def plots_left(stage) -> list[str]:
    plots = stage.plots
    views = stage.page.model.experiment.plots
    return [view.key for view, plot in zip(views, plots, strict=True) if not plot.isHidden()]


def test_once_a_run_has_ended_plots_without_a_measurement_are_left_out(qtbot, stage):
    stage.page.open("gil-threads")
    button(stage, "Run").click()
    *begun, finished = events(gil_run())
    stage.runner.hear(*begun)
    drawn(qtbot, stage)
    assert plots_left(stage) == ["wall", "lanes", "sleeper"]

    stage.runner.hear(finished)
    drawn(qtbot, stage)
    assert plots_left(stage) == ["wall"]


def test_a_replay_leaves_them_out_at_its_end(qtbot, stage):
    (path,) = stage.keep(gil_run())
    stage.page.open_run(path, then="replay")
    qtbot.waitUntil(lambda: stage.page.model.player is not None)
    player = stage.page.model.player
    player.pause()
    player.seek(0)
    drawn(qtbot, stage)
    assert plots_left(stage) == ["wall", "lanes", "sleeper"]

    player.seek(1e9)
    drawn(qtbot, stage)
    assert plots_left(stage) == ["wall"]


def test_of_two_runs_a_plot_is_left_out_if_neither_has_measured_anything_for_it(qtbot, stage):
    wake = gil_threads.Wake(burners=0, repeat=0, late_s=1e-4)
    a, b = stage.keep(gil_run(), gil_run(wake, at="2026-05-05T03:02:01+00:00"))
    stage.page.open_run(a, b)
    qtbot.waitUntil(lambda: stage.page.model.comparing.pair is not None)
    drawn(qtbot, stage)

    assert plots_left(stage) == ["wall", "sleeper"]


# --- comparing ------------------------------------------------------------------------------


def test_two_runs_are_compared_on_the_same_axes_and_in_a_table(qtbot, stage):
    stopped = burst(1.7, at="2026-05-03T03:02:01+00:00", outcome="stopped")
    a, b = stage.keep(burst(), stopped)
    stage.page.open_run(a, b)
    qtbot.waitUntil(lambda: stage.page.model.comparing.is_on)
    drawn(qtbot, stage)

    assert "A was cut short" in said(stage)
    assert "0.588×" in said(stage)  # A is the earlier, wherever one comes from
    assert "↓ lower" in said(stage)
    summary = stage.plots[0].summary()
    assert "B shuffled" in summary
    for run in ("A", "B"):  # each has limits of its own, and one of the two is what is shown
        assert f"Limit “{run} · " in summary
    assert "B · Full run, started 2026-05-04" in said(stage)
    stage.do.data.trigger()
    assert "Rows of run B only" in said(stage)
    stage.do.plot.trigger()
    button(stage, "Stop comparing").click()
    assert "↓ lower" not in said(stage)
    assert "B · Full run" not in said(stage)
    drawn(qtbot, stage)
    assert "B shuffled" not in stage.plots[0].summary()


def test_two_runs_of_one_minute_are_told_apart_and_by_the_name_they_were_given(qtbot, stage):
    early, late = "2026-05-03T03:02:01+00:00", "2026-05-03T03:02:40+00:00"
    a, b = stage.keep(burst(at=early), burst(1.7, at=late))
    stage.page.open_run(a, b)
    qtbot.waitUntil(lambda: stage.page.model.comparing.is_on)
    assert ":01 · " in stage.page.model.comparing.found.a
    assert ":40 · " in stage.page.model.comparing.found.b

    run = next(run for run in stage.session.library.runs() if run.path == b)
    stage.session.library.describe(run, RunNotes(name="laptop, unplugged"))
    stage.page.model.compare_with(b)
    qtbot.waitUntil(lambda: "unplugged" in stage.page.model.comparing.found.b)
    assert stage.page.model.comparing.found.b.startswith("laptop, unplugged · 3 May")


def test_the_menu_offers_the_other_runs_and_a_file(qtbot, stage):
    quick = partial(msgspec.structs.replace, quick=True)
    path, *_ = stage.keep(
        burst(),
        burst(1.7, at="2026-05-03T03:02:01+00:00"),
        burst(1.7, (1.0, 1.0, 1.0), at="2026-05-02T03:02:01+00:00"),
        burst(1.7, at="2026-05-01T03:02:01+00:00", change=quick),
        threads(),
    )
    stage.page.open_run(path)
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)
    menu = compare_with(stage)
    texts = [action.text() for action in menu.actions() if not action.isSeparator()]
    result = "shuffled over in order 20×"
    assert texts == [
        f"3 May · full · same settings · {result}",
        f"2 May · full · Rounds 3 · {result}",
        f"1 May · quick · Largest array 1 MiB · {result}",
        "From a file…",
    ]

    menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: stage.page.model.comparing.is_on)
    assert "↓ lower" in said(stage)


def test_a_comparison_brings_the_plots_to_the_front(qtbot, stage):
    a, b = burst(), burst(1.7, at="2026-05-03T03:02:01+00:00")
    path, other = stage.keep(a, b)
    stage.page.open_run(path)
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)
    stage.do.code.trigger()

    stage.page.model.compare_with(other)
    qtbot.waitUntil(lambda: stage.page.model.comparing.is_on)

    assert stage.do.plot.isChecked()
    stage.do.code.trigger()  # which can be read meanwhile
    stage.page.model.changed.emit()
    assert stage.do.code.isChecked()


def test_runs_that_cannot_be_compared_are_refused_in_a_sentence(qtbot, stage, monkeypatch):
    path = open_run(qtbot, stage, burst())
    other = threads().write(stage.folder / "other.coreopsis.jsonl")
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(other), ""))
    compare_menu(stage.page.model, stage.page).actions()[-1].trigger()
    qtbot.waitUntil(lambda: stage.page.model.comparing.is_on)

    assert "These are runs of two different experiments" in said(stage)
    assert stage.page.model.path == path


# --- plot, code, data -----------------------------------------------------------------------


def test_a_key_turns_from_the_plots_to_the_data_and_back(qtbot, stage):
    run_to(stage)
    qtbot.keyClick(stage.page, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert "105 rows" in said(stage)
    assert "Settings and conditions" in said(stage)
    assert "Rounds" in said(stage)  # what it was started with

    qtbot.keyClick(stage.page, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert "105 rows" not in said(stage)


def test_the_code_is_that_which_ran(qtbot, stage, monkeypatch):
    import experiments.memory.burst_random.experiment as ran

    run_to(stage)
    button(stage, "Code").click()
    text = stage.page.findChild(CodeView).findChild(QPlainTextEdit)
    qtbot.waitUntil(lambda: "def sum_listed(" in text.toPlainText())
    assert len(text.toPlainText().splitlines()) <= 15
    assert "Rounds" in said(stage)  # what it was started with
    count = len(sources(stage.page.model.experiment))
    button(stage, ENGLISH.say("page.all_code", {"count": count})).click()
    assert "def sum_in_a_row(" in text.toPlainText()
    with open(ran.__file__, encoding="utf-8") as file:
        code = file.read()
    button(stage, "experiment.py").click()
    assert text.toPlainText() == code

    target = stage.folder / "mine.py"
    chooses(monkeypatch, target)
    button(stage, ENGLISH.say("page.save_script")).click()
    qtbot.waitUntil(target.exists)
    assert code in target.read_text(encoding="utf-8")
    button(stage, ENGLISH.say("page.copy_script")).click()
    qtbot.waitUntil(lambda: code in QGuiApplication.clipboard().text())


@pytest.mark.parametrize("way", ["button", "palette"])
@pytest.mark.parametrize("has_run", [True, False])
def test_the_code_is_saved_as_a_notebook_with_what_it_ran_with(
    qtbot, stage, monkeypatch, way, has_run
):
    if has_run:
        run_to(stage)
    else:
        stage.page.open("burst-random")
    stage.do.code.trigger()
    target = stage.folder / "mine.ipynb"
    chooses(monkeypatch, target)
    if way == "button":
        button(stage, ENGLISH.say("page.notebook")).click()
    else:
        next(each for each in stage.page.own_actions() if each is stage.do.notebook).trigger()
    qtbot.waitUntil(target.exists)
    qtbot.waitUntil(lambda: target.read_text(encoding="utf-8").endswith("}\n"))

    cells = json.loads(target.read_text(encoding="utf-8"))["cells"]
    found: dict = {}
    (typed,) = (each for each in cells if each["id"] == "settings")
    exec("".join(typed["source"]), found)
    run_state = stage.page.model.run_state
    entry = stage.session.entries["burst-random"]
    params = run_state.started.params if has_run else to_json(entry.params)
    assert found["SETTINGS"]["largest_bytes"] == str(params["largest_bytes"])
    assert found["SETTINGS"].keys() == params.keys()


def test_the_rows_are_saved_as_csv_or_it_is_said_why_not(qtbot, stage, monkeypatch):
    run_to(stage)
    target = stage.folder / "rows.csv"
    chooses(monkeypatch, target)
    qtbot.keyClick(
        stage.page,
        Qt.Key.Key_S,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier,
    )

    lines = target.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "size_bytes,order,repeat,element_s,useful_bytes_per_s"
    assert len([line for line in lines if line]) == 106

    chooses(monkeypatch, stage.folder / "no" / "rows.csv")
    with qtbot.waitSignal(stage.session.troubled) as troubled:
        stage.do.save_csv.trigger()
    assert "could not be written" in stage.session.say(troubled.args[0])


def test_the_plot_looked_at_last_is_the_one_that_is_saved_and_the_menu_says_so(qtbot, stage):
    run_to(stage)
    drawn(qtbot, stage)
    views, do = stage.views, stage.do
    stage.page.own_actions()
    assert do.save_picture.text() == "Save “Time per 8-byte element” as PNG…"

    views.plots[1].setFocus()
    button(stage, "Run again").setFocus()
    stage.page.own_actions()
    assert do.save_picture.text() == "Save “Useful bytes per second” as PNG…"
    assert do.save_csv.text() == "Save the rows of “Time per 8-byte element” as CSV…"
    assert views.plot_in_focus() is views.plots[1]


def test_no_file_is_written_of_no_rows(stage):
    told = []
    stage.session.noticed.connect(lambda text, *_: told.append(text))
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.do.save_csv.trigger()

    assert told == [ENGLISH.say("plot.empty")]


def test_a_picture_is_saved_and_copied(qtbot, stage, monkeypatch):
    run_to(stage)
    drawn(qtbot, stage)
    target = stage.folder / "picture"
    chooses(monkeypatch, target)
    qtbot.keyClick(stage.page, Qt.Key.Key_S, Qt.KeyboardModifier.ControlModifier)
    assert (stage.folder / "picture.png").read_bytes().startswith(b"\x89PNG")

    QGuiApplication.clipboard().clear()
    held = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(stage.page, Qt.Key.Key_C, held)
    assert not QGuiApplication.clipboard().image().isNull()


# --- for everybody --------------------------------------------------------------------------


def test_begin_quarters_and_end_are_announced(stage):
    stage.page.open("burst-random")
    button(stage, "Run").click()
    stage.runner.hear(events(burst())[0])
    for fraction in (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0):
        stage.runner.hear(messages.Progress(fraction=fraction, left_s=1.0))
    stage.runner.hear(*events(burst())[1:])

    assert stage.said[:4] == ["Starting", "25 % done", "50 % done", "75 % done"]
    assert len(stage.said) == 5
    assert "Shuffled reads take" in stage.said[4]


def test_only_what_makes_sense_now_is_offered(stage):
    def offered():
        return {action.text() for action in stage.page.own_actions()}

    stage.page.open("burst-random")
    assert {"Run", "Quick run"} <= offered()
    assert not {"Stop", "Replay", "Save as CSV…", "Compare"} & offered()
    button(stage, "Run").click()
    assert "Stop" in offered()
    assert not {"Run", "Quick run"} & offered()
    stage.runner.hear(*events(burst()))
    assert {"Run again", "Save as CSV…"} <= offered()
    assert "Stop" not in offered()


def test_single_letters_act_only_where_they_are_wanted(stage):
    assert stage.do.replay.shortcut().toString() == "R"

    stage.session.settings = stage.session.settings.replace(letters=False)
    stage.session.settings_changed.emit()

    assert stage.do.replay.shortcut().isEmpty()


def test_every_control_has_a_name(qtbot, stage):
    run_to(stage)
    for side in ("Numbers", "Code", "Data"):
        button(stage, side).click()
        for control in stage.page.findChildren(QAbstractButton):
            if control.isVisible():
                assert control.accessibleName() or control.text(), control


def test_another_theme_is_worn_at_once(qtbot, worn, stage):
    run_to(stage)
    drawn(qtbot, stage)
    before = stage.page.grab().toImage()
    worn.wear(themes.load("light", 1.6))

    after = stage.page.grab().toImage()
    assert before.pixelColor(5, 5).lightness() < 60
    assert after.pixelColor(5, 5).lightness() > 200


def test_the_keyboard_goes_through_the_page_as_one_reads_it(qtbot, stage):
    run_to(stage)
    drawn(qtbot, stage)
    seen = []
    while stage.page.focusWidget() not in seen:
        seen.append(stage.page.focusWidget())
        go_on(stage.page, forward=True)
    names = [each.accessibleName() or each.text() for each in seen]
    start = names.index("Experiments")
    order = dict.fromkeys([*names[start:], *names[:start]])

    wanted = [
        "Experiments", "Numbers", "Time per 8-byte element", "Useful bytes per second",
        "L3, in use here", "Result", "Run again F5 · 15 s",
    ]  # fmt: skip
    assert [name for name in order if name in wanted] == wanted


def test_what_is_turned_is_told_in_seconds(stage):
    stage.page.open("burst-random")
    assert "about 15 s here" in said(stage)
    stage.set_up(msgspec.structs.replace(stage.form.params(), rounds=50))

    assert "about 15 s here" not in said(stage)


def test_after_a_run_it_says_how_long_the_same_took_here(qtbot, stage):
    params = stage.session.entries["burst-random"].params
    rows = burst(params=params).lines
    last = msgspec.structs.replace(messages.decode_event(rows[-2]), t_s=31.4)
    slow = Made("", (*rows[:-2], messages.encode(last), rows[-1]))
    stage.keep(msgspec.structs.replace(slow, run=burst().run))
    stage.page.open("burst-random")
    qtbot.waitUntil(lambda: stage.page.model.state is State.ENDED)
    again = button(stage, "Run again")
    assert again.hint == "F5 · 31 s"

    stage.set_up(msgspec.structs.replace(params, rounds=params.rounds - 1))
    assert "31 s" not in again.hint
