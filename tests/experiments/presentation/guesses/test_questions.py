"""Rules for every question of a round."""

from __future__ import annotations

import math

import msgspec
import pytest

from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.units import unit_of
from experiments.engine.recording import read
from experiments.presentation.guesses.questions import Question, questions
from machine.convert import convert
from tests.experiments.machines import machine
from tests.shipped import SHIPPED

ENGLISH, CATALOGUE = words.load(), Catalogue()
ROOM = 100.0  # times: a slider reaches so far beyond the answer, on both sides
FIRST_PLACE = 10.0  # times: so far off is a guess where the slider stands at first
LONGEST_S = 2.0


def recorded(question: Question) -> float:
    finding = read(SHIPPED[question.experiment]).recorded_finding()
    return finding.values[question.value]


@pytest.fixture(params=questions(), ids=lambda question: question.id)
def question(request) -> Question:
    return request.param


def test_there_are_ten_and_no_two_ask_the_same():
    asked = {(question.experiment, question.value) for question in questions()}

    assert len(questions()) == len({question.id for question in questions()}) == len(asked) == 10


def test_its_experiment_measures_the_answer_and_a_recording_has_it(question):
    experiment = CATALOGUE.load(question.experiment)

    assert question.value in {value.name for value in experiment.values}
    assert recorded(question) > 0


def test_its_lesson_is_an_experiment(question):
    assert question.lesson in CATALOGUE.ids()


def test_the_slider_reaches_far_beyond_the_answer_and_does_not_begin_at_it(question):
    (low, high), answer = question.range, recorded(question)
    middle = math.sqrt(low * high)

    assert low * ROOM <= answer <= high / ROOM
    assert max(middle / answer, answer / middle) > FIRST_PLACE


def test_questions_of_one_unit_have_one_slider_which_gives_none_away():
    by_unit = {}
    for question in questions():
        by_unit.setdefault(unit_of(question.value), set()).add(question.range)

    assert all(len(ranges) == 1 for ranges in by_unit.values())


def test_a_class_votes_on_four_numbers_of_which_one_is_clearly_the_nearest(question):
    answer = recorded(question)
    off = sorted(max(vote / answer, answer / vote) for vote in question.vote)

    assert len(question.vote) == 4
    assert list(question.vote) == sorted(question.vote)
    assert off[0] <= 10.0 < off[1]


def test_the_right_vote_is_not_always_in_one_place():
    places = set()
    for question in questions():
        nearest = min(question.vote, key=lambda vote: abs(math.log(vote / recorded(question))))
        places.add(question.vote.index(nearest))

    assert len(places) > 1


def test_its_short_run_is_expected_to_end_in_time(question):
    experiment = CATALOGUE.load(question.experiment)

    assert experiment.seconds(question.params(experiment, machine())) <= LONGEST_S


def test_its_texts_are_short_and_name_no_number(question):
    ask, because = (ENGLISH.text(f"guess.{question.id}.{part}") for part in ("ask", "because"))

    assert ask.endswith("?")
    assert because.endswith(".")
    assert "`" not in ask + because  # neither the round nor a slide sets code
    assert all(len(sentence.split()) <= 20 for sentence in (ask, *because.split(". ")))
    assert ENGLISH.has(f"guess.{question.id}.name")


def test_an_unknown_field_is_refused():
    plain = msgspec.to_builtins(questions()[0])

    with pytest.raises(msgspec.ValidationError):
        convert({**plain, "answer": 1e-9}, Question)
