from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.core.statistics import FEW, Spread, quantile, ratios, spread, spreads

TIMES = st.lists(st.floats(min_value=0, max_value=1e3), min_size=1, max_size=40)


def test_nothing_has_no_spread():
    assert spread([]) is None


def test_few_samples_spread_from_the_least_to_the_greatest():
    assert spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)


def test_one_outlier_among_many_samples_does_not_widen_the_spread():
    calm = spread([1.0] * 19 + [100.0])

    assert calm is not None
    assert calm.high == 1.0


def test_many_samples_spread_from_the_tenth_to_the_ninetieth_hundredth():
    found = spread(range(11))

    assert found == Spread(5, 1.0, 9.0, 11)


def test_spreads_part_only_where_they_do_not_touch():
    low, high = Spread(1.5, 1.0, 2.0, 3), Spread(3.0, 2.5, 4.0, 3)

    assert low.parts_from(high)
    assert high.parts_from(low)
    assert not low.parts_from(Spread(2.5, 2.0, 3.0, 3))
    assert not low.parts_from(low)


@pytest.mark.parametrize(("share", "value"), [(0, 10.0), (0.5, 15.0), (0.25, 12.5), (1, 20.0)])
def test_a_quantile_lies_between_its_neighbours(share, value):
    assert quantile([10.0, 20.0], share) == value


@given(TIMES)
def test_the_median_lies_within_the_spread(samples):
    found = spread(samples)

    assert found is not None
    assert found.count == len(samples)
    assert found.median == statistics.median(samples)
    assert min(samples) <= found.low <= found.high <= max(samples)
    assert found.low <= found.median <= found.high


@given(TIMES)
def test_few_samples_hide_nothing(samples):
    found = spread(samples[: FEW - 1])

    assert found is not None
    assert (found.low, found.high) == (min(samples[: FEW - 1]), max(samples[: FEW - 1]))


def test_of_two_samples_each_no_difference_is_claimed():
    low, high = [1.0, 1.1, 1.2], [2.0, 2.1, 2.2]

    for count in (1, 2):
        assert not spread(low[:count]).parts_from(spread(high))
        assert not spread(low).parts_from(spread(high[:count]))
    assert spread(low).parts_from(spread(high))


def test_below_is_what_parts_and_is_smaller():
    low, high = Spread(1.5, 1.0, 2.0, 3), Spread(3.0, 2.5, 4.0, 3)

    assert low.is_below(high)
    assert not high.is_below(low)
    assert not low.is_below(Spread(2.5, 2.0, 3.0, 3))
    assert not low.is_below(Spread(3.0, 2.5, 4.0, 2))


def test_samples_are_gathered_by_their_kind_in_the_order_in_which_they_come():
    found = spreads([("b", 3.0), ("a", 1.0), ("b", 1.0)])

    assert found == {"b": Spread(2.0, 1.0, 3.0, 2), "a": Spread(1.0, 1.0, 1.0, 1)}
    assert list(found) == ["b", "a"]
    assert spreads([]) == {}


def test_a_ratio_of_spreads_that_touch_is_unclear():
    one, twice, wide = Spread(1.0, 0.9, 1.1, 3), Spread(2.0, 1.9, 2.1, 3), Spread(2.0, 1.1, 9.0, 3)

    assert ratios({"a": (twice, one), "b": (wide, one)}) == ({"a": 2.0, "b": 2.0}, ("b",))
    assert ratios({}) == ({}, ())
