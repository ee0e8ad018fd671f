"""The kernels of several threads, chains and lanes: nothing is lost, nothing is optimised away."""

from __future__ import annotations

import functools
import re
import threading
import time

import numpy as np
import pytest

from experiments.kernels import chains, lanes, many_chains
from experiments.kernels.chains import link_random
from experiments.kernels.clock import COUNTS_CYCLES, UNROLLED, count
from experiments.kernels.lanes import lane_sum, widest_bits
from experiments.kernels.many_chains import COUNTS, place_in_cycle, walk_all
from experiments.python_at_work.core_to_core import kernels as handover
from experiments.python_at_work.core_to_core.kernels import hand_over
from experiments.python_at_work.false_sharing import kernels as counters
from experiments.python_at_work.false_sharing.kernels import (
    increment,
    increment_at_once,
    read_often,
)
from experiments.tools.buffers import Buffer
from tests.experiments.kernels.test_kernels import best_s

NODES = 1024
WIDTHS = [bits for bits in (32, 64, 128, 256, 512) if bits <= widest_bits()]


@pytest.fixture
def buffer():
    return Buffer(NODES * 64)


def assembly(kernel) -> str:
    from numba import njit

    copy = njit(kernel.signatures[:1], nogil=True)(kernel.py_func)
    (text,) = copy.inspect_asm().values()
    return text


# --- counters and handing over -------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [increment, increment_at_once])
def test_every_increment_is_in_the_counter(buffer, kernel):
    kernel(buffer.address, 12_345)

    assert buffer.words[0] == 12_346  # a buffer is filled with ones
    assert set(buffer.words[1:]) == {1}


