from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from app.context import read_watch
from app.window.core.watch_player import WatchPlayer, as_message
from app.window.core.watcher import Watcher
from app.window.live.place import LivePlace
from experiments.core.problems import UserError
from experiments.engine import messages
from machine.live.recorded_watch import read, write
from tests.gallery.live_samples import machine, samples
from widgets.live.page import Band


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "minute.coreopsis-watch.jsonl"
    made = []
    for sample in samples(2, hz=20.0, seconds=1, gpus="pair"):
        kept = {name: getattr(sample, name) for name in sample.__slots__}
        made.append({**kept, "threads": [dict(thread) for thread in sample.threads]})
    write(path, made, at="2026-11-20T10:00:00+00:00", machine=machine(2, gpus="pair"))
    return path


@pytest.fixture
def place(qtbot, session) -> LivePlace:
    place = LivePlace(session)
    qtbot.addWidget(place)
    place.resize(1200, 700)
    with qtbot.waitExposed(place):
        place.show()
    place.arrive()
    return place


def band(place) -> Band:
    return place.findChild(Band)


def texts(place) -> list[str]:
    """Return what the band says: of what it is a recording, and which part is seen."""
    return [label.text() for label in band(place).findChildren(QLabel)]


def play(place) -> QPushButton:
    return band(place).findChildren(QPushButton)[0]


def live(t_s: float) -> messages.Sample:
    (made,) = samples(2, seconds=0)
    told = {name: getattr(made, name) for name in made.__slots__}
    return messages.Sample(**{**told, "t_s": t_s})


def test_it_is_shown_to_its_end_with_its_band(place, file):
    place.session.sampled.emit(live(1.0))
    place.show_recording(read(file))

    assert band(place).isVisible()
    assert band(place).accessibleName() == "RECORDED · unknown machine · 2026-11-20"
    assert texts(place)[1] == "End: 1 s recorded."
    assert place.state.history.now_s == 1.0
    assert place.board.tiles["gpu0.busy"].face.number.endswith(" %")
    assert place.status() == ""
    for chip in (place.controls.save, place.controls.rate, place.controls.load):
        assert chip.isHidden()


def test_nothing_of_it_is_said_to_be_now(place, file):
    def said() -> list[str]:
        tile = place.board.tiles["cores"]
        place.board.point_at(0.0)
        painted = tile.body.line._words  # noqa: SLF001  (painted, in no label)
        words = [painted.rpartition(", ")[2], place.controls.about.text()]
        return [tile.texts()[side][0] for side in ("left", "right")] + words

    for sample in read(file).samples:
        place.session.sampled.emit(as_message(sample))
    of_now = ["60 s ago", "now", "now", "The last minute"]
    assert said() == of_now

    place.show_recording(read(file))
    assert said() == ["60 s earlier", "last sample", "last sample", "One minute"]

    place.show_now()
    assert said() == of_now


def test_samples_of_this_machine_are_kept_and_not_mixed_in(place, file):
    place.session.sampled.emit(live(1.0))
    place.show_recording(read(file))
    count = len(place.state.history.moments)

    place.session.sampled.emit(live(1.5))

    assert len(place.state.history.moments) == count
    assert len(place.samples) == 2
    place.show_now()
    assert band(place).isHidden()
    assert place.state.history.now_s == 1.5
    assert "gpu0.busy" not in place.board.tiles
    assert not place.controls.save.isHidden()


def test_it_plays_from_its_beginning_and_stops_at_its_end(place, file, qtbot):
    place.show_recording(read(file))
    recording = place.state.recording

    with qtbot.waitSignal(recording.player.ended, timeout=20_000):
        play(place).click()
        assert len(recording.history.moments) == 0

    assert len(recording.history.moments) == 21
    assert not recording.player.is_playing
    assert texts(place)[1].startswith("End:")


def test_frozen_it_stands_still_until_it_goes_on(place, file, qtbot):
    place.show_recording(read(file))
    recording = place.state.recording
    play(place).click()
    qtbot.waitUntil(lambda: len(recording.history.moments) > 3)

    place.controls.freeze.setChecked(True)
    assert not recording.player.is_playing
    assert "of 1" in texts(place)[1]

    with qtbot.waitSignal(recording.player.ended, timeout=20_000):
        place.controls.freeze.setChecked(False)


