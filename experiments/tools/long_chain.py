"""A chain of dependent reads through all of a large memory, walked without returning.

A stretch walked twice would be cached. So each walk gets the stretch after the last one; after a
whole lap the caches hold other lines.

Several stretches are walked side by side to count how many reads are under way: within a chain a
read waits for the previous one; between chains nothing waits. Each number of chains is timed for
the same time, so that a disturbance hits all alike.
Source: google/multichase (`-c parallelN`); J. D. C. Little (1961): what is under way is rate times
latency.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.core.bench import Bench
from experiments.core.judging.statistics import Spread
from experiments.tools.buffers import Buffer
from experiments.tools.chasing import LINE_BYTES, UNKNOWN_CACHE_BYTES
from machine.model import last_level_cache_bytes

KEY = 1
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)  # of chains
WALK_S = 0.005  # of each number of chains: what takes longer catches more disturbances
FIRST_STEPS = 500


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


def steps_for(chain: LongChain, chains: int, bench: Bench) -> int:
    """Return how many steps in each of `chains` chains take a sample's time."""
    from experiments.kernels.many_chains import rounded_steps, walk_all

    def walk(steps: int) -> None:
        walk_all(steps, chain.stretches(chains, rounded_steps(steps)))

    return rounded_steps(bench.repeat_for(walk, at_least_s=WALK_S, start=FIRST_STEPS))


def read_s(chain: LongChain, chains: int, steps: int, bench: Bench) -> float:
    """Return the seconds per read for `steps`, a multiple of 4, in each of `chains` chains."""
    from experiments.kernels.many_chains import walk_all

    # How much of the page tables the caches hold depends on the reads just before: after
    # 32 chains a single one was a third faster for a while than when it is walked on and on.
    walk_all(steps, chain.stretches(chains, steps))
    places = chain.stretches(chains, steps)
    return bench.time(lambda: walk_all(steps, places), steps * chains) / (steps * chains)


def fastest_of(of: Mapping[int, Spread]) -> int:
    """Return the number of chains with the least median time per read."""
    return min(of, key=lambda chains: of[chains].median)


def under_way(of: Mapping[int, Spread]) -> float | None:
    """Return how many reads are under way at once, from the times per read by number of chains.

    It is the time with one chain over that with the best number of several. It is at most that
    number: anything beyond is a delay of the single chain. None without one chain and several.
    """
    several = {chains: each for chains, each in of.items() if chains > 1}
    if 1 not in of or not several:
        return None
    fastest = fastest_of(several)
    return min(of[1].median / several[fastest].median, fastest)
