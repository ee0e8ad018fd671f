"""How long does one step of a chain of dependent reads take? For all that measures a latency."""

from __future__ import annotations

from experiments.bench import Bench
from experiments.buffers import Buffer

LINE_BYTES = 64
SAMPLE_S = 0.005
WARM_UP_STEPS = 200_000  # a whole lap up to 12 MiB; beyond, few of the lines stay cached anyway
FIRST_STEPS = 2_000


def step_s(buffer: Buffer, size_bytes: int, bench: Bench, *, random_order: int | None) -> float:
    """Return the seconds of one step through the first `size_bytes` of a buffer.

    `random_order` is the number of the order to walk in, None for one line after another.
    """
    from experiments.kernels.chains import link_in_a_row, link_random, rounded_steps, walk

    nodes = size_bytes // LINE_BYTES
    if random_order is None:
        place = link_in_a_row(buffer.words, nodes, buffer.address)
    else:
        key = 0x9E3779B9 * (random_order + 1)
        place = link_random(buffer.words, nodes, buffer.address, key)
    bench.check_stop()
    place = walk(min(nodes, WARM_UP_STEPS), place)
    steps = bench.repeat_for(
        lambda count: walk(count, place), at_least_s=SAMPLE_S, start=FIRST_STEPS
    )
    place = walk(steps, place)  # on from there: the steps just taken are in the cache now
    return bench.time(lambda: walk(steps, place)) / rounded_steps(steps)
