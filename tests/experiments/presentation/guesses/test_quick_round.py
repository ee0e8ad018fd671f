from __future__ import annotations

import pytest

from experiments.presentation.guesses.questions import questions
from experiments.presentation.guesses.quick_round import Mark, Round, Source, Truth
from tests.cases import in_one


def truth(value: float = 1e-6) -> Truth:
    return Truth(value=value, source=Source.KEPT)


def played(*factors: float | None) -> Round:
    """Return a round whose guesses were off by these factors."""
    made = Round(questions())
    for factor in factors:
        made.answer(None if factor is None else factor * 1e-6, truth())
        made.go_on()
    return made


@in_one(
    ("guess", "mark", "factor"),
    [
        (1e-6, Mark.SHARP, 1), (2e-6, Mark.SHARP, 2), (5e-7, Mark.SHARP, 2),
        (2.1e-6, Mark.RIGHT, 2.1), (9.9e-6, Mark.RIGHT, 9.9), (1e-7, Mark.RIGHT, 10),
        (1.1e-5, Mark.FAR, 11), (1e-9, Mark.FAR, 1000), (None, None, 1),
    ],
)  # fmt: skip
def test_a_guess_is_sharp_within_two_and_right_within_ten(guess, mark, factor):
    answered = Round(questions()).answer(guess, truth())

    assert (answered.mark, answered.factor) == (mark, pytest.approx(factor))


def test_a_question_is_open_until_it_is_answered_and_the_next_one_after_the_look():
    made = Round(questions()[:2])
    first, second = made.questions
    assert (made.question, made.shown, made.place) == (first, None, 1)

    answered = made.answer(1e-9, truth())
    assert (made.question, made.shown, made.place) == (None, answered, 1)

    made.go_on()
    assert (made.question, made.shown, made.place) == (second, None, 2)
    assert not made.is_over

    made.answer(None, truth())
    assert not made.is_over  # the last answer is still to be seen
    made.go_on()
    assert made.is_over
    assert made.question is None


def test_the_end_counts_what_came_near():
    made = played(1, 1.5, 3, 1 / 5, 50, None)

    assert made.count(Mark.SHARP) == 2
    assert made.count(Mark.SHARP, Mark.RIGHT) == 4


def test_the_three_farthest_are_told_the_farthest_first_each_with_another_lesson():
    factors = [1.5] * len(questions())
    places = {question.id: place for place, question in enumerate(questions())}
    for name, factor in (("thread", 50), ("process", 1 / 80), ("disk", 20), ("l1", 1 / 30)):
        factors[places[name]] = factor

    # A process is dearer than a thread by more, and both have one lesson.
    assert [each.question.id for each in played(*factors).misses()] == ["process", "l1", "disk"]


def test_what_was_sharp_or_skipped_is_no_miss():
    assert played(1.9, None, 1).misses() == ()


def test_a_rate_stands_on_the_ruler_as_the_time_of_one():
    rate = next(question for question in questions() if question.unit == "per_s")
    time = next(question for question in questions() if question.unit == "s")

    assert rate.as_time(2e9) == pytest.approx(0.5e-9)
    assert time.as_time(3e-6) == 3e-6
