from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine.facts import Unanswered
from machine.processor.layout import Layout
from machine.windows.processors import read_layout
from tests.cases import in_one
from tests.machine.windows import recorded

WHOLE = recorded.read("windows-i5-1235u")[0].processors


def test_threads_are_numbered_on_from_group_to_group():
    layout = read_layout(recorded.processors(recorded.server()))
    assert layout.groups == 3
    assert sorted(n for core in layout.cores for n in core.threads) == list(range(144))
    assert layout.packages == (frozenset(range(72)), frozenset(range(72, 144)))
    assert layout.nodes == {0: frozenset(range(72)), 1: frozenset(range(72, 144))}
    assert layout.caches[-1].threads == (142, 143)


def test_an_entry_of_a_new_kind_is_passed_over():
    new = (99).to_bytes(4, "little") + (24).to_bytes(4, "little") + bytes(16)
    assert read_layout(new + WHOLE + new) == read_layout(WHOLE)


def test_a_cache_with_nothing_behind_its_numbers_tells_no_numbers():
    told = {**recorded.server(), "caches": [[3, 0xFF, 0, 0, 3, ["0-3"]]]}
    (cache,) = read_layout(recorded.processors(told)).caches
    assert (cache.kind, cache.size_bytes, cache.line_bytes, cache.ways) == (None,) * 4


@in_one(
    "buffer",
    [
        b"",
        WHOLE[:-1],
        WHOLE[:7],
        WHOLE[:4] + bytes(4) + WHOLE[8:],  # a size of 0 would never end
        WHOLE[:4] + (2**32 - 1).to_bytes(4, "little") + WHOLE[8:],
        WHOLE.replace(WHOLE[:8], WHOLE[:4] + (10).to_bytes(4, "little"), 1),
    ],
)
def test_a_cut_or_damaged_buffer_is_said_to_be_one(buffer):
    with pytest.raises(Unanswered, match="Windows"):
        read_layout(buffer)


@given(st.integers(0, len(WHOLE) - 1), st.binary(min_size=1, max_size=4))
def test_no_damage_breaks_the_reader(place, bytes_):
    with contextlib.suppress(Unanswered):
        assert isinstance(
            read_layout(WHOLE[:place] + bytes_ + WHOLE[place + len(bytes_) :]), Layout
        )
