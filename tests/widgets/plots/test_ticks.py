from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import in_one
from widgets.plots.ticks import from_axis, label, labels, ladder, ticks, to_axis

KIB, MIB = 2**10, 2**20


@given(
    st.floats(1e-3, 1e6),
    st.floats(1e-3, 1.0),
    st.sampled_from(["linear", "log2", "log10"]),
    st.sampled_from(["", "bytes"]),
    st.integers(2, 9),
)
def test_an_axis_has_two_ticks_at_least_since_one_tells_no_scale(low, part, scale, unit, most):
    assert 2 <= len(ticks(low, low * (1 + part), scale, most, unit)) <= most + 1


def test_a_linear_axis_has_steps_of_1_2_or_5():
    assert ticks(0.0, 2.1, "linear", 5) == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert ticks(0.0, 0.07, "linear", 4) == pytest.approx([0.0, 0.02, 0.04, 0.06])


def test_an_axis_of_bytes_has_powers_of_two_at_even_distances():
    assert ticks(4 * KIB, 256 * MIB, "log2", 5) == [4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB]


def test_an_axis_of_times_has_decades_and_smaller_steps_where_there_is_only_one():
    assert ticks(0.9e-9, 250e-9, "log10", 8) == pytest.approx([1e-9, 1e-8, 1e-7])
    assert ticks(1.2e-9, 8e-9, "log10", 8) == pytest.approx([2e-9, 5e-9])


def test_two_decades_have_the_steps_between_them_where_there_is_room():
    assert ticks(0.1, 2.0, "log10", 15) == pytest.approx([0.1, 0.2, 0.5, 1.0, 2.0])
    assert ticks(0.1, 2.0, "log10", 4) == pytest.approx([0.1, 1.0])


def test_ticks_say_real_units():
    assert label(65536, "bytes") == "64 KiB"
    assert label(1e-7, "s") == "100 ns"
    assert label(1.5, "s") == "1.5 s"


def test_an_empty_axis_has_no_ticks():
    assert ticks(1.0, 1.0, "linear", 5) == []
    assert ticks(0.0, 1.0, "linear", 0) == []


@given(
    st.floats(1e-9, 1e9),
    st.floats(1.01, 1e6),
    st.sampled_from(["linear", "log2", "log10"]),
    st.integers(2, 12),
)
def test_ticks_lie_inside_in_order_and_are_not_too_many(low, factor, scale, most):
    high = low * factor

    found = ticks(low, high, scale, most)

    assert found == sorted(set(found))
    assert all(low * (1 - 1e-6) <= tick <= high * (1 + 1e-6) for tick in found)
    assert len(found) <= most + 1


@given(st.floats(1e-9, 1e12), st.sampled_from(["linear", "log2", "log10"]))
def test_a_place_on_the_axis_leads_back_to_its_value(value, scale):
    assert math.isclose(from_axis(to_axis(value, scale), scale), value, rel_tol=1e-9)


def test_ticks_of_one_linear_axis_are_in_one_unit():
    assert labels([0.0, 0.5, 1.0, 1.5, 2.0], "s", "linear") == [
        *("0 s", "0.5 s", "1 s", "1.5 s", "2 s"),
    ]
    assert labels([1e-7, 1e-6], "s", "log10") == ["100 ns", "1 µs"]
    assert labels([0.0, 0.25, 0.5], "fraction", "linear") == ["0 %", "25 %", "50 %"]
    assert labels([0.0, 1e-12, 2e-12], "s", "linear") == ["0 ps", "1 ps", "2 ps"]
    assert labels([0.0, 2e-5, 4e-5], "", "linear") == ["0", "2 × 10⁻⁵", "4 × 10⁻⁵"]


def test_a_part_of_a_logarithmic_axis_has_ticks_too():
    assert ticks(2.1e-9, 2.9e-9, "log10", 5) == pytest.approx([2.2e-9, 2.4e-9, 2.6e-9, 2.8e-9])
    assert ticks(40 * KIB, 60 * KIB, "log2", 6) == [
        40 * KIB,
        44 * KIB,
        *(KIB * n for n in (48, 52, 56, 60)),
    ]


def test_a_linear_axis_of_bytes_has_steps_of_powers_of_two():
    assert ticks(0, 300 * KIB, "linear", 5, "bytes") == [
        0,
        64 * KIB,
        128 * KIB,
        192 * KIB,
        256 * KIB,
    ]


@in_one("most", range(2, 9))
def test_powers_are_parted_evenly_however_few_fit(most):
    found = [math.log2(value) for value in ticks(2.0**12, 2.0**28, "log2", most)]

    assert 2 <= len(found) <= most
    assert len({after - before for before, after in itertools.pairwise(found)}) == 1


def test_long_times_are_told_in_minutes_hours_days_and_years():
    found = ticks(0.5, 4e8, "log10", 20, "s")

    assert [label(value, "s") for value in found] == [
        "1 s", "10 s", "1 min", "10 min", "1 h", "10 h", "1 d", "10 d", "100 d", "1 yr", "10 yr",
    ]  # fmt: skip
    assert ticks(0.5, 4e8, "log10", 4, "s") == found[::3]


@in_one(
    ("high", "said"),
    [
        (60.0, ["0 s", "10 s", "20 s", "30 s", "40 s", "50 s", "60 s"]),
        (250.0, ["0 min", "1 min", "2 min", "3 min", "4 min"]),
        (1200.0, ["0 min", "5 min", "10 min", "15 min", "20 min"]),
        (7200.0, ["0 h", "0.5 h", "1 h", "1.5 h", "2 h"]),
    ],
)
def test_a_linear_axis_of_time_has_round_seconds_minutes_or_hours(high, said):
    assert labels(ticks(0.0, high, "linear", 7, "s"), "s", "linear") == said


@in_one(
    ("low", "high"),
    [(1e-9, 1.0), (0.3, 5e7), (70.0, 5e4), (100.0, 700.0), (1e-3, 601.0), (9e4, 1e5)],
)
def test_a_ladder_reaches_from_below_to_above(low, high):
    steps = ladder(low, high, "s")

    assert steps[0] <= low
    assert steps[-1] >= high or steps[-1] == 1.0
    assert steps == sorted(set(steps))
