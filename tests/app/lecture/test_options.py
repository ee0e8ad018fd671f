import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.lecture.options import options_of, spread
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.shelves import homes
from experiments.core.teaching.lessons import Rank, taught
from tests.cases import in_one

CATALOGUE, HOMES, ENGLISH = Catalogue(), homes(), words.load()
LESSONS = {each.id: taught(each, HOMES[each.id]) for each in CATALOGUE}


@in_one("id_", [id_ for id_, lesson in LESSONS.items() if lesson is not None])
def test_every_lesson_is_voted_on(id_):
    asked = LESSONS[id_].voted_on(None)
    options = options_of(asked, ENGLISH)
    assert options is not None
    assert 2 <= len(options.texts) <= 4
    assert len(set(options.texts)) == len(options.texts)
    assert options.ask == asked.ask


def test_what_needs_a_hand_is_not_voted_on():
    assert options_of(Rank(ask="In order?", items=("a", "b"), right="order"), ENGLISH) is None


def test_four_answers_span_the_range_in_equal_steps():
    assert spread(1, 1000) == (1, 10, 100, 1000)
    assert spread(1, 100) == (1, 5, 20, 100)
    assert spread(0.001, 1) == (0.001, 0.01, 0.1, 1)


@given(st.floats(1e-9, 1e9), st.floats(1.5, 1e6), st.floats(0, 1))
def test_the_right_order_of_magnitude_is_among_them(low, factor, share):
    numbers = spread(low, low * factor)
    answer = low * factor**share
    off = min(abs(math.log(number / answer)) for number in numbers)
    assert off <= math.log(factor) / 6 + math.log(5 / 2) / 2 + 1e-9  # half a step, and the rounding
    assert list(numbers) == sorted(set(numbers))


class Told:
    """A lesson that knows its answer."""

    def __init__(self, answer):
        self.answer = answer

    def right_vote(self, _run):
        return self.answer


@in_one(
    ("answer", "right"),
    [(1, 0), (7, 1), (60, 2), (5000, 3), (None, None), (-1, None), (math.inf, None)],
)
def test_the_nearest_number_is_right(answer, right):
    options = options_of(LESSONS["burst-random"].words.predict, ENGLISH)
    assert options.numbers == (1, 10, 100, 1000)
    assert options.right(Told(answer), None) == right


@pytest.mark.parametrize(("answer", "right"), [(2, 2), (9, None), (None, None)])
def test_the_right_choice_is_that_of_the_lesson(answer, right):
    options = options_of(LESSONS["gil-threads"].words.predict, ENGLISH)
    assert options.right(Told(answer), None) == right
