from __future__ import annotations

import msgspec
import pytest

from app.lecture.fallbacks import StandIns
from app.lecture.file import SUFFIX, Item, Lecture
from app.lecture.handout import find
from app.lecture.record import record_of
from app.window.lecture.conductor import SLEPT_S
from app.window.lecture.item_run import HELD_S, LATE_S
from app.window.lecture.shown_runs import pause_s
from experiments.core.judging.trust import Trust
from experiments.engine import messages
from tests.app.window.lecture.lectures import THREE, Key, recorded
from tests.app.window.stage import settle

OUTCOMES = [messages.Outcome.FAILED, messages.Outcome.KILLED, messages.Outcome.LOST]


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clocks(monkeypatch):
    """Return the clock of the process, and the clock on the wall."""
    from app.window.lecture import conductor

    steady, wall = Clock(), Clock()
    defaults = {"clock": steady, "wall": wall}
    monkeypatch.setattr(conductor.Conductor.__init__, "__kwdefaults__", defaults)
    return steady, wall


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_run_that_fails_is_one_line_and_the_next_key_shows_the_recording(hall, outcome):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads", 0.3)
    why = hall.end(outcome)
    assert hall.conductor.trouble == why
    assert why in hall.show.audience.strip.text
    assert not hall.data.band

    hall.press(Key.Key_PageDown)

    assert hall.at == (1, "run")
    assert hall.data.band
    assert not hall.data.source
    assert hall.conductor.course.turn.hidden_arms
    while hall.at[0] == 1:
        hall.press(Key.Key_PageDown)
    assert hall.at == (2, "question")
    assert not hall.conductor.trouble


def test_r_shows_the_recording_at_the_same_place_and_a_late_end_changes_nothing(hall):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads", 0.5)
    hall.press(Key.Key_R)
    assert hall.runner.stops == 1
    assert hall.data.band
    assert hall.at == (1, "run")
    hidden = hall.conductor.course.turn.hidden_arms
    drawn = hall.drawn()

    hall.runner.hear(messages.Finished(outcome=messages.Outcome.COMPLETED))

    assert hall.data.band
    assert hall.drawn() == drawn
    assert hall.conductor.course.turn.hidden_arms == hidden
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "reveal")


def test_r_before_the_run_measures_nothing(hall):
    hall.begin()
    hall.press(Key.Key_R, Key.Key_PageDown)
    assert hall.say("next_key", next=hall.say("next.recording")) == hall.data.key
    assert hall.runner.is_stopping  # what was made ready
    hall.to_run()
    assert hall.runner.stops == len(hall.runner.started) == 1
    assert hall.data.band


def test_g_measures_again_or_shows_what_was_measured(hall):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads")
    hall.press(Key.Key_PageDown, Key.Key_R)
    assert hall.at == (1, "reveal")
    assert hall.data.band
    hall.press(Key.Key_G)
    assert hall.at == (1, "reveal")
    assert hall.data.source
    assert len(hall.runner.started) == 1

    hall.press(Key.Key_2, Key.Key_Return)
    hall.rest()
    hall.to_run()
    hall.end(messages.Outcome.LOST)
    hall.press(Key.Key_R, Key.Key_G)
    assert hall.at == (2, "run")
    assert [id_ for id_, *_ in hall.runner.started] == ["gil-threads", *2 * ["burst-random"]]


def test_silence_is_told_and_taken_back_when_rows_come(hall, clocks):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads", 0.5)
    usual_s = pause_s(hall.conductor.runs.recording)
    clocks[0].now_s += usual_s + LATE_S - 0.5
    hall.conductor.look_again()
    assert not hall.conductor.trouble
    clocks[0].now_s += 1.0
    hall.conductor.look_again()
    assert (
        hall.say("silent", duration=usual_s + LATE_S + 0.5, recording="R") == hall.conductor.trouble
    )
    assert hall.data.step == "run"
    hall.runner.hear(messages.Progress(fraction=0.9))
    assert not hall.conductor.trouble
    hall.press(Key.Key_R)
    assert hall.data.band


def test_a_run_is_not_held_for_ever_and_begins_anew_at_its_key(hall, clocks):
    hall.begin()
    clocks[0].now_s += HELD_S - 1
    hall.conductor.look_again()
    assert not hall.runner.stops
    clocks[0].now_s += 2
    hall.conductor.look_again()
    assert hall.runner.stops == 1
    hall.end(messages.Outcome.STOPPED)
    assert not hall.conductor.trouble
    hall.to_run()
    assert len(hall.runner.started) == 2
    assert not hall.runner.is_held


def test_a_machine_that_slept_ends_the_run(hall, clocks):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads", 0.5)
    clocks[1].now_s += SLEPT_S + 30
    hall.conductor.look_again()
    assert hall.runner.stops == 1
    told = hall.say("slept", duration=SLEPT_S + 30, recording="R", live="G")
    assert hall.conductor.trouble == told
    hall.end(messages.Outcome.STOPPED)
    assert hall.conductor.trouble == told
    hall.press(Key.Key_PageDown)
    assert hall.data.band


def test_another_program_that_measures_is_named(hall):
    hall.begin()
    hall.to_run()
    values = {"experiment": "context-switch", "since": "10:00"}
    hall.runner.hear(messages.Note(key=messages.WAITING[0], values=values))
    assert hall.whole.words.say("context-switch.question") in hall.conductor.trouble
    hall.hear("gil-threads", 0.3)
    assert not hall.conductor.trouble


def test_without_a_gpu_its_recording_is_the_run(hall):
    hall.begin(Lecture(item=(Item(experiment="pinned"),)))
    hall.to_run()
    assert hall.conductor.trouble == hall.whole.words.say("problems.needs_gpu")
    assert not hall.runner.started
    assert recorded("pinned").started.at[:10] in hall.data.band
    assert hall.data.step == "run"
    hall.press(Key.Key_PageDown)
    assert hall.at[1] in ("reveal", "explain")