def test_two_threads_on_one_line_lose_nothing(buffer):
    threads = [
        threading.Thread(target=increment, args=(buffer.address + np.uint64(8 * n), 300_000))
        for n in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list(buffer.words[:2]) == [300_001, 300_001]


def test_reads_add_up(buffer):
    buffer.words[0] = 3

    assert read_often(buffer.address, 1000) == 3000


def test_a_word_goes_to_and_fro(buffer):
    buffer.words[:] = 0
    word, up = int(buffer.address) + 512, int(buffer.address)
    other = threading.Thread(target=hand_over, args=(word, up, 5_000, 1, 0))
    other.start()

    assert hand_over(word, up, 5_000, 0, 1)
    other.join()
    assert buffer.words[64] == 0
    assert buffer.words[0] == 0


def test_who_is_told_that_all_is_up_waits_no_longer(buffer):
    buffer.words[:] = 0
    buffer.words[0] = 1

    assert not hand_over(int(buffer.address) + 512, int(buffer.address), 1, 1, 0)


def test_who_waits_in_vain_says_so_and_ends(buffer, monkeypatch):
    from numba import njit

    monkeypatch.setattr(handover, "_GIVE_UP", 10_000)
    impatient = njit(handover.hand_over.signatures, nogil=True)(handover.hand_over.py_func)
    buffer.words[:] = 0

    assert not impatient(int(buffer.address) + 512, int(buffer.address), 1, 1, 0)
    assert buffer.words[0] == 1


# --- chains side by side -------------------------------------------------------------------------


def test_a_place_in_the_cycle_is_that_of_the_chain(buffer):
    place = int(link_random(buffer.words, NODES, buffer.address, 7))
    for number in range(NODES):
        assert place_in_cycle(number, NODES, buffer.address, 7) == place
        place = int(buffer.words[(place - int(buffer.address)) // 8])
    assert place_in_cycle(NODES, NODES, buffer.address, 7) == place  # around


@pytest.mark.parametrize("chains_", COUNTS)
@pytest.mark.parametrize("steps", [4, 5, 101])
def test_every_chain_takes_the_steps_that_are_counted(buffer, chains_, steps):
    link_random(buffer.words, NODES, buffer.address, 7)
    starts = tuple(np.uint64(place_in_cycle(31 * n, NODES, buffer.address, 7))
                   for n in range(chains_))  # fmt: skip
    ends = walk_all(steps, starts)
    taken = many_chains.rounded_steps(steps)

    assert steps <= taken < steps + 4
    assert list(ends) == [
        place_in_cycle(31 * n + taken, NODES, buffer.address, 7) for n in range(chains_)
    ]


# --- lanes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("laps", [1, 3])
def test_a_sum_by_lanes_is_the_sum_of_all(bits, laps):
    for width in (w for w in WIDTHS if w >= bits):
        numbers = np.arange(2048, dtype=f"float{bits}") % 7  # exact in either kind
        assert lane_sum(bits, width // bits)(numbers, laps) == laps * numbers.sum()


@pytest.mark.skipif(widest_bits() < 256, reason="the names are those of x86 with AVX")
def test_one_at_a_time_is_one_at_a_time_and_a_vector_a_vector():
    packed = r"\bv?addps\b"

    assert not re.search(packed, assembly(lane_sum(32, 1)))
    assert re.search(packed + r".*%xmm", assembly(lane_sum(32, 4)))
    assert re.search(packed + r".*%ymm", assembly(lane_sum(32, 8)))


# --- the clock -----------------------------------------------------------------------------------


@pytest.mark.skipif(not COUNTS_CYCLES, reason="no machine code for this processor")
@pytest.mark.parametrize("cycles", [1, UNROLLED, UNROLLED + 1, 10_000])
def test_the_cycles_that_are_counted_are_spent(cycles):
    assert cycles <= count(cycles) < cycles + UNROLLED
    assert count(cycles) % UNROLLED == 0


@pytest.mark.skipif(not COUNTS_CYCLES, reason="no machine code for this processor")
def test_a_step_in_the_first_cache_takes_three_to_six_cycles(buffer):
    """Trap 3 of measurement.md: what a chase costs beyond the load would show here."""
    place = int(link_random(buffer.words, 128, buffer.address, 7))
    steps = cycles = 1_600_000
    for _ in range(5):  # a neighbour that comes and goes may spoil a try
        cycle_s = best_s(count, cycles) / count(cycles)
        step_s = best_s(functools.partial(_walk, place), steps) / steps
        if 2.9 < step_s / cycle_s < 6:
            return
    pytest.fail(f"a step took {step_s / cycle_s:.2f} cycles")


def _walk(place: int, steps: int) -> None:
    chains.walk(steps, place)


# --- no work may be optimised away ---------------------------------------------------------------


def twice_over_once(work, count: int) -> float:
    """Return how much longer twice the work takes: the least of either, timed in turns."""
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(15):
        for factor, taken_s in times.items():
            start_s = time.perf_counter()
            work(factor * count)
            taken_s.append(time.perf_counter() - start_s)
    return min(times[2]) / min(times[1])


@pytest.mark.parametrize(
    ("kernel", "times"),
    [
        ("increment", 2_000_000),
        ("increment_at_once", 400_000),
        ("read_often", 2_000_000),
        ("count", 5_000_000),
        ("walk_all", 100_000),
        *((f"lanes_{width}", 80 * width) for width in WIDTHS),
    ],
)
def test_twice_the_work_takes_about_twice_as_long(buffer, kernel, times):
    link_random(buffer.words, NODES, buffer.address, 7)
    starts = tuple(np.uint64(place_in_cycle(n, NODES, buffer.address, 7)) for n in range(4))
    numbers = np.ones(2048, dtype=np.float32)
    spare = Buffer(4096)  # alive as long as its address is used
    counter = spare.address
    works = {
        "increment": lambda n: increment(counter, n),
        "increment_at_once": lambda n: increment_at_once(counter, n),
        "read_often": lambda n: read_often(counter, n),
        "count": count,
        "walk_all": lambda n: walk_all(n, starts),
    } | {f"lanes_{w}": functools.partial(lane_sum(32, w // 32), numbers) for w in WIDTHS}
    for _ in range(5):  # a neighbour that comes and goes may spoil a try
        ratio = twice_over_once(works[kernel], times)
        if 0.7 * 2 < ratio < 1.4 * 2:
            return
    pytest.fail(f"{kernel}: twice the work took {ratio:.2f} times as long")


@pytest.mark.parametrize("kernel", [increment, read_often])
def test_an_increment_is_not_taken_out_of_its_loop(buffer, kernel):
    """Trap 6 of measurement.md: a hoisted loop would take 0.01 ns an increment."""
    assert best_s(functools.partial(kernel, buffer.address), 5_000_000) / 5_000_000 > 0.05e-9


def test_every_kernel_lets_go_of_the_lock_and_is_kept_on_disk():
    from numba.core.registry import CPUDispatcher

    kernels = [
        each
        for module in (counters, handover, many_chains)
        for each in vars(module).values()
        if isinstance(each, CPUDispatcher)
    ] + [lane_sum(32, 1), *([count] if COUNTS_CYCLES else [])]

    assert len(kernels) >= 7
    assert lanes.SUMS > 4  # an addition takes three or four cycles
    for kernel in kernels:
        assert kernel.targetoptions.get("nogil")
        assert kernel._cache is not None
