"""Does it matter in which order memory is read?

The same elements are read in order, shuffled, and chained. In a chain each element names the place
of the next.

Method: one thread, kept on the last core (pinned), adds up arrays of 8-byte numbers. A list names
the places to read. The list is in order, or shuffled; loop and list are alike, and no vectors are
used, so only the order differs. No read waits for another, and many are under way at once. Chained,
each read says where the next one is, so there is only one. Sizes and orders are shuffled in each
round; compared are the medians. The number of reads under way is then measured as in `banks-mlp`: 1
to 48 chains side by side through the largest array, the best against one.
Source: the memory section of "Dive into Deep Learning" (hardware chapter), measured.

Not shown: the cost of reading the list, 4 bytes for each number. Both orders pay it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from experiments import api as x
from experiments.tools.buffers import Buffer, huge_pages_fraction, huge_pages_told
from experiments.tools.chasing import LINE_BYTES, SAMPLE_S, step_s
from experiments.tools.long_chain import (
    COUNTS,
    WALK_S,
    LongChain,
    power_of_two,
    read_s,
    steps_for,
    under_way,
)

ELEMENT_BYTES, PLACE_BYTES = 8, 4
SMALLEST_BYTES = 16 * x.KIB  # with its list, it fits the first cache of every machine
POINT_BYTES = 64 * x.MIB  # its chain is laid out in 50 ms
FREE_SHARE = 0.25  # the lists take as much again
FEW_ROUNDS = 5
LAYOUT_S = 25e-9  # a line of a chain
WARM_UP_READS = 500_000
FIRST_READS = 2_000
CHAINS_FRACTION = 0.15  # of the time
IN_A_ROW, RANDOM, DEPENDENT = "sequential", "random", "dependent"
ORDERS = (IN_A_ROW, RANDOM, DEPENDENT)


class Params(x.Params):
    """The parameters; an array is the next power of two below `largest_bytes`."""

    largest_bytes: int = x.param(
        512 * x.MIB, minimum=SMALLEST_BYTES, maximum=32 * x.GIB, scale="log2"
    )
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


class Overlap(x.Row):
    """One repeat with `chains` side by side: the time per read, all chains together."""

    chains: int = x.column(scale="log2")
    repeat: int
    latency_s: float = x.column(scale="log10")


def sizes(params: Params) -> list[int]:
    """Return the array sizes, powers of two, smallest first."""
    return x.ladder(SMALLEST_BYTES, params.largest_bytes, 2)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each size, order and round; then for each number of chains and round."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        numbers = Numbers(max(sizes(params)), huge=params.huge_pages)
        if params.huge_pages:
            yield from huge_pages_told(huge_pages_fraction(numbers.buffer))
        arms = [(size, order) for size in sizes(params) for order in ORDERS]
        for arm, (size_bytes, order) in bench.interleave(arms, params.rounds):
            yield numbers.read(size_bytes, order, arm.round, bench)
            yield x.Progress((1 - CHAINS_FRACTION) * arm.fraction)
        chain = LongChain(numbers.buffer, bench)
        steps = {n: steps_for(chain, n, bench) for n in COUNTS}
        for arm, chains in bench.interleave(COUNTS, params.rounds):
            latency_s = read_s(chain, chains, steps[chains], bench)
            yield Overlap(chains=chains, repeat=arm.round, latency_s=latency_s)
            yield x.Progress(1 - CHAINS_FRACTION * (1 - arm.fraction))


def points(bench: x.Bench) -> Callable[[Point], x.Measured]:
    """Make one array, and return what yields the row of a point; `repeat` counts the points."""
    with bench.pinned():
        numbers, turns = Numbers(POINT_BYTES, huge=False), count()

    def point(asked: Point) -> x.Measured:
        with bench.pinned():
            row = numbers.read(power_of_two(asked.size_bytes), asked.order, next(turns), bench)
        yield row

    return point


class Numbers:
    """An array of numbers whose size is a power of two, and a list of its places for each order."""

    def __init__(self, size_bytes: int, *, huge: bool) -> None:
        import numpy as np

        from experiments.kernels.sums import IN_ORDER, list_places

        self.buffer = Buffer(size_bytes, huge=huge)
        self._next = dict.fromkeys((IN_A_ROW, RANDOM), 0)
        list_bytes, self._shuffled = size_bytes // ELEMENT_BYTES * PLACE_BYTES, 0
        self._lists = {
            order: Buffer(list_bytes, huge=huge).words.view(np.uint32) for order in self._next
        }
        list_places(self._lists[IN_A_ROW], *IN_ORDER)

    def read(self, size_bytes: int, order: str, turn: int, bench: x.Bench) -> Read:
        """Return the row of one size in one order."""
        if order == DEPENDENT:
            element_s = step_s(self.buffer, size_bytes, bench, turn=turn, at_random=True)
        else:
            element_s = self.listed_s(size_bytes, order, bench)
        return Read(
            size_bytes=size_bytes,
            order=order,
            repeat=turn,
            element_s=element_s,
            useful_bytes_per_s=ELEMENT_BYTES / element_s,
        )

    def listed_s(self, size_bytes: int, order: str, bench: x.Bench) -> float:
        """Return the seconds of one element, at the places of a list."""
        from experiments.kernels.sums import sum_listed

        words = self.buffer.words[: size_bytes // ELEMENT_BYTES]
        places = self.places(words.size, order)

        def go_on(reads: int) -> None:
            # Every call continues at new places: those just read are cached.
            sum_listed(words, places, self._next[order], reads)
            self._next[order] += reads

        go_on(min(words.size, WARM_UP_READS))
        reads = bench.repeat_for(go_on, at_least_s=SAMPLE_S, start=FIRST_READS)
        return bench.time(lambda: go_on(reads), reads) / reads

    def places(self, count: int, order: str) -> Any:
        """Return the list of `count` places; each shuffled list takes the place of the last."""
        from experiments.kernels.sums import SHUFFLED, list_places

        places = self._lists[order][:count]
        if order == RANDOM and self._shuffled != count:
            list_places(places, *SHUFFLED)
            self._shuffled = count
        return places


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
    in_a_row, random, dependent = (of[size_bytes, order] for order in ORDERS)
    values = {
        "size_bytes": size_bytes,
        "sequential_s": in_a_row.median,
        "random_s": random.median,
        "dependent_s": dependent.median,
    }
    if machine.memory.peak_bytes_per_s:
        values["bandwidth_limit_s"] = (
            ELEMENT_BYTES + PLACE_BYTES
        ) / machine.memory.peak_bytes_per_s
    compared, unclear = x.ratios(
        {
            "random_over_sequential": (random, in_a_row),
            "dependent_over_sequential": (dependent, in_a_row),
        }
    )
    chains = x.spreads_of(tables.get("overlaps", ()), "latency_s", "chains")
    if (reads_in_flight := under_way(chains)) is not None:
        values["reads_in_flight"] = reads_in_flight
    message = _message(in_a_row, random, dependent)
    return x.Finding(message, values | compared, tuple(limits), unclear)


def _message(in_a_row: x.Spread, random: x.Spread, dependent: x.Spread) -> str:
    """Return the message; each order is compared with the next slower one, both as one family."""
    if unsure := x.unsure((in_a_row, random), (random, dependent)):
        return unsure
    if not random.is_below(dependent):
        return "other_order"
    if in_a_row.is_below(random):
        return "three_answers"
    return "only_chains_wait" if in_a_row.is_as(random) else "other_order"


def seconds(params: Params) -> float:
    """Estimate from writing the arrays, the samples, and laying out the chains."""
    samples_s = len(sizes(params)) * len(ORDERS) * 2.5 * SAMPLE_S
    chains_s = len(COUNTS) * 2.4 * WALK_S
    layout_s = 2 * max(sizes(params)) / LINE_BYTES * LAYOUT_S  # of all sizes together
    return (
        0.4 + max(sizes(params)) / x.GIB * 1.5 + params.rounds * (samples_s + chains_s + layout_s)
    )


EXPERIMENT = x.Experiment(
    version=2,
    params=Params,
    tables={"reads": Read, "overlaps": Overlap},
    measure=measure,
    confirmed_by="last_level_misses",
    loop="kernels/sums.py:sum_listed",
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
    next=x.Next("banks-mlp", {"huge_pages": True}),
    parts=(x.Part.MEMORY, x.Part.L3),
    uses=(x.Use.PINNING, x.Use.HUGE_PAGES),
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
    memory_bytes=lambda params: 2 * max(sizes(params)) + 6 * x.MIB,
    live=x.Live(Point, points),
    is_in_tour=True,
)
