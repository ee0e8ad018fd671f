from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest

from app.lecture.file import Item, Lecture
from app.lecture.lecture_state import Step
from app.window.core.target import EXPERIMENTS, Target
from app.window.experiment.place import ExperimentPage
from experiments.core.units import show
from experiments.engine.recording import read
from tests.app.window.lecture.lectures import Key, recorded
from tests.app.window.stage import found, settle
from tests.shipped import SHIPPED
from widgets.form.form import ParamsForm


def test_three_items_from_the_first_question_to_the_end(hall):
    hall.begin()
    words = hall.whole.words
    assert hall.at == (1, "question")
    assert len(hall.data.options) == 4
    hall.press(Key.Key_PageDown)
    for key, hands in ((Key.Key_A, 1), (Key.Key_C, 3)):
        hall.press(key, times=hands)
    assert hall.data.votes == (1, 0, 3, 0)
    assert hall.say("hint.go_on") in hall.data.hint
    hall.press(Key.Key_C, shift=True)
    assert hall.data.votes == (1, 0, 2, 0)

    hall.press(Key.Key_V)
    assert (hall.data.step, hall.data.votes) == ("again", (0, 0, 0, 0))
    hall.press(Key.Key_B, Key.Key_Right)
    assert hall.at == (1, "run")
    assert [(id_, params["workers"]) for id_, params, _ in hall.runner.started] == [
        ("gil-threads", 3)
    ]
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "run")  # it is measured
    hall.hear("gil-threads")
    assert hall.data.source
    arms = len(hall.conductor.course.turn.arms)
    hall.press(Key.Key_Space, times=arms - 1)
    assert hall.at == (1, "reveal")
    assert not hall.data.verdict
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "explain")
    assert hall.data.verdict
    right = hall.conductor.runs.right()
    had = words.say("lecture.had_it", {"right": (0, 1, 0, 0)[right], "total": 1})
    assert had in hall.data.said

    hall.press(Key.Key_PageDown)
    assert hall.at == (2, "question")
    hall.to_run()
    hall.hear("burst-random")
    while hall.at[0] == 2:
        hall.press(Key.Key_PageDown)
    assert hall.at == (3, "question")
    assert hall.data.title == "Pipes"
    assert not hall.data.options
    hall.press(Key.Key_PageDown)
    assert hall.at == (3, "run")
    hall.hear("context-switch")
    while hall.data.step != "explain":
        hall.press(Key.Key_PageDown)
    hall.press(Key.Key_PageDown)
    assert hall.at == (3, "explain")
    assert hall.conductor.course.is_over
    assert len(hall.runner.started) == 3


def test_nothing_is_revealed_before_its_key(hall):
    hall.begin()
    hall.to_run()
    hall.hear("gil-threads", 0.6)
    first, *others = hall.conductor.course.turn.arms
    names = {arm: hall.whole.words.say(f"gil-threads.choices.{arm}") for arm in (first, *others)}
    drawn = hall.drawn()
    assert names[first] in drawn
    assert not any(f"{names[arm]}:" in drawn for arm in others)
    assert (hall.data.verdict, hall.data.said) == ("", "")


def test_back_keeps_what_was_counted_and_measured(hall):
    hall.begin()
    hall.press(Key.Key_PageDown, Key.Key_A)
    hall.to_run()
    hall.press(Key.Key_PageUp)
    assert (hall.data.step, hall.data.votes) == ("vote", (1, 0, 0, 0))
    hall.hear("gil-threads")  # it ends meanwhile
    hall.press(Key.Key_PageDown)
    assert hall.data.source
    assert len(hall.runner.started) == 1
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "reveal")


def test_the_next_worker_is_kept_warm(hall):
    hall.begin()
    assert hall.runner.warmed[-1] == "gil-threads"
    hall.to_run()
    hall.hear("gil-threads")
    assert hall.runner.warmed[-1] == "burst-random"


def test_digits_and_enter_go_to_an_item_and_stop_the_run_of_the_one_before(hall):
    hall.begin()
    hall.to_run()
    hall.press(Key.Key_3)
    assert "3" in hall.show.audience.strip.text
    hall.press(Key.Key_Return)
    assert hall.at == (3, "question")
    assert hall.runner.stops == 1
    hall.press(Key.Key_9, Key.Key_Enter)
    assert hall.at == (3, "question")
    hall.press(Key.Key_1, Key.Key_Escape)  # takes the number back
    assert hall.is_on


