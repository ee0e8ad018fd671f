"""Predictions in the list of runs, the surprises among them, and their question a week later."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from PySide6.QtCore import Qt

from app.runs.run_notes import RunNotes, notes_path, read_notes
from app.window.core.target import EXPERIMENTS, Target
from experiments.core.declare import Need
from experiments.core.teaching.lesson_run import Guess
from tests.app.recordings import burst
from tests.app.window.runs.test_place import Runs
from tests.app.window.stage import entries
from widgets.runs.model import Column

CERTAIN, FAIRLY, A_GUESS = 3, 2, 1


@pytest.fixture
def runs(qtbot, session):
    session.entries = entries()
    session.settings = session.settings.replace(numbers=False)
    return Runs(qtbot, session)


def guessed(runs, *guesses, at="2026-05-0{}T10:00:00+00:00"):
    """Keep runs that found 20 times, each after a guess; return the names of their files."""
    names = runs.keep(*(burst(at=at.format(number + 1)) for number in range(len(guesses))))
    for name, guess in zip(names, guesses, strict=True):
        tell(runs, name, guess=guess)
    return names


def tell(runs, name, **notes):
    path = runs.library.folder / "runs" / name
    notes_path(path).write_bytes(msgspec.json.encode(RunNotes(**notes)))


def said(times, sure=None):
    return Guess(kind="magnitude", at=(times,), sure=sure)


def shown(runs):
    """Return the runs of the list by file name, once every prediction was judged."""

    def judged():
        return all(run.prediction is not None for run in runs.table.runs.shown)

    runs.qtbot.waitUntil(judged)
    return {run.key: run for run in runs.table.runs.shown}


def test_the_list_says_what_was_predicted_and_what_it_was(runs):
    hit, off, surprise, unsure = guessed(
        runs, said(14.0, CERTAIN), said(1000.0, A_GUESS), said(1000.0, FAIRLY), said(1000.0)
    )
    listed = shown(runs.show())
    say = runs.session.words.say

    told = listed[hit].prediction
    assert (told.said, told.was) == (
        say("runs.said", {"guess": "14×"}),
        say("runs.was", {"right": "20×"}),
    )
    assert [listed[name].prediction.verdict for name in (hit, off, surprise, unsure)] == [
        say(f"runs.{key}") for key in ("hit", "off", "surprise", "off")
    ]
    runs.table.select([surprise])
    sure = say("lesson.sure_2")
    assert any(
        say("runs.guessed_sure", {"guess": "1000×", "sure": sure}) in text for text in runs.says()
    )


def test_a_miss_has_its_unit_and_what_counts_as_a_hit_is_said(runs):
    low, high, exact = guessed(runs, said(2.0, CERTAIN), said(1000.0), said(20.0))
    listed = shown(runs.show())
    say = runs.session.words.say

    assert listed[low].prediction.miss == say("runs.too_low", {"times": "10"})
    assert listed[high].prediction.miss == say("runs.too_high", {"times": "50"})
    assert listed[exact].prediction.miss == ""
    runs.table.select([low])
    told = say("runs.it_was_off", {"right": "20×", "miss": say("runs.too_low", {"times": "10"})})
    within = say("runs.hit_within", {"times": "10"})
    assert any(f"{told} {within}" in text for text in runs.says())


def test_a_prediction_has_its_column_in_a_small_window(runs):
    guessed(runs, *[said(2.0, CERTAIN)] * 4)
    shown(runs.show())
    runs.place.resize(1280 - 87, 684)  # a window of 1280 x 720, without its rail and status

    assert not runs.table.isColumnHidden(Column.PREDICTION)


def test_a_run_that_cannot_tell_has_only_what_was_said(runs):
    (stopped,) = runs.keep(burst(outcome="stopped"))
    tell(runs, stopped, guess=said(14.0, CERTAIN))
    told = shown(runs.show())[stopped].prediction

    assert told.guess == "14×"
    assert (told.right, told.was, told.verdict) == ("", "", "")
    assert not runs.place.page.surprises.isVisible()


def test_a_guess_of_another_question_is_left_out(runs):
    (name,) = runs.keep(burst())
    tell(runs, name, guess=Guess(kind="choice", at=(7.0,)))
    runs.show()
    runs.qtbot.wait(100)
    assert runs.table.runs.shown[0].prediction is None


def test_the_search_finds_predictions_and_pins(runs):
    hit, surprise = guessed(runs, said(14.0), said(1000.0, CERTAIN))
    tell(runs, hit, guess=said(14.0), pinned=True)
    shown(runs.show())
    say, search = runs.session.words.say, runs.place.page.search
    for text, found in (
        (say("runs.hit"), [hit]),
        (say("runs.surprise"), [surprise]),
        ("1000×", [surprise]),
        (say("runs.pinned"), [hit]),
    ):
        search.setText(text)
        assert runs.keys() == found, text


def test_surprises_are_shown_alone_and_all_again(runs):
    hit, surprise = guessed(runs, said(14.0, CERTAIN), said(1000.0, CERTAIN))
    shown(runs.show())
    page = runs.place.page
    runs.click(page.surprises)
    assert runs.keys() == [surprise]

    tell(runs, surprise)  # somebody else took the guess away: the filter has nothing to filter
    runs.session.refresh_runs()
    runs.settle()
    assert set(runs.keys()) == {hit, surprise}
    assert not page.surprises.isVisible()


def ago(days):
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def asked(runs):
    return runs.place.page.reminder.text()


def test_a_week_later_the_question_of_a_surprise_comes_back_once(runs):
    (name,) = guessed(runs, said(1000.0, CERTAIN), at=ago(7.5))
    shown(runs.show())
    runs.settle()
    reminder = runs.place.page.reminder
    assert reminder.isVisible()
    assert "1000×" in asked(runs)
    assert "20×" not in asked(runs)  # or it would give the answer away

    runs.click(reminder.ask)

    assert runs.went == [Target(EXPERIMENTS, experiment="burst-random", then="ask")]
    assert not reminder.isVisible()
    notes = read_notes(runs.library.folder / "runs" / name)
    assert notes.asked_again
    assert notes.guess == said(1000.0, CERTAIN)


def test_who_leaves_it_is_not_asked_any_more(runs):
    (name,) = guessed(runs, said(1000.0, FAIRLY), at=ago(30))
    shown(runs.show())
    runs.settle()
    runs.place.page.reminder.leave.setFocus()
    runs.qtbot.keyClick(runs.place.page.reminder.leave, Qt.Key.Key_Space)
    runs.settle()

    assert runs.went == []
    assert not runs.place.page.reminder.isVisible()
    assert runs.table.hasFocus()
    assert read_notes(runs.library.folder / "runs" / name).asked_again


@pytest.mark.parametrize(
    ("days", "guess"),
    [(6.5, said(1000.0, CERTAIN)), (8, said(14.0, CERTAIN)), (8, said(1000.0, A_GUESS))],
    ids=["too soon", "a hit", "not sure"],
)
def test_nothing_else_comes_back(runs, days, guess):
    guessed(runs, guess, at=ago(days))
    shown(runs.show())
    runs.settle()
    assert asked(runs) == ""


def test_a_question_that_came_back_in_an_earlier_window_stays_away(runs):
    (name,) = guessed(runs, said(1000.0, CERTAIN), at=ago(8))
    tell(runs, name, guess=said(1000.0, CERTAIN), asked_again=True)
    shown(runs.show())
    runs.settle()
    assert asked(runs) == ""


def test_what_this_machine_cannot_run_does_not_come_back(runs):
    known = runs.session.entries
    lacking = dataclasses.replace(known["burst-random"], need=Need.NUMBA)
    runs.session.entries = {**known, "burst-random": lacking}
    guessed(runs, said(1000.0, CERTAIN), at=ago(8))
    shown(runs.show())
    runs.settle()
    assert asked(runs) == ""


def test_what_was_answered_anew_since_does_not_come_back(runs):
    old, new = runs.keep(burst(at=ago(20)), burst(at=ago(10)))
    tell(runs, old, guess=said(1000.0, CERTAIN))
    tell(runs, new, guess=said(14.0, CERTAIN))
    shown(runs.show())
    runs.settle()
    assert asked(runs) == ""


def test_who_wants_numbers_is_not_asked(runs):
    guessed(runs, said(1000.0, CERTAIN), at=ago(8))
    shown(runs.show())
    runs.settle()
    assert asked(runs)
    runs.session.settings = runs.session.settings.replace(numbers=True)
    runs.session.settings_changed.emit()
    assert asked(runs) == ""
