"""A chain of dependent reads through all of a large memory, walked without returning.

A stretch walked twice would be cached. So each walk gets the stretch after the last one; after a
whole lap the caches hold other lines.
"""

from __future__ import annotations

from typing import Any

from experiments.core.bench import Bench
from experiments.tools.buffers import Buffer
from experiments.tools.chasing import LINE_BYTES, UNKNOWN_CACHE_BYTES
from machine.model import last_level_cache_bytes

KEY = 1


class LongChain:
    """One random cycle through a buffer whose size is a power of two, one line a node."""

    def __init__(self, buffer: Buffer, bench: Bench) -> None:
        """Lay the chain out, then flush what was written out of the caches."""
        from experiments.kernels.chains import link_random
        from experiments.kernels.sums import sum_in_a_row

        self._buffer = buffer
        self._nodes = buffer.size_bytes // LINE_BYTES
        self._next = 0
        link_random(buffer.words, self._nodes, buffer.address, KEY)
        bench.check_stop()
        cache_bytes = last_level_cache_bytes(bench.machine) or UNKNOWN_CACHE_BYTES
        sum_in_a_row(buffer.words[: 4 * cache_bytes // 8], 1)
        bench.check_stop()

    def stretches(self, count: int, steps: int) -> tuple[Any, ...]:
        """Return the addresses (uint64) of `count` places, each followed by `steps` new nodes."""
        from experiments.kernels.many_chains import place_in_cycle

        first = self._next
        self._next += count * steps
        return tuple(
            self._buffer.address.dtype.type(
                place_in_cycle(first + turn * steps, self._nodes, self._buffer.address, KEY)
            )
            for turn in range(count)
        )


def power_of_two(size_bytes: int) -> int:
    """Return the greatest power of two that is no larger."""
    return 1 << (size_bytes.bit_length() - 1)
