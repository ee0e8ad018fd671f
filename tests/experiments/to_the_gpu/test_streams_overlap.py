from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.to_the_gpu.streams.overlap import one_after_another, overlap_fraction

moments = st.integers(0, 40)
intervals = st.lists(st.tuples(moments, moments).map(lambda pair: tuple(sorted(pair))), max_size=8)


def ticks(found) -> set[int]:
    """Return the whole moments that intervals cover: the plainest way to say the same."""
    return {tick for start, end in found for tick in range(start, end)}


def test_overlap_is_time_copying_while_computing_by_time_copying():
    copies, computing = [(0, 10), (20, 30)], [(5, 25)]

    assert overlap_fraction(copies, computing) == 0.5


def test_copies_at_the_same_time_are_counted_once():
    assert overlap_fraction([(0, 10), (0, 10), (5, 10)], [(0, 5)]) == 0.5


def test_work_that_only_touches_does_not_overlap():
    assert overlap_fraction([(0, 1)], [(1, 2)]) == 0.0
    assert overlap_fraction([(0, 1)], []) == 0.0


@pytest.mark.parametrize("copies", [[], [(3, 3)]])
def test_without_copies_there_is_no_share_of_them(copies):
    assert overlap_fraction(copies, [(0, 10)]) is None


@given(intervals, intervals)
def test_the_overlap_of_any_intervals_is_that_of_their_moments(ones, others):
    found = overlap_fraction(ones, others)
    if ticks(ones):
        assert found == pytest.approx(len(ticks(ones) & ticks(others)) / len(ticks(ones)))
        assert 0 <= found <= 1


def test_work_that_waits_for_its_engine_is_drawn_behind_the_work_before():
    # Three streams ask for copies at once; the engine does one after another.
    assert one_after_another([(0, 3), (0, 1), (0, 2)]) == [(2, 3), (0, 1), (1, 2)]
    assert one_after_another([(0, 1), (5, 6)]) == [(0, 1), (5, 6)]


@given(intervals)
def test_one_after_another_changes_neither_ends_nor_overlaps(found):
    laid = one_after_another(found)

    assert [end for _, end in laid] == [end for _, end in found]
    assert sum(end - start for start, end in laid) == len(ticks(laid))  # none beside another
    assert ticks(laid) <= ticks(found)


def test_waiting_for_a_busy_engine_changes_no_share():
    asked = [(0, 1), (0, 2), (0, 3)]  # back to back: each was asked for while another ran
    computing = [(1, 2)]

    assert overlap_fraction(asked, computing) == overlap_fraction(
        one_after_another(asked), computing
    )
