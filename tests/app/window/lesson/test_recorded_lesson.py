"""A lesson where the machine lacks what it needs: the recording plays in place of the run."""

from __future__ import annotations

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.evidence import why_recorded
from app.loaded_run import band
from app.window.experiment.status_text import State
from experiments.core.declare import Need
from tests.app.recordings import burst
from tests.app.window.lesson.test_six_steps import (
    CATALOGUE,
    ENGLISH,
    LESSONS,
    answer,
    lesson_of,
    letter,
    plain,
    press,
    said,
)
from tests.app.window.lesson.test_six_steps import stage as stage  # a fixture
from tests.app.window.stage import found, settle
from widgets.controls.replay_bar import ReplayBar
from widgets.lesson.steps import Step

Key = Qt.Key
PLAY = ENGLISH.say("page.play_recording")
# One of each kind of guess; `test_six_steps` walks through every lesson, and `test_evidence`
# explains each by its recording.
ONE_OF_A_KIND = {
    CATALOGUE.lesson(CATALOGUE.load(str(lesson.values[0]))).kind: lesson
    for lesson in reversed(LESSONS)
}


def lack(stage, id_, need=Need.GPU):
    """Open the page of an experiment for which this machine lacks something."""
    entry = stage.session.entries[id_]
    stage.use_entries({**stage.session.entries, id_: dataclasses.replace(entry, need=need)})
    stage.page.open(id_)
    lesson = lesson_of(stage)
    settle(lambda: lesson.taught is not None and lesson.step is Step.QUESTION)
    return lesson


def buttons(stage):
    shown = (each for each in stage.page.findChildren(QPushButton) if each.isVisible())
    return [plain(each.text()) for each in shown]


def end_of_play(stage):
    """Drag the replay bar to its end."""
    bar = found(stage.page, ReplayBar)
    settle(bar.isVisible)
    bar.slider.setValue(bar.slider.maximum())


@pytest.mark.parametrize("id_", ONE_OF_A_KIND.values())
def test_the_recording_is_guessed_played_observed_and_explained_under_its_band(qtbot, stage, id_):
    lesson = lack(stage, id_)
    settle(lambda: "RECORDED" in said(stage))
    why, of = why_recorded(ENGLISH, Need.GPU), lesson.recorded.of(stage.page.model.experiment)
    named = band(ENGLISH, of.run_state.started)
    assert plain(f"{why} {named}") in said(stage)
    assert ENGLISH.say("doctor.page.why") in buttons(stage)
    letter(qtbot, stage, Key.Key_P)
    answer(qtbot, stage)
    assert PLAY in buttons(stage)
    measures = tuple(f"{ENGLISH.say(key)} " for key in ("page.run", "page.quick"))  # with a time
    assert not any(text.startswith(measures) for text in buttons(stage))
    assert not stage.do.quick.isEnabled()

    letter(qtbot, stage, Key.Key_F5)
    settle(lambda: stage.page.model.player is not None)
    assert lesson.step is Step.RUN
    assert stage.page.model.player.is_playing
    assert stage.page.model.player.speed == 1.0
    assert plain(why) in said(stage)
    end_of_play(stage)

    assert lesson.step is Step.OBSERVE
    assert plain(named) in said(stage)
    lesson.observe()
    letter(qtbot, stage, Key.Key_E)
    evidence, guess = lesson.evidence, lesson.guess
    assert (evidence.band, evidence.why) == (named, why)
    assert evidence.explained == lesson.taught.explain(evidence.run, guess)
    assert guess is not None  # it is held against what was played
    settle(lambda: plain(f"{why} {named} {evidence.explained.headline}") in said(stage))

    letter(qtbot, stage, Key.Key_T)
    assert not any(lesson.reached)
    assert not stage.do.run.isEnabled()
    assert (stage.runner.started, stage.session.library.runs()) == ([], [])


def test_who_skips_sees_the_recording_play_too(qtbot, stage):
    lesson = lack(stage, "burst-random", Need.NUMBA)
    press(qtbot, Key.Key_Tab, Key.Key_Return)
    settle(lambda: stage.page.model.player is not None)
    stage.do.live.trigger()  # ends the replay
    assert (lesson.step, lesson.guess) == (Step.OBSERVE, None)
    stage.page.open("gil-threads")
    stage.page.open("burst-random")
    settle(lambda: lesson.step is Step.OBSERVE)
    assert stage.page.model.state is State.ENDED


def test_a_guess_about_a_recording_is_no_guess_about_a_later_run(qtbot, stage):
    lesson = lack(stage, "burst-random", Need.NUMBA)
    letter(qtbot, stage, Key.Key_P)
    answer(qtbot, stage)
    letter(qtbot, stage, Key.Key_F5)
    end_of_play(stage)
    assert lesson.guess is not None
    stage.know_machine()  # numba was added
    settle(lambda: stage.page.model.state is State.READY)
    (path,) = stage.keep(burst())
    settle(lambda: stage.page.model.run_state is not None)
    assert not path.with_name(path.name + ".meta.json").exists()
    assert all(run.run_notes.guess is None for run in stage.session.library.runs())