def test_neither_run_nor_recording_still_goes_on(hall):
    hall.begin(Lecture(item=(Item(experiment="nonsuch"), Item(experiment="context-switch"))))
    hall.press(Key.Key_PageDown)
    assert "nonsuch" in hall.conductor.trouble
    hall.press(Key.Key_R)
    assert hall.say("no_recording") in hall.conductor.trouble
    hall.press(Key.Key_PageDown, times=2)
    assert hall.at == (2, "question")


def test_wrong_settings_are_one_line(hall):
    hall.begin(Lecture(item=(Item(experiment="context-switch", set={"nonsuch": 1}),)))
    hall.press(Key.Key_PageDown)
    assert hall.conductor.trouble
    hall.press(Key.Key_PageDown)
    assert hall.data.band


def test_a_recording_beside_the_lecture_counts_and_a_damaged_one_does_not(hall, tmp_path):
    from tests.app.recordings import threads

    threads(at="2024-02-03T04:05:06+00:00").write(tmp_path / "beside.coreopsis.jsonl")
    (tmp_path / "broken.coreopsis.jsonl").write_bytes(b"{}\n")
    items = [
        Item(experiment="gil-threads", recording=f"{name}.coreopsis.jsonl")
        for name in ("beside", "broken")
    ]
    hall.whole.session.asked_for_lecture.emit(Lecture(item=tuple(items)), tmp_path / f"x{SUFFIX}")
    hall.rest()
    hall.to_run()
    hall.press(Key.Key_R)
    assert "2024-02-03" in hall.data.band
    hall.press(Key.Key_2, Key.Key_Return)
    hall.rest()
    hall.to_run()
    hall.press(Key.Key_R)
    assert hall.data.band
    assert "2024-02-03" not in hall.data.band


@pytest.mark.parametrize(
    ("fault", "spoil"),
    [
        ("fallback_altered", lambda data: data.replace(b'"wall_s":0.4,', b'"wall_s":0.5,', 1)),
        ("fallback_cut_short", lambda data: b"".join(data.splitlines(keepends=True)[:-1])),
    ],
)
def test_a_spoiled_recording_stands_in_nowhere(hall, tmp_path, fault, spoil):
    from tests.app.recordings import CATALOGUE, threads

    made = threads(at="2024-02-03T04:05:06+00:00")
    (tmp_path / "beside.coreopsis.jsonl").write_bytes(spoil(made.data))
    lecture = Lecture(item=(Item(experiment="gil-threads", recording="beside.coreopsis.jsonl"),))
    path, ours = tmp_path / f"x{SUFFIX}", recorded("gil-threads").started
    hall.whole.session.asked_for_lecture.emit(lecture, path)
    hall.rest()
    hall.to_run()
    hall.press(Key.Key_R)
    assert ours.at[:10] in hall.data.band

    (found,) = find(record_of(lecture, "x"), StandIns(path, tmp_path, CATALOGUE))
    assert found.source.recording.started == ours
    assert found.problem.key == fault


def test_an_exception_shows_the_recording(hall, monkeypatch, caplog):
    hall.begin()
    hall.to_run()

    def fail(_rows):
        raise ValueError("on purpose")

    monkeypatch.setattr(type(hall.conductor.prepared), "arms", lambda _self, rows: fail(rows))
    hall.hear("gil-threads", 0.3)
    assert "on purpose" in hall.conductor.trouble
    assert hall.conductor.course.turn.is_measured
    monkeypatch.undo()
    hall.press(Key.Key_PageDown)
    assert hall.data.band
    while hall.at[0] == 1:
        hall.press(Key.Key_PageDown)
    assert hall.at == (2, "question")


def test_a_slide_that_cannot_be_drawn_does_not_end_the_lecture(hall, monkeypatch, caplog):
    from app.window.lecture import windows

    hall.begin(THREE)
    monkeypatch.setattr(windows, "_draw", lambda *_: 1 / 0)
    hall.to_run()
    assert "ZeroDivisionError" in hall.conductor.trouble
    hall.press(Key.Key_2, Key.Key_Return)
    assert hall.at == (2, "question")


def test_a_run_that_cannot_be_kept_is_one_line(hall, monkeypatch):
    from experiments.core.problems import UserError

    def refuse(*_given, **_named):
        raise UserError("fake_machine_measured")

    monkeypatch.setattr(hall.runner, "start", refuse)
    hall.begin()
    assert not hall.conductor.trouble
    hall.to_run()
    assert hall.conductor.trouble == hall.whole.words.say("problems.fake_machine_measured")


def test_a_run_of_somebody_else_is_waited_for(hall):
    from experiments.core.catalogue import Catalogue

    hall.runner.start(Catalogue().load("context-switch"), {})
    hall.begin()
    hall.to_run()
    assert hall.whole.words.say("context-switch.question") in hall.conductor.trouble
    hall.hear("context-switch")
    settle(lambda: len(hall.runner.started) == 2)
    assert not hall.conductor.trouble


def test_a_run_that_cannot_tell_is_explained_by_its_recording(hall):
    hall.begin()
    hall.to_run()
    recording = recorded("gil-threads")
    hall.runner.hear(recording.started, *recording.events)
    finding = msgspec.structs.replace(recording.finished.finding, trust=Trust.DISTURBED)
    hall.runner.hear(msgspec.structs.replace(recording.finished, finding=finding))
    while hall.data.step != "explain":
        hall.press(Key.Key_PageDown)

    assert hall.data.band
    assert hall.conductor.trouble == hall.say("too_busy")
    hall.press(Key.Key_G)
    assert not hall.data.band
