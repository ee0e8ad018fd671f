from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from app import synthetic_load
from app.window.core.target import LIVE, Target
from app.window.core.watcher import QUIET_HZ
from app.window.live.place import LivePlace
from experiments.core.problems import Problem
from experiments.engine import messages
from machine.live.recorded_watch import read
from tests.app.window.stage import found
from tests.experiments.machines import machine
from tests.gallery.live_samples import samples
from widgets.live.board import Board
from widgets.live.page import LivePage

COUNT = 4


def wired(**options) -> list[messages.Sample]:
    """Return made-up samples as they come over the messages."""
    return [
        messages.Sample(
            t_s=sample.t_s,
            threads=sample.threads,
            memory=sample.memory,
            disks=sample.disks,
            network=sample.network,
            gpus=sample.gpus,
            missing=sample.missing,
        )
        for sample in samples(COUNT, **options)
    ]


def page(place: LivePlace) -> LivePage:
    return found(place, LivePage)


@pytest.fixture
def place(qtbot, session) -> Iterator[LivePlace]:
    place = LivePlace(session)
    qtbot.addWidget(place)
    place.resize(1200, 700)
    with qtbot.waitExposed(place):
        place.show()
    place.arrive()
    place.open(Target(LIVE))
    yield place
    place.watching.known_load.stop()


@pytest.fixture
def drawn(monkeypatch) -> list[float]:
    """Return the times of what is drawn."""
    times: list[float] = []
    draw = Board.draw

    def note(board, history, missing=None):
        times.append(history.now_s)
        draw(board, history, missing)

    monkeypatch.setattr(Board, "draw", note)
    return times


def test_before_the_first_sample_it_says_that_it_waits(place):
    assert page(place).instead.isVisible()
    assert not place.controls.save.isEnabled()
    assert place.status() == ""

    place.session.sampled.emit(wired()[0])

    assert not page(place).instead.isVisible()
    assert place.controls.save.isEnabled()


def test_what_is_seen_is_drawn(place, drawn):
    for sample in wired(seconds=2):
        place.session.sampled.emit(sample)

    assert drawn == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert place.board.tiles["cores"].face.known


def test_what_is_not_seen_is_kept_and_not_drawn(place, drawn):
    place.leave()
    for sample in wired(seconds=2):
        place.session.sampled.emit(sample)
    assert drawn == []
    assert len(place.state.live.moments) == 5

    place.arrive()

    assert drawn == [2.0]


def test_a_sample_right_after_another_rate_tells_nothing_and_is_left_out(place):
    first, second, third = wired(seconds=1)
    too_soon = msgspec.structs.replace(third, t_s=0.51)
    for sample in (first, second, too_soon, third):
        place.session.sampled.emit(sample)

    assert [moment.at_s for moment in place.state.live.moments] == [0.0, 0.5, 1.0]


def test_frozen_it_collects_and_stands_still(place, drawn):
    first, *later = wired(seconds=2)
    place.session.sampled.emit(first)
    place.freeze(True)
    drawn.clear()

    for sample in later:
        place.session.sampled.emit(sample)

    assert drawn == []
    assert place.state.live.now_s == 2.0
    place.controls.freeze.setChecked(True)
    place.controls.freeze.setChecked(False)
    assert drawn[-1] == 2.0


def test_space_freezes_and_m_marks(place):
    place.session.sampled.emit(wired()[0])

    QTest.keyClick(place, Qt.Key.Key_Space)
    QTest.keyClick(place, Qt.Key.Key_M)

    assert place.controls.freeze.isChecked()
    assert [mark.number for mark in place.state.live.marks] == [1]


def test_space_presses_the_button_that_has_the_focus(place):
    place.session.sampled.emit(wired()[0])
    place.controls.mark.setFocus()

    QTest.keyClick(place.controls.mark, Qt.Key.Key_Space)

    assert not place.controls.freeze.isChecked()
    assert len(place.state.live.marks) == 1


def test_a_click_on_a_button_leaves_space_to_freeze(place, qtbot):
    place.session.sampled.emit(wired()[0])
    place.activateWindow()
    place.watching.start_load(1)

    for button in (place.controls.mark, place.controls.load):
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
        frozen = place.controls.freeze.isChecked()
        qtbot.keyClick(place.window().focusWidget(), Qt.Key.Key_Space)
        assert place.controls.freeze.isChecked() is not frozen

    assert len(place.state.live.marks) == 1
    assert place.watching.known_load.count == 0
    for button in place.findChildren(QPushButton):
        assert button.focusPolicy() is Qt.FocusPolicy.TabFocus or button is page(place).again


def test_space_on_a_tile_freezes_too(place):
    place.session.sampled.emit(wired()[0])

    QTest.keyClick(place.board.tiles["memory"], Qt.Key.Key_Space)

    assert place.controls.freeze.isChecked()


