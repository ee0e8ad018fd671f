"""Does it matter in which order memory is read?

The same elements are read in order, shuffled, and chained: each led to by the one before.

Method: one thread, kept on the last core (pinned), adds up arrays of 8-byte numbers: from the first
to the last (in order), and shuffled. That order is computed, so no read waits for another and many
are under way at once; chained, each read says where the next one is, so there is only one.
Sizes and orders are shuffled in each round; compared are the medians.
Source: the memory section of "Dive into Deep Learning" (hardware chapter), measured.

What it cannot tell: in small arrays "shuffled" contains the 1 to 2 ns of computing a position.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from experiments import api as x
from experiments.tools.buffers import Buffer, huge_pages_fraction, huge_pages_told
from experiments.tools.chasing import LINE_BYTES, SAMPLE_S, step_s
from experiments.tools.long_chain import power_of_two

ELEMENT_BYTES = 8
SMALLEST_BYTES = 16 * x.KIB
POINT_BYTES = 64 * x.MIB  # its chain is laid out in 50 ms
FREE_SHARE = 0.5
FEW_ROUNDS = 5
LAP_BYTES_PER_S, LAYOUT_S = 10e9, 25e-9  # on a virtual machine with 2 GiB arrays; a line laid out
WARM_UP_READS = 500_000
FIRST_READS = 2_000
IN_A_ROW, RANDOM, DEPENDENT = "sequential", "random", "dependent"
ORDERS = (IN_A_ROW, RANDOM, DEPENDENT)


class Params(x.Params):
    """The parameters; an array is the next power of two below `largest_bytes`."""

    largest_bytes: int = x.param(512 * x.MIB, minimum=x.MIB, maximum=64 * x.GIB, scale="log2")
    rounds: int = x.param(12, minimum=1, maximum=50)
    huge_pages: bool = False


class Point(x.Params):
    """A single point; its array is the next power of two below `size_bytes`."""

    size_bytes: int = x.param(x.MIB, minimum=SMALLEST_BYTES, maximum=POINT_BYTES, scale="log2")
    order: str = x.param(RANDOM, choices=ORDERS)


class Read(x.Row):
    """One repeat at one size in one order; only an element's 8 bytes count as useful."""

    size_bytes: int = x.column(scale="log2")
    order: str
    repeat: int
    element_s: float = x.column(scale="log10")
    useful_bytes_per_s: float = x.column(scale="log10")


def sizes(params: Params) -> list[int]:
    """Return the array sizes, powers of two, smallest first."""
    return x.ladder(SMALLEST_BYTES, params.largest_bytes, 2)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each size, order and round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        buffer = Buffer(max(sizes(params)), huge=params.huge_pages)
        if params.huge_pages:
            yield from huge_pages_told(huge_pages_fraction(buffer))
        arms = [(size, order) for size in sizes(params) for order in ORDERS]
        for arm, (size_bytes, order) in bench.interleave(arms, params.rounds):
            yield _read(buffer, size_bytes, order, arm.round, bench)
            yield x.Progress(arm.fraction)


def points(bench: x.Bench) -> Callable[[Point], x.Measured]:
    """Make one buffer, and return what yields the row of a point; `repeat` counts the points."""
    with bench.pinned():
        buffer, turns = Buffer(POINT_BYTES), count()

    def point(asked: Point) -> x.Measured:
        size_bytes = 1 << (asked.size_bytes.bit_length() - 1)
        with bench.pinned():
            row = _read(buffer, size_bytes, asked.order, next(turns), bench)
        yield row

    return point


def _read(buffer: Buffer, size_bytes: int, order: str, round_: int, bench: x.Bench) -> Read:
    element_s: float = _READ[order](buffer, size_bytes, round_, bench)
    return Read(
        size_bytes=size_bytes,
        order=order,
        repeat=round_,
        element_s=element_s,
        useful_bytes_per_s=ELEMENT_BYTES / element_s,
    )


