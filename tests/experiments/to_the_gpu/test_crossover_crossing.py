from __future__ import annotations

import pytest

from experiments.core.judging.statistics import Spread, spread
from experiments.to_the_gpu.crossover.crossing import Crossing, crossing


def scattered(middle: float, noise: float) -> Spread:
    """Return twelve rounds, half of them above and half below by this share."""
    found = spread(middle * (1 + (-1) ** n * noise * (1 + n / 24)) for n in range(12))
    assert found is not None
    return found


def line(times, noise=0.01):
    return {size: scattered(taken, noise) for size, taken in times.items()}


RISING = line({10: 1.0, 100: 10.0, 1000: 100.0})


def test_lines_cross_where_the_logarithms_do_at_the_next_whole_size():
    found = crossing(RISING, line({10: 10**0.5 * 10, 100: 10**0.5 * 10, 1000: 10**0.5 * 10}))

    assert found == Crossing(317, 100, 1000)  # 10**2.5 = 316.2


def test_what_wins_everywhere_does_not_cross():
    assert crossing(RISING, line({10: 0.1, 100: 0.1, 1000: 0.1})) == Crossing(10, None, 10)


def test_one_disturbed_sample_at_a_larger_size_hides_no_win():
    second = line({10: 2.0, 100: 2.0, 1000: 20.0})
    second[1000] = scattered(20.0, 0.01)
    second[1000].by_round[3] = 500.0

    assert crossing(RISING, second).high == 100


def test_who_is_behind_by_the_median_at_a_larger_size_is_not_ahead_before_it():
    second = line({10: 2.0, 100: 2.0, 1000: 100.5, 10000: 20.0})
    first = RISING | line({10000: 1000.0})

    assert crossing(first, second).high == 10000


@pytest.mark.parametrize("times", [{10: 2.0, 100: 20.0, 1000: 200.0}, {1: 1.0}, {}])
def test_what_does_not_win_at_the_largest_common_size_has_no_crossing(times):
    assert crossing(RISING, line(times)) is None


def test_sizes_at_which_nobody_wins_clearly_lie_within_the_interval():
    unclear = line({10: 10.0, 100: 9.0, 1000: 20.0}, noise=0.3)
    found = crossing(RISING, unclear)

    assert (found.low, found.high) == (10, 1000)
    assert 10 < found.size < 1000


def test_a_size_that_breaks_the_row_is_before_the_crossing():
    broken = line({10: 0.5, 100: 20.0, 1000: 20.0})

    assert crossing(RISING, broken).low == 100