def test_single_letters_can_be_switched_off(place):
    place.session.sampled.emit(wired()[0])
    assert "(M)" in place.controls.mark.text()
    place.session.settings = place.session.settings.replace(letters=False)
    place.session.settings_changed.emit()

    assert "(" not in place.controls.freeze.text() + place.controls.mark.text()
    QTest.keyClick(place, Qt.Key.Key_M)
    QTest.keyClick(place, Qt.Key.Key_Space)

    assert place.state.live.marks == []
    assert not place.controls.freeze.isChecked()


def test_a_double_click_marks_the_moment_that_is_pointed_at(place):
    for sample in wired(seconds=8):
        place.session.sampled.emit(sample)
    line = place.board.tiles["memory"].body
    QTest.mouseMove(line, QPoint(line.width() - 1, 5))
    QTest.mouseMove(line, QPoint(line.width() * 56 // 60, 5))

    QTest.mouseDClick(line, Qt.MouseButton.LeftButton, pos=QPoint(line.width() * 56 // 60, 5))

    newest_s = place.state.history.now_s
    assert place.state.live.marks[0].at_s == pytest.approx(newest_s - 4, abs=0.5)


def test_a_mark_in_a_frozen_picture_stands_where_the_cursor_does(place):
    for sample in wired(seconds=10):
        place.session.sampled.emit(sample)
    place.freeze(True)
    place.board.point_at(4.0)

    place.mark()

    assert place.state.live.marks[0].at_s == 6.0
    assert place.state.frozen.marks == place.state.live.marks


def test_the_last_minute_is_saved_and_names_nobody(place, tmp_path):
    sent = wired(seconds=90, gpus="pair")
    for sample in sent:
        place.session.sampled.emit(sample)
    path = tmp_path / "minute.coreopsis-watch.jsonl"
    place.files.saving.choose_new = lambda suggestion: path

    place.save()

    kept = read(path)
    assert 60.0 <= kept.seconds <= 60.5
    assert kept.samples[-1].t_s == sent[-1].t_s
    assert b"ada" not in path.read_bytes()
    assert b"train.py" not in path.read_bytes()


def test_a_frozen_minute_is_saved_as_it_is_seen(place, tmp_path):
    first, *later = wired(seconds=5)
    place.session.sampled.emit(first)
    place.freeze(True)
    for sample in later:
        place.session.sampled.emit(sample)
    path = tmp_path / "minute.coreopsis-watch.jsonl"
    place.files.saving.choose_new = lambda suggestion: path

    place.save()

    assert [sample.t_s for sample in read(path).samples] == [first.t_s]


def test_a_minute_under_an_own_name_gets_the_ending_that_open_lists(place, tmp_path):
    place.session.sampled.emit(wired()[0])
    place.files.saving.choose_new = lambda suggestion: tmp_path / "watch.jsonl"

    place.save()

    assert [path.name for path in tmp_path.glob("watch*")] == ["watch.coreopsis-watch.jsonl"]


def test_the_name_of_the_file_says_when(place):
    asked = []
    place.files.saving.choose_new = lambda suggestion: asked.append(suggestion)
    place.session.sampled.emit(wired()[0])

    place.controls.save.click()

    assert asked[0].startswith("20")
    assert asked[0].endswith(".coreopsis-watch.jsonl")


def test_a_load_is_started_and_ended(place, qtbot):
    place.controls.load_wanted.emit(1)
    assert place.watching.known_load.count == 1
    assert place.controls.load.isChecked()

    place.controls.load.click()

    assert place.watching.known_load.count == 0
    assert not place.controls.load.isChecked()


def test_a_load_that_has_ended_by_itself_is_seen_to(qtbot, place):
    place.watching.known_load.start(1, seconds=0.05)
    place.watching.show_load()
    assert place.controls.load.isChecked()
    qtbot.waitUntil(lambda: place.watching.known_load.count == 0)

    place.session.sampled.emit(wired()[0])

    assert not place.controls.load.isChecked()


def offered(place: LivePlace) -> list[tuple[str, bool]]:
    """Return the loads in the menu, and whether each can be chosen."""
    return [(action.text(), action.isEnabled()) for action in place.controls.loads.actions()]


def test_a_load_on_a_gpu_is_offered_where_there_is_one(place, monkeypatch):
    say = place.session.words.say
    monkeypatch.setattr(synthetic_load.importlib.util, "find_spec", lambda _: object())
    place.session.machine = machine(gpus=1)
    place.session.machine_changed.emit()

    loads = [say(f"live.load_{kind}", {"number": 0}) for kind in synthetic_load.KINDS]
    assert offered(place)[-2:] == [(text, True) for text in loads]


@pytest.mark.parametrize(("gpus", "key"), [(0, "needs_gpu"), (1, "needs_torch")])
def test_where_no_gpu_can_be_loaded_the_reason_stands_in_the_menu(place, monkeypatch, gpus, key):
    monkeypatch.setattr(synthetic_load.importlib.util, "find_spec", lambda _: None)
    place.session.machine = machine(gpus=gpus)
    place.session.machine_changed.emit()

    text, is_enabled = offered(place)[-1]
    assert place.session.say(Problem(key)) in text
    assert not is_enabled


def test_a_machine_from_a_file_offers_none_of_its_gpus(place, monkeypatch):
    monkeypatch.setattr(type(place.session.context), "has_fake_machine", True)
    place.session.machine = machine(gpus=2)
    place.session.machine_changed.emit()

    assert not [text for text, _ in offered(place) if "GPU 1" in text]


def test_a_load_on_a_gpu_that_fails_says_why(place, qtbot, monkeypatch):
    failing = (sys.executable, "-c", "print('no such device', end=''); raise SystemExit(1)")
    monkeypatch.setattr(synthetic_load, "command_on_gpu", lambda *_: failing)
    place.session.machine = machine(gpus=1)
    place.controls.gpu_load_wanted.emit("matmul", "cuda:0")
    qtbot.waitUntil(lambda: place.watching.known_load.count == 0)

    with qtbot.waitSignal(place.session.troubled) as trouble:
        place.session.sampled.emit(wired()[0])

    assert trouble.args[0].key == "known_load_failed"
    assert trouble.args[0].values == {"reason": "no such device"}
    assert not place.controls.load.isChecked()


def test_a_load_on_a_gpu_is_ended_by_a_second_click(place, monkeypatch):
    waiting = (sys.executable, "-c", "import os; os.read(0, 1)")
    monkeypatch.setattr(synthetic_load, "command_on_gpu", lambda *_: waiting)
    place.session.machine = machine(gpus=1)
    place.controls.gpu_load_wanted.emit("copy", "cuda:0")
    assert place.watching.known_load.count == 1
    assert place.controls.load.isChecked()

    place.controls.load.click()

    assert place.watching.known_load.count == 0


def test_the_misleading_is_explained(place, qtbot):
    place.controls.explain.click()

    sheet = place.findChildren(type(place).explain.__globals__["Explanation"])[0]
    assert sheet.isVisible()
    heads = {label.text() for label in sheet.findChildren(QLabel)}
    assert {"The lines", "Tasks waited", "Errors unknown", "Stolen time"} <= heads
    assert any("for cores to 100 %" in text for text in heads)  # "now" stands there
    sheet.dismiss()


def test_a_machine_from_a_file_has_nothing_to_watch(qtbot, session, monkeypatch):
    monkeypatch.setattr(type(session.context), "has_fake_machine", True)
    place = LivePlace(session)
    qtbot.addWidget(place)

    assert page(place).instead.text() == session.words.say("live.no_watch")


# --- with the worker that looks at this machine ---------------------------------------------------


@pytest.fixture
def rates(place, monkeypatch) -> list[float]:
    from app.window.core.watcher import Watcher

    rates: list[float] = []
    monkeypatch.setattr(Watcher, "set_rate", lambda _self, hz: rates.append(hz))
    place.session.wake()
    return rates


def test_the_chosen_rate_is_that_of_who_looks_only(place, rates):
    place.watching.set_rate(10.0)
    assert rates[-1] == 10.0
    place.leave()
    assert rates[-1] == QUIET_HZ
    place.arrive()
    assert rates[-1] == 10.0


def test_while_an_experiment_runs_it_looks_seldom_and_says_so(place, rates):
    place.watching.set_rate(10.0)
    place.watching.start_load(1)
    place.session.runner.is_running = True
    place.session.runner.began.emit()

    assert rates[-1] == QUIET_HZ
    assert place.watching.known_load.count == 0
    assert not place.controls.load.isEnabled()
    assert place.status() == "2 Hz during an experiment"

    place.session.runner.is_running = False
    place.session.runner.ended.emit()

    assert rates[-1] == 10.0
    assert place.controls.rate.isEnabled()


def test_it_says_what_watching_costs(place, qtbot):
    place.session.wake()

    qtbot.waitUntil(lambda: "of one core" in place.status(), timeout=20_000)

    assert place.status().startswith("watching at 2 Hz")


def test_it_says_that_the_watch_has_ended_until_somebody_looks_again(place, qtbot, monkeypatch):
    from app.window.core import watcher

    monkeypatch.setattr(watcher, "REPLACEMENTS", 0)
    place.session.wake()
    qtbot.waitUntil(lambda: bool(place.samples), timeout=20_000)

    with qtbot.waitSignal(place.session.watcher.ended, timeout=20_000):
        os.kill(place.session.watcher.pid, signal.SIGKILL)

    place.leave()
    place.arrive()
    assert page(place).instead.isVisible()
    assert "has ended" in page(place).instead.text()

    count = len(place.samples)
    qtbot.mouseClick(page(place).again, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(place.samples) > count, timeout=20_000)
    assert not page(place).instead.isVisible()
    assert not page(place).again.isVisible()
