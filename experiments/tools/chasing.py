"""The time of one step through a chain of dependent reads: every latency is measured with it."""

from __future__ import annotations

from experiments.core.bench import Bench
from experiments.core.sizes import MIB
from experiments.tools.buffers import Buffer
from machine.model import last_level_cache_bytes

LINE_BYTES = 64
SAMPLE_S = 0.005
WARM_UP_STEPS = 200_000  # a whole lap up to 12 MiB; beyond, few of the lines stay cached anyway
FIRST_STEPS = 2_000
UNKNOWN_CACHE_BYTES = 32 * MIB


def step_s(buffer: Buffer, size_bytes: int, bench: Bench, *, turn: int, at_random: bool) -> float:
    """Return the seconds of one step through `size_bytes` of a buffer.

    Each turn takes another part, in another random order or one line after another.
    """
    from experiments.kernels.chains import link_in_a_row, link_random, rounded_steps, walk
    from experiments.kernels.sums import sum_in_a_row

    nodes = size_bytes // LINE_BYTES
    words, address = buffer.part(size_bytes, turn)
    if at_random:
        place = link_random(words, nodes, address, 0x9E3779B9 * (turn + 1))
    else:
        place = link_in_a_row(words, nodes, address)
    bench.check_stop()
    cache_bytes = last_level_cache_bytes(bench.machine) or UNKNOWN_CACHE_BYTES
    if size_bytes > cache_bytes:
        # The processor still writes the new chain back, which delays every read. Reading four
        # caches' worth in a row, at full bandwidth, pushes it out.
        sum_in_a_row(words[: min(size_bytes, 4 * cache_bytes) // 8], 1)
    place = walk(min(nodes, WARM_UP_STEPS), place)
    steps = bench.repeat_for(
        lambda count: walk(count, place), at_least_s=SAMPLE_S, start=FIRST_STEPS
    )
    place = walk(steps, place)  # go on: the steps just taken are cached now
    reads = rounded_steps(steps)
    return bench.time(lambda: walk(steps, place), reads) / reads