def _read_in_a_row(buffer: Buffer, size_bytes: int, _round: int, bench: x.Bench) -> float:
    from experiments.kernels.sums import sum_in_a_row

    words = buffer.words[: size_bytes // ELEMENT_BYTES]
    laps = bench.repeat_for(lambda count: sum_in_a_row(words, count), at_least_s=SAMPLE_S, start=1)
    return bench.time(lambda: sum_in_a_row(words, laps)) / (words.size * laps)


def _read_at_random(buffer: Buffer, size_bytes: int, round_: int, bench: x.Bench) -> float:
    import numpy as np

    from experiments.kernels.sums import sum_at_random

    words = buffer.words[: size_bytes // ELEMENT_BYTES]
    bits, place = words.size.bit_length() - 1, np.array([round_], dtype=np.uint64)
    sum_at_random(words, bits, place, min(words.size, WARM_UP_READS))
    # Every call continues at new positions: those just read are cached.
    count = bench.repeat_for(
        lambda count: sum_at_random(words, bits, place, count),
        at_least_s=SAMPLE_S,
        start=FIRST_READS,
    )
    return bench.time(lambda: sum_at_random(words, bits, place, count)) / count


def _read_dependent(buffer: Buffer, size_bytes: int, round_: int, bench: x.Bench) -> float:
    return step_s(buffer, size_bytes, bench, turn=round_, at_random=True)


_READ = {IN_A_ROW: _read_in_a_row, RANDOM: _read_at_random, DEPENDENT: _read_dependent}


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare the three orders at the largest size that all of them reached."""
    of = x.spreads_of(tables["reads"], "element_s", "size_bytes", "order")
    complete = [size for size in sizes(params) if all((size, order) in of for order in ORDERS)]
    if not complete:
        return x.Finding("nothing_to_compare")
    size_bytes = max(complete)
    cache_bytes = x.last_level_cache_bytes(machine)
    is_beyond = cache_bytes is not None and size_bytes >= x.BEYOND_CACHE * cache_bytes
    limits = [] if is_beyond else ["partly_in_cache"]
    limits += [] if params.huge_pages else ["page_translation_included"]
    limits.append("positions_computed")
    in_a_row, random, dependent = (of[size_bytes, order] for order in ORDERS)
    values = {
        "size_bytes": size_bytes,
        "sequential_s": in_a_row.median,
        "random_s": random.median,
        "dependent_s": dependent.median,
    }
    if machine.memory.peak_bytes_per_s:
        values["bandwidth_limit_s"] = ELEMENT_BYTES / machine.memory.peak_bytes_per_s
    compared, unclear = x.ratios(
        {
            "random_over_sequential": (random, in_a_row),
            "dependent_over_sequential": (dependent, in_a_row),
            "reads_in_flight": (dependent, random),
        }
    )
    message = _message(in_a_row, random, dependent)
    return x.Finding(message, values | compared, tuple(limits), unclear)


def _message(in_a_row: x.Spread, random: x.Spread, dependent: x.Spread) -> str:
    """Return the message; each order is compared with the next slower one, both as one family."""
    if unsure := x.unsure((in_a_row, random), (random, dependent)):
        return unsure
    if in_a_row.is_below(random) and random.is_below(dependent):
        return "three_answers"
    if in_a_row.is_as(random) and random.is_as(dependent):
        return "all_the_same"
    return "other_order"


def seconds(params: Params) -> float:
    """Estimate from the time of samples, of long laps in order, and of laying out the chains."""
    samples_s = len(sizes(params)) * len(ORDERS) * 2.5 * SAMPLE_S
    all_bytes = 2 * max(sizes(params))  # of all sizes together
    laps_s, layout_s = 2 * all_bytes / LAP_BYTES_PER_S, all_bytes / LINE_BYTES * LAYOUT_S
    return max(sizes(params)) / x.GIB * 0.6 + params.rounds * (samples_s + laps_s + layout_s)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"reads": Read},
    measure=measure,
    loop="kernels/sums.py:sum_at_random",
    analyse=analyse,
    views=(
        x.Lines(
            "time",
            "reads",
            x.Axis("size_bytes"),
            x.Axis("element_s"),
            series="order",
            order=ORDERS,
            limits=(
                x.Limit("one_at_a_time", "dependent_s"),
                x.Limit("bandwidth", "bandwidth_limit_s"),
            ),
        ),
        x.Lines(
            "useful",
            "reads",
            x.Axis("size_bytes"),
            x.Axis("useful_bytes_per_s"),
            series="order",
            order=ORDERS,
        ),
    ),
    values=x.values(
        "sequential_s",
        "random_s",
        x.Value("dependent_s", x.Part.MEMORY),
        "random_over_sequential",
        "dependent_over_sequential",
        "reads_in_flight",
        "size_bytes",
        "bandwidth_limit_s",
    ),
    keys=(
        *(
            x.Key(f"{order}_s", "time", (order,), at="size_bytes")
            for order in (IN_A_ROW, RANDOM, DEPENDENT)
        ),
    ),
    next=x.Next("banks-mlp", {"largest_bytes": x.MIB}),
    parts=(x.Part.MEMORY, x.Part.L3),
    imports=("numpy", "numba"),
    defaults=lambda machine: Params(
        largest_bytes=power_of_two(x.beyond_cache(machine, 512 * x.MIB, FREE_SHARE, times=8))
    ),
    quick=x.change(
        largest_bytes=lambda size: max(size // 4, x.MIB), at_most={"rounds": FEW_ROUNDS}
    ),
    smallest=x.change(largest_bytes=x.MIB, rounds=2),
    budget=x.Budget(full={"rounds": FEW_ROUNDS}, quick={"rounds": x.ENOUGH}),
    seconds=seconds,
    memory_bytes=lambda params: max(sizes(params)) + 2 * x.MIB,
    live=x.Live(Point, points),
    is_in_tour=True,
)
