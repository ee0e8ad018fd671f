from __future__ import annotations

import pytest

from app.lecture.file import Item, Lecture
from experiments.engine import messages
from tests.app.window.lecture.lectures import Key, recorded
from tests.app.window.stage import settle


def ids(hall) -> list[str]:
    return [id_ for id_, *_ in hall.runner.started]


def test_a_run_is_made_ready_while_the_class_thinks_and_goes_at_its_key(hall):
    hall.begin()
    assert ids(hall) == ["gil-threads"]
    assert hall.runner.is_at_rest
    hall.to_run()
    assert not hall.runner.is_at_rest
    assert hall.runner.first == "serial"  # which the class sees first
    assert ids(hall) == ["gil-threads"]
    hall.hear("gil-threads")
    assert hall.data.source


def test_nothing_of_it_is_seen_before_its_key(hall):
    hall.begin()
    recording = recorded("gil-threads")
    hall.runner.hear(recording.started, *recording.events[:40])
    assert hall.at == (1, "question")
    assert not hall.data.source
    assert not hall.data.busy
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "vote")
    assert not hall.conductor.runs.measured
    hall.press(Key.Key_PageDown)
    assert hall.at == (1, "run")
    assert hall.data.source


def test_what_fails_before_its_key_is_tried_again_at_its_key(hall):
    hall.begin()
    hall.end(messages.Outcome.LOST)
    assert not hall.conductor.trouble
    assert hall.at == (1, "question")
    hall.to_run()
    assert ids(hall) == 2 * ["gil-threads"]
    assert not hall.runner.is_at_rest
    hall.hear("gil-threads")
    assert hall.data.source


def test_another_item_lets_it_go_and_makes_its_own_ready(hall):
    hall.begin()
    hall.press(Key.Key_2, Key.Key_Return)
    assert hall.runner.stops == 1
    assert ids(hall) == ["gil-threads"]  # which has not ended yet
    hall.end(messages.Outcome.STOPPED)
    settle(lambda: len(ids(hall)) == 2)
    assert ids(hall)[1] == "burst-random"
    assert hall.runner.is_at_rest
    hall.rest()
    hall.to_run()
    assert len(ids(hall)) == 2


def test_a_key_before_the_one_made_ready_could_begin_begins_a_run(hall):
    hall.begin()
    hall.press(Key.Key_2, Key.Key_Return)
    hall.rest()
    hall.to_run()
    hall.end(messages.Outcome.STOPPED)
    settle(lambda: len(ids(hall)) == 2)
    assert ids(hall)[1] == "burst-random"
    assert not hall.runner.is_at_rest


def test_g_makes_ready_again_what_r_has_let_go(hall):
    hall.begin()
    hall.press(Key.Key_R)
    hall.end(messages.Outcome.STOPPED)
    hall.press(Key.Key_G)
    assert ids(hall) == 2 * ["gil-threads"]
    assert hall.runner.is_at_rest


def test_leaving_ends_it(hall):
    hall.begin()
    hall.leave()
    assert hall.runner.stops == 1


@pytest.mark.torch
def test_a_run_whose_members_count_the_turns_is_not_made_ready(hall):
    hall.begin(Lecture(item=(Item(experiment="data-parallel"),)))
    assert not ids(hall)
    hall.to_run()
    assert ids(hall) == ["data-parallel"]


@pytest.mark.torch
def test_the_process_of_the_item_is_warm_again_where_its_run_cannot_wait(hall):
    hall.begin(Lecture(item=(Item(experiment="burst-random"), Item(experiment="data-parallel"))))
    hall.press(Key.Key_2, Key.Key_Return)
    hall.runner.warmed.clear()
    hall.end(messages.Outcome.STOPPED)
    assert hall.runner.warmed == ["data-parallel"]


def test_a_run_that_was_stopped_meanwhile_is_not_taken_for_the_one_of_the_key(hall):
    hall.begin()
    hall.runner.stop()
    hall.to_run()
    hall.end(messages.Outcome.STOPPED)
    settle(lambda: len(ids(hall)) == 2)
    assert not hall.conductor.trouble


def test_a_checkup_is_not_held_up(hall, monkeypatch):
    monkeypatch.setattr(hall.whole.session.checking, "is_running", True)
    hall.begin()
    assert not ids(hall)
    hall.to_run()
    assert ids(hall) == ["gil-threads"]
    assert not hall.runner.is_held


def test_the_first_mark_is_drawn_without_waiting_for_more(hall):
    hall.begin()
    hall.to_run()
    plot = hall.show.audience.slide.plot
    before = plot.summary()
    hall.hear("gil-threads", 0.3)
    assert plot.summary() != before
