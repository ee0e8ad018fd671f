"""The traps of measurement.md, section 13, as far as compiled loops can fall into them."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.kernels import chains, sums
from experiments.kernels.chains import (
    LINE_BYTES,
    link_in_a_row,
    link_random,
    rounded_steps,
    scramble,
    walk,
)
from experiments.kernels.streams import add, scale, triad
from experiments.kernels.sums import IN_ORDER, SHUFFLED, list_places, sum_in_a_row, sum_listed
from experiments.tools.buffers import Buffer
from tests.cases import in_one
from tests.experiments.kernel_checks import (
    check_kept,
    check_twice_takes_twice,
    kernels_of,
)

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 63, 64, 100, 127, 128, 1000, 1023, 1024, 1025, 4097]
KEYS = [0, 1, 0x9E3779B9, 2**63 + 5]


@pytest.fixture(scope="module")
def buffer():
    return Buffer(max(SIZES) * LINE_BYTES)


def visited(buffer, nodes: int, start: int) -> list[int]:
    """Follow the chain in Python for `nodes` steps; return the nodes in the order of the visit."""
    place, seen = start, []
    for _ in range(nodes):
        seen.append((place - int(buffer.address)) // LINE_BYTES)
        place = int(buffer.words[seen[-1] * LINE_BYTES // 8])
    assert place == start  # after exactly `nodes` steps
    return seen


@pytest.mark.parametrize("nodes", SIZES)
def test_a_random_chain_visits_every_node_once_and_comes_back(buffer, nodes):
    for key in KEYS:
        start = int(link_random(buffer.words, nodes, buffer.address, key))

        assert sorted(visited(buffer, nodes, start)) == list(range(nodes)), key


@pytest.mark.parametrize("nodes", SIZES)
def test_a_chain_in_a_row_goes_from_line_to_line_and_comes_back(buffer, nodes):
    start = int(link_in_a_row(buffer.words, nodes, buffer.address))

    assert visited(buffer, nodes, start) == list(range(nodes))


def test_another_key_is_another_order(buffer):
    orders = {
        tuple(visited(buffer, 1000, int(link_random(buffer.words, 1000, buffer.address, key))))
        for key in range(8)
    }

    assert len(orders) == 8


def test_neighbours_in_a_random_chain_are_seldom_neighbours_in_memory(buffer):
    nodes = 4097
    start = int(link_random(buffer.words, nodes, buffer.address, 7))
    seen = visited(buffer, nodes, start)
    near = sum(1 for a, b in itertools.pairwise(seen) if abs(a - b) <= 2)

    assert near < nodes * 0.01  # four of 4097 by chance


@pytest.mark.parametrize("steps", [1, 15, 16, 17, 1000, 4097, 10_000])
def test_a_walk_takes_the_steps_that_are_counted(buffer, steps):
    nodes = 1000
    start = int(link_random(buffer.words, nodes, buffer.address, 3))
    order = visited(buffer, nodes, start)

    end = int(walk(steps, start))

    taken = rounded_steps(steps)
    assert steps <= taken < steps + 16
    assert (end - int(buffer.address)) // LINE_BYTES == order[taken % nodes]


def test_a_walk_goes_on_where_the_last_one_ended(buffer):
    start = int(link_random(buffer.words, 64, buffer.address, 3))

    assert walk(32, walk(32, start)) == start


@given(st.integers(min_value=1, max_value=12), st.integers(min_value=0, max_value=2**64 - 1))
def test_scrambled_numbers_are_the_same_numbers_in_another_order(bits, key):
    numbers = {int(scramble(number, bits, key)) for number in range(2**bits)}

    assert numbers == set(range(2**bits))


@pytest.mark.parametrize("laps", [0, 1, 3])
def test_a_sum_in_a_row_is_the_sum_of_all_elements(laps):
    words = np.arange(1000, dtype=np.uint64)

    assert sum_in_a_row(words, laps) == laps * 499_500


def listed(order, bits: int) -> np.ndarray:
    places = np.zeros(2**bits, dtype=np.uint32)
    list_places(places, *order)
    return places


@in_one("bits", range(1, 15))
def test_a_lap_through_a_list_reads_every_element_once(bits):
    words = np.random.default_rng(bits).integers(0, 2**40, 2**bits, dtype=np.uint64)

    for order in (IN_ORDER, SHUFFLED):
        places, half = listed(order, bits), 2 ** (bits - 1)
        assert sorted(places) == [*range(2**bits)]
        assert sum_listed(words, places, 0, 2**bits) == words.sum()
        assert sum_listed(words, places, 3, half) + sum_listed(words, places, 3 + half, half) == (
            words.sum()
        )


def test_a_list_in_order_counts_and_a_shuffled_one_is_all_over_the_array():
    positions = [int(each) for each in listed(SHUFFLED, 14)[:1000]]
    near = sum(1 for a, b in itertools.pairwise(positions) if abs(a - b) <= 16)

    assert [*listed(IN_ORDER, 10)] == [*range(2**10)]
    assert len(set(positions)) == 1000
    assert near < 20  # two of a thousand by chance


# --- what the compiler made of them -------------------------------------------------------------


def assembly(kernel) -> str:
    """Compile a fresh copy (one from the disk cache has no assembly) and return what it became."""
    from numba import njit

    copy = njit(kernel.signatures, nogil=True)(kernel.py_func)
    (text,) = copy.inspect_asm().values()
    return text


def test_a_sum_in_a_row_gathers_nothing():
    text = assembly(sum_in_a_row)

    assert "gather" not in text
    assert "scatter" not in text


def test_numbers_at_listed_places_are_added_one_at_a_time():
    """With vectors, in order would gain what has nothing to do with memory."""
    from numba import njit

    copy = njit(sum_listed.signatures, nogil=True)(sum_listed.py_func)
    (compiled,) = copy.inspect_llvm().values()
    loop = assembly(sum_listed)

    assert "noimplicitfloat" in compiled
    assert not re.search(r"gather|\bv?paddq\b|zmm", loop)


@in_one("kernel", [scale, add, triad, sum_in_a_row])
def test_a_loop_over_memory_is_left_on_vectors_of_256_bits(kernel):
    from numba import njit

    copy = njit(kernel.signatures, nogil=True)(kernel.py_func)
    (compiled,) = copy.inspect_llvm().values()

    assert '"prefer-vector-width"="256"' in compiled
    assert "zmm" not in assembly(kernel)


def test_an_address_never_becomes_a_floating_point_number():
    for kernel in (walk, link_random, link_in_a_row, scramble, sum_listed):
        assert not re.search(r"\bv?cvt\w+", assembly(kernel))


def test_a_step_of_the_walk_is_one_load():
    text = assembly(walk)
    chases = re.findall(r"mov\w*\s+\(%(r\w+)\),\s*%\1\b", text) or re.findall(
        r"ldr\s+(x\d+), \[\1\]", text
    )

    assert len(chases) >= 16


# --- no work may be optimised away: twice the count takes twice as long --------------------------


def again(kernel, *args) -> None:
    for _ in range(100):
        kernel(*args)


@in_one(
    ("kernel", "count"),
    [
        ("walk", 400_000),
        ("sum_in_a_row", 4_000),
        ("sum_listed", 2_000_000),
        ("link_random", 2**12),  # twice as much lies in the same cache still, on any machine
        ("link_in_a_row", 2**12),
    ],
)
def test_twice_the_work_takes_about_twice_as_long(kernel, count):
    buffer = Buffer(2**13 * LINE_BYTES if kernel.startswith("link") else 2**14)
    start = int(link_random(buffer.words, 256, buffer.address, 5))
    places = listed(SHUFFLED, 11)
    works = {
        "walk": lambda n: walk(n, start),
        "sum_in_a_row": lambda n: sum_in_a_row(buffer.words, n),
        "sum_listed": lambda n: sum_listed(buffer.words, places, 0, n),
        "link_random": lambda n: again(link_random, buffer.words, n, buffer.address, 5),
        "link_in_a_row": lambda n: again(link_in_a_row, buffer.words, n, buffer.address),
    }
    check_twice_takes_twice(works[kernel], count)


def test_every_kernel_is_compiled_once_and_kept_on_disk():
    kernels = [*kernels_of(chains), *kernels_of(sums)]

    assert len(kernels) >= 6
    assert all(len(kernel.signatures) == 1 for kernel in kernels)
    check_kept(kernels)