def test_a_mark_in_it_is_not_one_in_the_minute_of_this_machine(place, file):
    place.show_recording(read(file))

    place.mark()

    assert len(place.state.recording.history.marks) == 1
    assert place.state.live.marks == []


def test_a_file_that_was_cut_short_is_opened_and_says_so(place, file):
    told = []
    place.session.noticed.connect(lambda text, *_: told.append(text))
    place.show_recording(read(file))
    file.write_bytes(file.read_bytes()[:-20])

    place.show_recording(read(file))

    assert told == ["The last line was cut off and is left out."]


def test_a_file_that_falls_on_live_is_opened(place, file, qtbot):
    place.session.wake()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file))])
    drop = QDropEvent(
        QPointF(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )

    place.dropEvent(drop)

    qtbot.waitUntil(lambda: place.state.recording is not None, timeout=20_000)


@pytest.mark.parametrize("by_menu", [True, False])
def test_a_file_is_chosen_from_the_menu_or_by_the_chip(place, file, qtbot, by_menu):
    place.session.wake()
    place.files.choose = lambda: file
    action = next(each for each in place.own_actions() if each.text() == "Open a recording…")

    (action.trigger if by_menu else place.controls.open.click)()

    qtbot.waitUntil(lambda: place.state.recording is not None, timeout=20_000)


def test_the_dialog_begins_where_the_last_one_ended(place, file, tmp_path, monkeypatch):
    asked, kept = [], []

    def ask(_parent, _title, where, _kinds):
        asked.append(where)
        return str(file), ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)
    place.session.settings = dataclasses.replace(place.session.settings, folder=str(tmp_path))
    place.session.remembered.connect(kept.append)

    assert place.files.choose() == file
    assert asked == [str(tmp_path)]
    assert kept == [{"folder": str(file.parent)}]


def test_what_is_no_recording_is_said(place, tmp_path, qtbot):
    place.session.wake()
    path = tmp_path / "a.watch.jsonl"
    path.write_text("nothing\n")

    with qtbot.waitSignal(place.session.troubled, timeout=20_000) as trouble:
        place.files.open(path)

    assert "a.watch.jsonl cannot be shown. Line 1" in place.session.say(trouble.args[0])
    with pytest.raises(UserError):
        read_watch(tmp_path / "not there.watch.jsonl")


def test_beside_a_fake_machine_it_is_played_again_and_again(qtbot, session, file, monkeypatch):
    monkeypatch.setattr("app.window.core.watch_player.PAUSE_S", 0.01)
    watcher, came = Watcher(), []
    watcher.sampled.connect(came.append)

    watcher.play(read(file))
    qtbot.waitUntil(lambda: len(came) > 25, timeout=20_000)
    watcher.close()

    assert came[21].t_s < came[20].t_s
    assert not watcher.player.is_playing


def test_a_fake_machine_with_a_watch_is_labelled_as_recorded(place, file):
    place.session.wake()
    place.session.watcher.close()
    place.session.watcher.player = WatchPlayer(read(file), repeats=True)

    place.session.sampled.emit(as_message(read(file).samples[0]))

    assert band(place).isVisible()
    assert texts(place)[1] == "repeats"
    assert play(place).isHidden()
    assert place.controls.save.isHidden()


def test_marks_are_kept_in_the_file_and_come_back(place, tmp_path):
    for t_s in (1.0, 1.5, 2.0):
        place.session.sampled.emit(live(t_s))
        if t_s == 1.5:
            place.mark()
    path = tmp_path / "minute.coreopsis-watch.jsonl"
    place.files.saving.choose_new = lambda suggestion: path

    place.save()
    place.show_recording(read(path))

    assert [mark.at_s for mark in place.state.history.marks] == [1.5]


def test_a_minute_in_which_the_watch_began_anew_can_be_read(place, tmp_path):
    for t_s in (8.0, 8.5, 0.5, 1.0):
        place.session.sampled.emit(live(t_s))
    path = tmp_path / "minute.coreopsis-watch.jsonl"
    place.files.saving.choose_new = lambda suggestion: path

    place.save()

    times = [sample.t_s for sample in read(path).samples]
    assert len(times) == 4
    assert times == sorted(times)
