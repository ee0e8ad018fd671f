"""Three arrays that a team of threads moves, each thread's share near that thread.

A share is mapped and written first by the thread that will use it, pinned: the system then puts it
on that thread's memory node. The threads are spread over the last-level caches, one for each core.
If more are wanted, the cores' siblings follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from experiments.core.bench import Bench
from experiments.core.sizes import BEYOND_CACHE, MIB, fits
from experiments.tools.buffers import Buffer, huge_pages_fraction
from experiments.tools.neighbours import by_topology
from experiments.tools.side_by_side import seconds_together
from machine.model import (
    Machine,
    Thread,
    caches_of,
    last_level_cache_bytes,
    physical_cores,
    usable_threads,
)

ARRAYS = 3
MOVED = {"copy": 2, "scale": 2, "add": 3, "triad": 3, "read": 1}  # arrays that are read or written
WORTH = 16  # threads; estimates of the time expect no gain from more
LEAST_BYTES, FREE_SHARE = 64 * MIB, 0.48
ELEMENT_BYTES = 8
SHIFT_BYTES = 4160  # arrays that begin at equal places in their pages disturb each other


def spread_out(machine: Machine) -> list[Thread]:
    """Return the usable threads, each last-level cache in turn, siblings at the end."""
    first = by_topology(machine)
    taken = {thread.id for thread in first}
    others = [t for t in by_topology(machine, one_per_core=False) if t.id not in taken]
    return [*_in_turn(machine, first), *_in_turn(machine, others)]


def cache_count(machine: Machine, threads: Sequence[Thread]) -> int:
    """Return how many last-level caches these threads have together; at least 1."""
    return max(1, len({_last_cache(machine, thread) for thread in threads}))


def counts(most: int, *, few: bool = False) -> list[int]:
    """Return 1, 2, 3, 4, 6, 8, 12 … and `most`; with `few` 1, 2, half and all."""
    if few:
        return sorted({1, min(2, most), max(1, most // 2), most})
    steps = {first * 2**doubled for first in (1, 3) for doubled in range(most.bit_length())}
    return sorted({step for step in steps if step < most} | {most})


def team_bytes(array_bytes: int, threads: int) -> int:
    """Return an upper bound: threads that join later allocate their own arrays."""
    late = sum(1 / count for count in range(1, threads + 1))
    return int(ARRAYS * array_bytes * late)


def suited(machine: Machine) -> tuple[int, int]:
    """Return (bytes of an array, threads): beyond all last-level caches, one thread a core.

    The arrays, and a chain as long as one of them, fit into half of the free memory.
    """
    threads = max(1, physical_cores(machine) or len(usable_threads(machine)))
    caches = cache_count(machine, spread_out(machine)[:threads])
    cache_bytes = last_level_cache_bytes(machine) or 0
    wanted_bytes = max(BEYOND_CACHE * cache_bytes * caches, LEAST_BYTES)
    all_bytes = team_bytes(wanted_bytes, threads) + wanted_bytes
    return max(MIB, fits(wanted_bytes, FREE_SHARE * wanted_bytes / all_bytes)), threads


class Team:
    """Threads with arrays. `array_bytes` is one array of all threads together."""

    def __init__(
        self, bench: Bench, threads: Sequence[Thread], array_bytes: int, *, huge: bool
    ) -> None:
        """Take memory; each thread writes its own first. Raises MemoryError."""
        self._bench, self._threads, self._array_bytes = bench, threads, array_bytes
        self._caches = cache_count(bench.machine, threads)
        self._buffers: dict[int, Buffer] = {}

        def take(member: int) -> Callable[[], None]:
            def job() -> None:
                buffer = Buffer(ARRAYS * (self._capacity(member) + SHIFT_BYTES), huge=huge)
                buffer.words.view("float64").fill(1.0)  # small integers are denormal as doubles
                self._buffers[member] = buffer

            return job

        self.run({member: take(member) for member in range(len(threads))})

    def __len__(self) -> int:
        return len(self._threads)

    @property
    def on_huge_fraction(self) -> float | None:
        """The share of the first thread's memory that lies on huge pages."""
        return huge_pages_fraction(self._buffers[0])

    def share_bytes(self, count: int) -> int:
        """Return one thread's share of an array when `count` work: together beyond all caches."""
        return _whole(self._array_bytes / max(self._caches, count))

    def cached_bytes(self, count: int) -> int | None:
        """Return a share at which the three arrays fill half of the last-level caches."""
        cache_bytes = last_level_cache_bytes(self._bench.machine)
        if cache_bytes is None:
            return None
        neighbours = math.ceil(count / self._caches)
        return min(_whole(cache_bytes / 2 / ARRAYS / neighbours), self.share_bytes(count))

    def arrays(self, member: int, share_bytes: int) -> tuple[Any, ...]:
        """Return the three arrays of a thread, as float64."""
        buffer = self._buffers[member]
        words, apart = buffer.words.view("float64"), buffer.size_bytes // ARRAYS
        return tuple(
            words[array * apart // ELEMENT_BYTES :][: share_bytes // ELEMENT_BYTES]
            for array in range(ARRAYS)
        )

    def run(self, jobs: Mapping[int, Callable[[], object]]) -> float:
        """Return the seconds that jobs take at once, each on its member's thread."""
        return seconds_together(
            self._bench, [(self._threads[member].id, job) for member, job in jobs.items()]
        )

    def _capacity(self, member: int) -> int:
        return self.share_bytes(member + 1)  # its share is largest when it joins


def _in_turn(machine: Machine, threads: Sequence[Thread]) -> list[Thread]:
    groups: dict[object, list[Thread]] = {}
    for thread in threads:
        groups.setdefault(_last_cache(machine, thread), []).append(thread)
    rounds = zip_longest(*groups.values())
    return [thread for turn in rounds for thread in turn if thread is not None]


def _last_cache(machine: Machine, thread: Thread) -> object:
    caches = caches_of(machine, thread.id)
    return caches[-1].threads if caches else thread.package


def _whole(size_bytes: float) -> int:
    return max(int(size_bytes) // 64 * 64, 64)
