"""How many reads one core has under way: chains of reads, walked side by side.

Within a chain a read waits for the one before; between chains nothing waits. Each number of chains
is timed for the same time, so that a disturbance hits all alike.
Source: google/multichase (`-c parallelN`); J. D. C. Little (1961): what is under way is rate times
latency.
"""

from __future__ import annotations

from collections.abc import Mapping

from experiments.core.bench import Bench
from experiments.core.judging.statistics import Spread
from experiments.tools.long_chain import LongChain

COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
SAMPLE_S = 0.005  # of each number of chains: what takes longer catches more disturbances
FIRST_STEPS = 500


def steps_for(chain: LongChain, chains: int, bench: Bench) -> int:
    """Return how many steps in each of so many chains take a sample's time."""
    from experiments.kernels.many_chains import rounded_steps, walk_all

    def walk(steps: int) -> None:
        walk_all(steps, chain.stretches(chains, rounded_steps(steps)))

    return rounded_steps(bench.repeat_for(walk, at_least_s=SAMPLE_S, start=FIRST_STEPS))


def read_s(chain: LongChain, chains: int, steps: int, bench: Bench) -> float:
    """Return the seconds per read for `steps`, a multiple of 4, in each of so many chains."""
    from experiments.kernels.many_chains import walk_all

    # How much of the page tables the caches hold depends on the reads just before: after
    # 32 chains a single one was a third faster for a while than when it is walked on and on.
    walk_all(steps, chain.stretches(chains, steps))
    places = chain.stretches(chains, steps)
    return bench.time(lambda: walk_all(steps, places)) / (steps * chains)


def fastest_of(of: Mapping[int, Spread]) -> int:
    """Return the number of chains with the least median time per read."""
    return min(of, key=lambda chains: of[chains].median)


def under_way(of: Mapping[int, Spread]) -> float | None:
    """Return how many reads are under way at once, from the times per read by number of chains.

    It is the time with one chain over that with the best number of several, and no more than that
    number: what goes beyond is a delay of the single chain. None without one chain and several.
    """
    several = {chains: each for chains, each in of.items() if chains > 1}
    if 1 not in of or not several:
        return None
    fastest = fastest_of(several)
    return min(of[1].median / several[fastest].median, fastest)