def test_a_run_waits_for_one_that_is_being_stopped(hall):
    hall.begin()
    hall.to_run()
    hall.press(Key.Key_3, Key.Key_Return, Key.Key_PageDown)
    assert hall.at == (3, "run")
    assert len(hall.runner.started) == 1
    hall.hear("gil-threads", 0.1)
    hall.end("stopped")
    settle(lambda: len(hall.runner.started) == 2)
    hall.hear("context-switch")
    assert hall.conductor.course.turn.is_measured
    assert not hall.conductor.trouble


def test_a_held_key_is_one_step(hall):
    hall.begin()
    for repeats in (False, True, True):
        event = QKeyEvent(
            QKeyEvent.Type.KeyPress, Key.Key_PageDown, Qt.KeyboardModifier.NoModifier, "", repeats
        )
        hall.show.audience.keyPressEvent(event)
    assert hall.at == (1, "vote")


def test_freeze_keeps_the_picture_of_the_class_alone(hall):
    hall.begin()
    slide = hall.show.audience.slide
    before = slide.grab().toImage()
    hall.press(Key.Key_F, Key.Key_PageDown)
    assert slide.grab().toImage() == before
    assert hall.conductor.course.turn.step is Step.VOTE
    hall.press(Key.Key_F)
    assert slide.grab().toImage() != before


def test_black_and_halo(hall):
    hall.begin()
    hall.press(Key.Key_B)
    assert hall.show.audience.is_black
    hall.press(Key.Key_B, Key.Key_PageDown, Key.Key_B)
    assert not hall.show.audience.is_black  # a hand, while the class votes
    assert hall.data.votes[1] == 1
    hall.press(Key.Key_Period)
    assert hall.show.audience.is_black
    hall.press(Key.Key_H)
    assert hall.conductor.is_halo


@pytest.mark.parametrize("key", [Key.Key_Escape, Key.Key_F11])
def test_f11_shows_one_experiment_with_its_settings_and_leaves_all_as_it_was(hall, key):
    window = hall.whole.window
    window.go(Target(EXPERIMENTS, experiment="context-switch"))
    page = found(window, ExperimentPage)
    form = found(page, ParamsForm)
    form.show_params(msgspec.structs.replace(form.params(), rounds=4), {})
    form.changed.emit()
    QTest.keyClick(page, Key.Key_F11)
    assert hall.is_on
    settle(hall.show.audience.isActiveWindow)
    assert hall.data.count == 1
    hall.press(Key.Key_PageDown)
    assert hall.runner.started[0][0] == "context-switch"
    assert hall.runner.started[0][1]["rounds"] == 4

    hall.leave(key)

    assert not hall.is_on
    assert hall.runner.stops == 1
    assert window.place.findChild(ExperimentPage) is page
    assert page.isVisible()
    hall.hear("context-switch", 0.1)
    hall.end("stopped")
    assert page.model.loaded is None


def test_closing_the_window_of_the_class_ends_the_lecture(hall):
    hall.begin()
    hall.to_run()
    hall.show.audience.close()
    assert not hall.is_on
    assert hall.runner.stops == 1


def test_an_empty_lecture_is_refused(hall):
    from app.lecture.file import Lecture

    told = []
    hall.whole.session.troubled.connect(lambda problem: told.append(problem.key))
    hall.whole.session.asked_for_lecture.emit(Lecture(), None)
    assert told == ["lecture_without_items"]
    assert not hall.is_on


def test_the_recorded_runs_are_of_this_version():
    assert recorded("gil-threads").rows


def test_a_guess_asks_its_own_question_and_ends_in_a_number_without_a_plot(hall):
    hall.begin(Lecture(item=(Item(experiment="start-cost", guess="thread"),)))
    words = hall.whole.words
    assert hall.data.title == words.text("guess.thread.ask")
    assert hall.data.options[2] == words.say("lecture.about", {"value": "100 µs"})
    hall.press(Key.Key_PageDown)
    hall.press(Key.Key_C, times=3)
    hall.press(Key.Key_A, Key.Key_PageDown)
    (started,) = hall.runner.started
    assert (started[0], list(started[1]["methods"]), started[2]) == ("start-cost", ["thread"], True)

    hall.hear("start-cost")
    assert hall.show.audience.slide.plot is None  # it would answer the next guesses
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "explain")  # nothing is revealed arm by arm
    thread_s = read(SHIPPED["start-cost"]).finished.finding.values["thread_s"]
    assert hall.data.verdict == f"The answer: {show(thread_s, 's')}."
    assert words.text("guess.thread.because") in hall.data.said
    assert words.say("lecture.had_it", {"right": 3, "total": 4}) in hall.data.said
