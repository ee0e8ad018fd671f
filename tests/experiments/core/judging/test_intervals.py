from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from experiments.core.judging.intervals import in_both, length_s, merged, without

moments = st.integers(0, 30)
spans = st.lists(st.tuples(moments, moments))


def covered(intervals) -> set[int]:
    return {moment for start, end in intervals for moment in range(start, end)}


@given(spans)
def test_merged_intervals_cover_the_same_in_order_and_apart(a):
    found = merged(a)

    assert covered(found) == covered(a)
    edges = [edge for span in found for edge in span]
    assert edges == sorted(set(edges))
    assert length_s(a) == len(covered(a))


@given(spans, spans)
def test_what_is_in_both_and_what_is_left_make_up_the_whole(a, b):
    assert covered(in_both(a, b)) == covered(a) & covered(b)
    assert covered(without(a, b)) == covered(a) - covered(b)
    assert length_s(in_both(a, b)) + length_s(without(a, b)) == length_s(a)
