from __future__ import annotations

import pytest

from machine.facts import Notes
from machine.processor.caches import read_caches


def read(tree, *online):
    return read_caches(tree.root, frozenset(online), Notes())


def test_threads_that_share_a_cache_see_one_instance(tree):
    for n in range(4):
        tree.cache(n, 0, 1, "Data", "48K", f"{n}")
        tree.cache(n, 2, 2, "Unified", "2M", "0-1" if n < 2 else "2-3")
        tree.cache(n, 3, 3, "Unified", "32768K", "0-3")
    found = [(c.level, c.kind, c.size_bytes, c.threads) for c in read(tree, 0, 1, 2, 3)]
    assert found == [
        *((1, "data", 48 * 2**10, (n,)) for n in range(4)),
        (2, "unified", 2**21, (0, 1)),
        (2, "unified", 2**21, (2, 3)),
        (3, "unified", 2**25, (0, 1, 2, 3)),
    ]


def test_a_cache_serves_no_thread_that_is_not_there(tree):
    tree.cache(0, 0, 3, "Unified", "8M", "0-87")
    tree.cache(1, 0, 3, "Unified", "8M", "0-87")
    assert [c.threads for c in read(tree, 0, 1)] == [(0, 1)]


def test_data_and_instruction_caches_of_a_level_are_two(tree):
    tree.cache(0, 0, 1, "Data", "32K", "0")
    tree.cache(0, 1, 1, "Instruction", "64K", "0")
    assert [(c.kind, c.size_bytes) for c in read(tree, 0)] == [
        ("data", 2**15),
        ("instruction", 2**16),
    ]


def test_cores_may_have_different_caches(tree):
    tree.cache(0, 0, 2, "Unified", "1280K", "0")
    tree.cache(1, 0, 2, "Unified", "2048K", "1")
    assert [c.size_bytes for c in read(tree, 0, 1)] == [1280 * 2**10, 2**21]


def test_a_cache_without_a_sharing_list_belongs_to_its_thread(tree):
    for n in range(2):
        tree.cpu(f"cpu{n}/cache/index0/level", "1")
        tree.cpu(f"cpu{n}/cache/index0/type", "Data")
    caches = read(tree, 0, 1)
    assert [c.threads for c in caches] == [(0,), (1,)]
    assert caches[0].size_bytes is None


@pytest.mark.parametrize("empty", ["", "00000000,00000000"])
def test_a_cache_with_an_empty_sharing_map_is_the_cores_own(tree, empty):
    tree.cpus(4, threads_per_core=2)
    for n in range(4):
        tree.cache(n, 0, 1, "Data", "32K", "")
        tree.cpu(f"cpu{n}/cache/index0/shared_cpu_map", empty)
    assert [c.threads for c in read(tree, 0, 1, 2, 3)] == [(0, 1), (2, 3)]


def test_line_and_ways_are_read(tree):
    tree.cache(0, 0, 1, "Data", "32K", "0")
    assert [(c.line_bytes, c.ways) for c in read(tree, 0)] == [(64, 8)]


@pytest.mark.parametrize("size", ["0K", "?", "", "12T"])
def test_a_size_that_is_none_is_explained(tree, size):
    tree.cache(0, 0, 1, "Data", size, "0")
    notes = Notes()
    (cache,) = read_caches(tree.root, frozenset({0}), notes)
    assert cache.size_bytes is None
    assert [entry.what for entry in notes.missing] == ["cpu.caches[*].size_bytes"]


def test_unknown_kinds_of_caches_are_left_out(tree):
    tree.cache(0, 0, 1, "Trace", "12K", "0")
    assert read(tree, 0) == ()


def test_no_caches_at_all_are_explained(tree):
    notes = Notes()
    assert read_caches(tree.root, frozenset({0}), notes) == ()
    assert [entry.what for entry in notes.missing] == ["cpu.caches"]


def test_where_list_and_mask_differ_the_mask_is_right(tree):
    for thread in (0, 1):
        tree.cache(thread, 0, 2, "Unified", "2048K", f"{thread}")
        tree.cpu(f"cpu{thread}/cache/index0/shared_cpu_map", "00000000,00000003")
    (cache,) = read(tree, 0, 1)
    assert cache.threads == (0, 1)
