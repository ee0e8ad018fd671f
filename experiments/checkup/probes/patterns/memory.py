"""Memory in regions that patterns are written to and read back from: the processor's or a GPU's.

Regions are worked on in groups: one region for each core, or one on a GPU. A run can be stopped
between two groups.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from experiments import api as x
from experiments.devices.device import Device
from experiments.tools.buffers import HUGE_PAGE_BYTES, Buffer
from experiments.tools.neighbours import by_topology
from experiments.tools.side_by_side import seconds_together

LARGEST_BYTES = 128 * x.MIB  # of a region; to make a pattern a GPU needs six times as much
TOLD = 8  # wrong words of a region, the first ones
WORD_BYTES = 8
WALKING, ADDRESS, CHESS = range(3)  # kinds of patterns; all others are random
ALL_BITS = 2**64 - 1
_GOLDEN, _MIX = -0x61C8864680B583EB, -0x40A7B892E31B1A47  # those of `kernels`, as int64


class Checked(x.Record, kw_only=False):
    """A region that was read back; `first` are (offset in bytes, expected xor found)."""

    region: int
    size_bytes: int
    wrong_words: int
    first: tuple[tuple[int, int], ...] = ()


class HostMemory:
    """The processor's memory: each core's regions are written first by that core.

    `size_bytes` of memory lie in `groups` groups of regions. `is_cut`: less was taken than was
    wanted.
    """

    is_cut = False  # the engine refuses to begin with more than is free

    def __init__(self, bench: x.Bench, size_bytes: int) -> None:
        """Take the memory. Raises MemoryError."""
        self._bench = bench
        places: list[int | None] = [thread.id for thread in by_topology(bench.machine)]
        self._places = places or [None]
        share_bytes = size_bytes // len(self._places) // HUGE_PAGE_BYTES * HUGE_PAGE_BYTES
        region_bytes = min(LARGEST_BYTES, share_bytes or HUGE_PAGE_BYTES, size_bytes)
        self._count = max(1, size_bytes // region_bytes)
        self.size_bytes = self._count * region_bytes
        self.groups = math.ceil(self._count / len(self._places))
        self.regions: dict[int, Any] = {}

        def take(region: int) -> None:
            self._buffers[region] = Buffer(region_bytes, huge=True)
            self.regions[region] = self._buffers[region].words

        self._buffers: dict[int, Buffer] = {}
        for group in range(self.groups):
            self._together(group, take)

    def write(self, group: int, kind: int, key: int) -> None:
        """Write a pattern, a region on each core."""
        from .kernels import write

        def job(region: int) -> None:
            words = self.regions[region]
            write(words, kind, region * words.size, key)

        self._together(group, job)

    def check(self, group: int, kind: int, key: int, *, inverted: bool) -> list[Checked]:
        """Read the pattern back, a region on each core."""
        found: dict[int, Checked] = {}

        def job(region: int) -> None:
            found[region] = checked(region, self.regions[region], kind, key, inverted=inverted)

        self._together(group, job)
        return [found[region] for region in sorted(found)]

    def _together(self, group: int, job: Callable[[int], None]) -> None:
        begin = group * len(self._places)
        regions = range(begin, min(begin + len(self._places), self._count))
        jobs = [functools.partial(job, region) for region in regions]
        seconds_together(self._bench, list(zip(self._places, jobs, strict=False)))


def checked(region: int, words: Any, kind: int, key: int, *, inverted: bool) -> Checked:
    """Read a region of the processor's memory back, an array of uint64."""
    import numpy as np

    from .kernels import check

    places, flipped = np.zeros(TOLD, dtype=np.int64), np.zeros(TOLD, dtype=np.uint64)
    flip = ALL_BITS if inverted else 0
    wrong = check(words, kind, region * words.size, key, flip, not inverted, places, flipped)
    first = zip(places[:wrong].tolist(), flipped[:wrong].tolist(), strict=True)
    return Checked(
        region, words.nbytes, wrong, tuple((place * WORD_BYTES, bits) for place, bits in first)
    )


class GpuMemory:
    """A GPU's memory, at most what may be taken of it."""

    def __init__(self, device: Device, size_bytes: int) -> None:
        """Take the memory. Raises torch's error where it is not there."""
        self._torch, self._device = device.torch, device
        free_bytes = device.free_bytes()
        self.is_cut, size_bytes = free_bytes < size_bytes, min(size_bytes, free_bytes)
        region_bytes = max(1, min(size_bytes, LARGEST_BYTES) // WORD_BYTES) * WORD_BYTES
        self.groups = max(1, size_bytes // region_bytes)
        self.size_bytes = self.groups * region_bytes
        self.regions = [
            self._torch.zeros(
                region_bytes // WORD_BYTES, dtype=self._torch.int64, device=device.name
            )
            for _ in range(self.groups)
        ]

    def write(self, group: int, kind: int, key: int) -> None:
        """Write a pattern."""
        self.regions[group].copy_(self._pattern(group, kind, key))
        self._device.wait()

    def check(self, group: int, kind: int, key: int, *, inverted: bool) -> list[Checked]:
        """Read the pattern back."""
        region, expected = self.regions[group], self._pattern(group, kind, key)
        if inverted:
            expected.bitwise_not_()
        flipped = region ^ expected
        if not inverted:
            region.copy_(expected.bitwise_not_())
        places = flipped.nonzero().flatten()
        first = zip(places[:TOLD].tolist(), flipped[places[:TOLD]].tolist(), strict=True)
        told = tuple((place * WORD_BYTES, bits & ALL_BITS) for place, bits in first)
        return [Checked(group, region.numel() * WORD_BYTES, places.numel(), told)]

    def _pattern(self, group: int, kind: int, key: int) -> Any:
        torch, count = self._torch, self.regions[group].numel()
        numbers = torch.arange(
            group * count, (group + 1) * count, dtype=torch.int64, device=self._device.name
        )
        if kind == WALKING:
            return torch.ones_like(numbers) << ((numbers + key) & 63)
        if kind == ADDRESS:
            return numbers
        if kind == CHESS:
            return numbers.fill_(0x5555555555555555)
        mixed = (numbers + key) * _GOLDEN
        mixed = (mixed ^ (mixed >> 30)) * _MIX
        return mixed ^ (mixed >> 27)


Memory = HostMemory | GpuMemory
