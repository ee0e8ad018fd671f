"""The time left: what is prepared first is no part of the pace, and the first guess fades."""

from __future__ import annotations

import pytest

from experiments.engine.estimate import TRUSTED_FROM, Estimate


def told(expected_s: float, *steps: tuple[float, float]) -> list[float]:
    """Return the seconds left after each step, of seconds gone by and the fraction done."""
    estimate = Estimate()
    return [estimate.left_s(elapsed_s, fraction, expected_s) for elapsed_s, fraction in steps]


def test_before_anything_is_measured_the_guess_runs_down_to_zero():
    assert told(12.0, (0.0, 0.0), (5.0, 0.0), (20.0, 0.0)) == [12.0, 7.0, 0.0]


def test_a_long_preparation_is_not_taken_for_the_pace():
    steps = [(9.9 + 0.1 * percent, percent / 100) for percent in range(1, 101)]
    left = told(20.0, *steps)
    assert left[0] == pytest.approx(10.0)
    assert left == sorted(left, reverse=True)
    assert left[-1] == 0.0


def test_a_guess_that_was_far_too_low_or_high_gives_way_to_the_pace():
    for expected_s in (1.0, 1000.0):
        *_, half, most = told(expected_s, (0.0, 0.01), (5.0, 0.1), (40.0, 0.6), (60.0, 0.9))
        assert half == pytest.approx(40.0 / 0.59 * 0.4)
        assert most == pytest.approx(60.0 / 0.89 * 0.1)


def test_the_guess_fades_little_by_little():
    quarter = 0.01 + TRUSTED_FROM / 2
    (_, left) = told(99.0, (0.0, 0.01), (100.0, quarter))
    paced_s, guessed_s = (1 - quarter) * 100.0 / (quarter - 0.01), (1 - quarter) / 0.99 * 99.0
    assert left == pytest.approx((paced_s + guessed_s) / 2)


def test_a_run_that_is_done_at_its_first_word_has_nothing_left():
    assert told(3.0, (2.0, 1.0), (2.5, 1.0)) == [0.0, 0.0]
