from __future__ import annotations

import numpy as np
import pytest
from msgspec.structs import replace

from experiments.core.sizes import KIB, MIB
from experiments.inside_a_core.stride.experiment import STRIDES, Params, Read, analyse
from experiments.inside_a_core.stride.kernels import read_apart
from machine.model import Cache
from tests.experiments.machines import machine

AGREED = {"line_bytes_seen", "stride_1_s", "stride_line_s", "stride_page_s"}
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99, 1.0)
LINE = 64


def by_lines(stride, line=LINE):
    """Return the time of a read: 0.25 ns of work, or the lines that it fetches at 2 ns each."""
    return max(2.5e-10, 2e-9 * min(1, stride / line))


def found(read=by_lines, here=None, noise=NOISE, strides=STRIDES, memory_bytes=256 * MIB):
    reads = [
        Read(stride_bytes=stride, repeat=turn, touch_s=read(stride) * factor, lines_per_s=1.0)
        for stride in strides
        for turn, factor in enumerate(noise if stride > 4 else NOISE)
    ]
    return analyse(Params(memory_bytes=memory_bytes), {"reads": reads}, here or machine())


def test_a_line_is_seen_and_all_numbers_take_little_more_than_every_16th():
    finding = found()

    assert finding.message == "lines_count"
    assert finding.values["line_bytes_seen"] == LINE
    assert finding.values["all_over_every_16th"] == pytest.approx(2)  # 16 x 0.25 ns against 2 ns
    assert finding.values["stride_page_s"] == pytest.approx(2e-9)
    assert finding.limits == ("prefetcher_helps",)


def test_where_only_reads_count_it_says_so_and_shows_no_line():
    finding = found(lambda _stride: 2.5e-10)

    assert finding.message == "a_sixteenth"
    assert "line_bytes_seen" not in finding.values


def test_two_lines_at_once_are_not_what_the_system_tells():
    here = machine()
    caches = (Cache(level=1, kind="data", line_bytes=LINE, threads=(0,)),)
    here = replace(here, cpu=replace(here.cpu, caches=caches))

    assert "other_line" in found(lambda stride: by_lines(stride, 128), here).limits
    assert "other_line" not in found(here=here).limits


def test_memory_that_a_cache_holds_is_said_and_scatter_tells_nothing():
    assert "partly_in_cache" in found(memory_bytes=32 * MIB).limits
    assert found(noise=(0.01, 9, 0.02, 20, 0.01, 15)).message == "cannot_tell"
    assert found(strides=[1, 64]).message == "nothing_to_compare"


@pytest.mark.parametrize("stride", [1, 8, 64, 256, 4096])
@pytest.mark.parametrize("touches", [64, 4096])
def test_each_read_meets_another_place_until_all_were_met(stride, touches):
    size = 64 * KIB
    memory = np.zeros(size + 64, np.uint8)
    of_lap = size // stride
    for n in range(touches):
        lap, at = divmod(n, of_lap)
        memory[lap * 64 % max(stride, 64) + at * stride] += 1
    read_places = memory.nonzero()[0]

    ones = np.ones(size + 64, np.uint8)
    assert read_apart(touches, np.uint64(ones.ctypes.data), size, stride) == touches
    ones[read_places] = 0
    assert read_apart(touches, np.uint64(ones.ctypes.data), size, stride) == 0
    assert len(read_places) == min(touches, max(of_lap, size // 64))
