from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.core.judging.comparing import Outcome
from experiments.core.judging.statistics import (
    CANNOT_TELL,
    FEW,
    TOO_FEW,
    Spread,
    quantile,
    ratios,
    spread,
    spreads,
    standing,
    unsure,
)
from tests.cases import in_one

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


CALM = (0.99, 1.0, 1.01, 1.0, 0.995, 1.005, 1.0)
WILD = (0.4, 3.0, 0.9, 2.5, 0.6, 1.4, 0.8)


def rounds(middle, of=CALM):
    found = spread([middle * each for each in of])
    assert found is not None
    return found


def differ(one, other):
    return one.against(other).outcome is Outcome.DIFFERS


def test_what_is_clear_by_the_rounds_is_told_from_what_is_not():
    one, twice, wild = rounds(1.0), rounds(2.0), rounds(1.5, WILD)

    assert one.is_below(twice)
    assert not twice.is_below(one)
    assert differ(one, twice)
    assert differ(twice, one)
    assert not one.is_as(twice)
    assert not any((one.is_below(wild), wild.is_below(one), differ(one, wild)))
    assert not one.is_as(wild)
    assert one.is_as(one)
    assert not differ(one, one)


def test_that_nothing_was_gained_can_be_clear_where_the_loss_is_not():
    one = rounds(1.0)
    slower = rounds(1.1, (0.98, 1.05, 1.0, 1.08, 0.99, 1.02, 1.03))

    assert slower.is_no_lower(one)
    assert one.is_no_lower(one)
    assert not rounds(0.9).is_no_lower(one)
    assert not rounds(1.0, WILD).is_no_lower(one)
    assert not rounds(2.0, CALM[:2]).is_no_lower(one)


def test_what_disturbs_a_whole_round_hides_no_difference():
    drift = (1.0, 1.4, 2.0, 2.7, 3.5, 5.0, 7.0)  # the ranges overlap by far

    assert rounds(1.0, drift).is_below(rounds(1.2, drift))


def test_rounds_are_held_against_the_same_rounds():
    """A round may lack a way: of a stopped run, or a disturbed sample."""
    drift = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]
    of = spreads(
        (kind, factor * sample, number)
        for number, sample in enumerate(drift)
        for kind, factor in (("a", 1.0), ("b", 1.3))
        if (kind, number) != ("a", 2)
    )

    assert of["a"].count == 6
    assert of["a"].is_below(of["b"])


def test_of_several_samples_of_a_round_their_median_counts():
    found = spreads([("a", 1.0, 0), ("a", 9.0, 0), ("a", 2.0, 0), ("a", 3.0, 1)])

    assert found["a"].samples == (2.0, 3.0)


@in_one(("share", "value"), [(0, 10.0), (0.5, 15.0), (0.25, 12.5), (1, 20.0)])
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


def test_of_two_rounds_nothing_is_told():
    low, high = rounds(1.0), rounds(2.0)
    first_low, first_high = rounds(1.0, CALM[:2]), rounds(2.0, CALM[:2])

    assert unsure((first_low, high)) == TOO_FEW
    assert unsure((low, first_high)) == TOO_FEW
    assert not differ(first_low, first_high)
    assert not first_low.is_as(first_low)
    assert unsure((low, high)) is None


def test_that_nobody_can_tell_is_told_of_all_pairs_at_once():
    low, high, wild = rounds(1.0), rounds(2.0), rounds(1.5, WILD)

    assert unsure((low, high), (low, low)) is None
    assert unsure((low, high), (low, wild)) == CANNOT_TELL


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        ((1.2, 1.21, 1.19, 1.2, 1.2), Outcome.DIFFERS),
        ((1.0, 1.01, 1.0, 1.01, 1.0), Outcome.SAME),
        ((0.9, 1.3, 1.0, 1.6, 1.1), Outcome.UNKNOWN),
    ],
)
def test_the_best_is_held_against_all_others(second, expected):
    kinds = {"best": (1.0,) * 5, "second": second, "last": (3.0, 3.1, 2.9, 3.0, 3.0)}
    of = spreads((kind, s, n) for kind, each in kinds.items() for n, s in enumerate(each))

    assert standing(of, "best") is expected


def test_samples_are_gathered_by_their_kind_in_the_order_in_which_they_come():
    found = spreads([("b", 3.0), ("a", 1.0), ("b", 1.0)])

    assert found == {"b": Spread(2.0, 1.0, 3.0, 2), "a": Spread(1.0, 1.0, 1.0, 1)}
    assert list(found) == ["b", "a"]
    assert spreads([]) == {}


def test_a_ratio_is_unclear_only_where_nobody_can_tell():
    one, twice, wild = rounds(1.0), rounds(2.0), rounds(1.5, WILD)

    values, unclear = ratios({"a": (twice, one), "b": (wild, one), "same": (one, one)})
    assert values == {"a": 2.0, "b": wild.median, "same": 1.0}
    assert unclear == ("b",)
    assert ratios({}) == ({}, ())


def test_what_a_verdict_states_is_not_unclear_because_of_what_stands_beside_it():
    kinds = {
        "one": (1.0, 1.1, 0.9, 1.05, 0.95, 1.0),
        "more": (1.25, 1.19, 1.375, 1.16, 1.35, 1.275),
        "wild": (1.0, 1.4, 0.7, 1.2, 0.9, 1.1),
    }
    of = spreads((kind, s, n) for kind, each in kinds.items() for n, s in enumerate(each))
    pairs = {name: (of[name], of["one"]) for name in ("more", "wild")}

    assert unsure(pairs["more"]) is None
    assert ratios(pairs)[1] == ("more", "wild")
    assert ratios(pairs, verdict=("more",))[1] == ("wild",)
