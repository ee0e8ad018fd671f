from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgets.plots.ranges import around, reach, seen


def test_an_axis_from_zero_ends_at_a_round_value():
    assert reach(0.103) == pytest.approx(0.12)
    assert reach(1.0) == 1.0
    assert reach(0.0) == 1.0


def test_an_axis_of_bytes_ends_at_powers_of_two():
    assert around(12.0, 27.3, "log2") == (12, 28)
    assert around(12.0, 12.0, "log2") == (11, 13)


def test_an_axis_of_times_ends_at_1_2_or_5():
    low, high = around(math.log10(1.3e-9), math.log10(230e-9), "log10")

    assert 10**low == pytest.approx(1e-9)
    assert 10**high == pytest.approx(5e-7)


def test_a_linear_axis_begins_at_zero_where_that_costs_little():
    assert around(2.0, 10.0, "linear") == (0.0, 10.0)
    assert around(90.0, 100.0, "linear") == pytest.approx((90.0, 100.0))


def test_an_axis_of_nothing_but_zeros_does_not_go_below_them():
    assert around(0.0, 0.0, "linear") == (0.0, 1.0)


@given(st.floats(-9, 12), st.floats(0, 9), st.sampled_from(["linear", "log2", "log10"]))
def test_a_range_holds_what_it_is_around(low, length, scale):
    found = around(low, low + length, scale)

    assert found[0] <= low + 1e-6
    assert found[1] >= low + length - 1e-6
    assert found[0] < found[1]


def test_what_was_zoomed_stays_within_an_axis_that_has_become_another():
    assert seen((2.0, 4.0), (0.0, 10.0)) == (2.0, 4.0)
    assert seen((2.0, 4.0), (3.0, 10.0)) == (3.0, 5.0)
    assert seen((8.0, 12.0), (0.0, 10.0)) == (6.0, 10.0)
    assert seen((2.0, 4.0), (0.0, 1.5)) == (0.0, 1.5)
    assert seen((2.0, 2.0), (0.0, 10.0)) == (0.0, 10.0)
