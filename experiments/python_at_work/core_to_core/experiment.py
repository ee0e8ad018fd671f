"""Which cores are neighbours? The time in which one word goes from core to core.

Method: two threads, each kept on its hardware thread, hand a word to and fro by compare-and-swap;
half a round trip counts. The time depends on the line that the word lies in. So several lines are
tried: the best sample of each counts, and the median over the lines. Pairs are shuffled in each
round; odd rounds are timed from the other side, which fills the other half of the matrix. Cores
stand in the order of the topology; on large machines only some are measured, evenly spread. Groups
are read off the timings alone: pairs are near or far if the greatest step between their times is at
least 1.3 and clear. Cores that are near to one another form a group. Two cores are one pair, and
one number is no map.
Source: the default protocol of core-to-core-latency (N. Viennot).

Not shown: the time of another protocol; two lines, or plain reads, have other figures.
"""

from __future__ import annotations

import math
import random
import statistics
import threading
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise

from msgspec.structs import replace

from experiments import api as x
from experiments.tools.buffers import Buffer
from experiments.tools.neighbours import RELATIONS, by_topology, relation
from experiments.tools.side_by_side import pin

BUFFER_BYTES, APART_BYTES = 2 * x.MIB, 256
ROUND_TRIPS, SAMPLES = 1_000, 3
EXPECTED_S = 100e-9  # of one way, for the estimate
MOST_CORES, QUICK_CORES = 64, 24
FEW_ROUNDS = 6
STEP = 1.3  # between near and far
UNSTEADY = 1.5  # a pair's slowest repeat over its fastest


class Params(x.Params):
    """The parameters."""

    cores: int = x.param(16, minimum=2, maximum=1024)
    hardware_threads: bool = False
    lines: int = x.param(16, minimum=1, maximum=256)
    rounds: int = x.param(20, minimum=1, maximum=100)


class Handover(x.Row):
    """One repeat of a pair, timed from `first`; `shared` is what the topology says they share."""

    first: str
    second: str
    shared: str
    repeat: int
    latency_s: float


def chosen(params: Params, machine: x.Machine) -> dict[str, x.Thread]:
    """Return the hardware threads to measure by their names, in order.

    A name is the thread's number in the system. If these numbers do not follow the topology, the
    place in the topology stands before the number.
    """
    threads = by_topology(machine, one_per_core=not params.hardware_threads)
    count = min(params.cores, len(threads))
    some = [threads[place * len(threads) // count] for place in range(count)]
    if some == sorted(some, key=lambda thread: thread.id):
        return {str(thread.id): thread for thread in some}
    width = len(str(count - 1))
    return {f"{place:0{width}d}·{thread.id}": thread for place, thread in enumerate(some)}


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each pair and round."""
    threads = chosen(params, bench.machine)
    everyone = len(by_topology(bench.machine, one_per_core=not params.hardware_threads))
    if len(threads) < everyone:
        yield x.Note("cores_thinned", {"measured": len(threads), "cores": everyone})
    slots = Slots(params.lines)
    arms = list(combinations(threads, 2))
    for turn, pair in bench.interleave(arms, params.rounds):
        first, second = pair if turn.round % 2 == 0 else pair[::-1]
        one, other = threads[first], threads[second]
        latency_s = one_way_s(slots, one.id, other.id, bench)
        if latency_s is None:
            yield x.Note("pair_too_disturbed", {"first": first, "second": second})
        else:
            yield Handover(
                first=first,
                second=second,
                shared=relation(bench.machine, one, other),
                repeat=turn.round,
                latency_s=latency_s,
            )
        yield x.Progress(turn.fraction)


class Slots:
    """Words of memory on lines of their own across some pages, and a flag that ends both."""

    def __init__(self, count: int) -> None:
        self._buffer = Buffer(BUFFER_BYTES)
        places = range(APART_BYTES, BUFFER_BYTES, APART_BYTES)
        self.up = int(self._buffer.address)
        self.words = [self.up + at for at in random.Random(x.SEED).sample(places, count)]

    def clear(self) -> None:
        """Set all words to 0: the timing thread begins."""
        self._buffer.words.fill(0)

    def give_up(self) -> None:
        """Let a waiting thread end."""
        self._buffer.words[0] = 1

    def given_up(self) -> bool:
        """Has one of the two waited in vain?"""
        return bool(self._buffer.words[0])


def one_way_s(slots: Slots, timing: int, answering: int, bench: x.Bench) -> float | None:
    """Return half a round trip, the median over the lines. None if the two did not meet."""
    from .kernels import hand_over

    def answer() -> None:
        pin(answering)
        with bench.watched():
            for word in slots.words:
                hand_over(word, slots.up, (1 + SAMPLES) * ROUND_TRIPS, 1, 0)

    def sample_s(word: int) -> float:
        return bench.time(lambda: hand_over(word, slots.up, ROUND_TRIPS, 0, 1))

    slots.clear()
    partner = threading.Thread(target=answer, name="answering")
    with bench.pinned(timing):
        partner.start()
        try:
            best = [min([sample_s(word) for _ in range(1 + SAMPLES)][1:]) for word in slots.words]
            met = not slots.given_up()
        finally:
            slots.give_up()
            partner.join()
    return statistics.median(best) / (2 * ROUND_TRIPS) if met else None


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Return the range over all pairs, and count the groups that the timings alone show."""
    pairs = x.spreads(
        (frozenset((row.first, row.second)), row.latency_s, row.repeat)
        for row in tables["handovers"]
    )
    if not pairs:
        return x.Finding("nothing_measured")
    cores = set().union(*pairs)
    is_in_part = len(pairs) < len(cores) * (len(cores) - 1) / 2
    limits = x.Limits(["pairs_missing"] if is_in_part else [])
    if statistics.median(found.high / found.low for found in pairs.values()) > UNSTEADY:
        limits.append("unsteady")
    limits.add("virtual_machine", x.is_virtual(machine))
    if len(cores) < len(by_topology(machine, one_per_core=not params.hardware_threads)):
        limits.append("some_cores_only")
    limits.append("protocol")
    medians = sorted(found.median for found in pairs.values())
    values = {
        "median_s": statistics.median(medians),
        "fastest_s": medians[0],
        "slowest_s": medians[-1],
        "cores_measured": len(cores),
    }
    if is_in_part:
        return x.Finding("matrix_in_part", values, tuple(limits))
    if len(pairs) == 1:
        return x.Finding("one_pair", values, tuple(limits))
    if x.too_few(pairs.values()):
        return x.Finding(x.TOO_FEW, values, tuple(limits))
    ordered = sorted(pairs, key=lambda pair: pairs[pair].median)
    fastest, slowest = pairs[ordered[0]], pairs[ordered[-1]]
    any_two = x.LEVEL / math.comb(len(pairs), 2)  # so many could have been the farthest apart
    near = _below_the_step([pairs[pair].median for pair in ordered])
    if near:
        if not pairs[ordered[near - 1]].is_below(pairs[ordered[near]]):
            return x.Finding(x.CANNOT_TELL, values, tuple(limits))
        values["group_count"] = _groups(cores, ordered[:near])
    elif slowest.against(fastest, within=STEP - 1).outcome is x.Outcome.SAME:
        return x.Finding("all_alike", values | {"group_count": 1}, tuple(limits))
    elif fastest.against(slowest, level=any_two).outcome is x.Outcome.DIFFERS:
        values["group_count"] = 1
    else:
        return x.Finding(x.CANNOT_TELL, values, tuple(limits))
    message = "groups_seen" if values["group_count"] > 1 else "distances_differ"
    return x.Finding(message, values, tuple(limits))


def _below_the_step(medians: Sequence[float]) -> int:
    """Return how many lie below the greatest step between neighbours; 0 if none is great."""
    steps = [high / low for low, high in pairwise(medians)]
    return steps.index(max(steps)) + 1 if max(steps) >= STEP else 0


def _groups(cores: Iterable[str], near: Sequence[frozenset[str]]) -> int:
    """Return the number of groups if cores near each other form one."""
    group_of = {core: {core} for core in cores}
    for pair in near:
        joined = set().union(*(group_of[core] for core in pair))
        for core in joined:
            group_of[core] = joined
    return len({id(group) for group in group_of.values()})


def defaults(machine: x.Machine) -> Params:
    """Measure every core, 64 at most, on as many lines and as often as time allows."""
    cores = x.physical_cores(machine) or len(x.usable_threads(machine))
    wanted = Params(cores=min(max(cores, 2), MOST_CORES))
    few = x.shrink(replace(wanted, rounds=FEW_ROUNDS), seconds, x.Budget().full_s, lines=8)
    return replace(wanted, lines=few.lines)


_STARTING_S = 0.1


def seconds(params: Params) -> float:
    """Estimate: every pair of cores once a round, and the start of its thread."""
    pairs = params.cores * (params.cores - 1) / 2
    samples_s = params.lines * (1 + SAMPLES) * ROUND_TRIPS * 2 * EXPECTED_S
    return _STARTING_S + pairs * params.rounds * (samples_s + 0.0005)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"handovers": Handover},
    measure=measure,
    loop="kernels.py:hand_over",
    analyse=analyse,
    views=(
        x.Heatmap("matrix", "handovers", "first", "second", "latency_s"),
        x.Bars("topology", "handovers", "shared", "latency_s", order=RELATIONS),
    ),
    values=x.values(
        x.Value("median_s", x.Part.CORES),
        "fastest_s",
        "slowest_s",
        "group_count",
        "cores_measured",
    ),
    keys=tuple(
        x.Key(name, "topology", RELATIONS) for name in ("median_s", "fastest_s", "slowest_s")
    ),
    next=x.Next("false-sharing", {"lines": 1}),
    parts=(x.Part.CORES, x.Part.L3),
    needs=(x.Need.CORE_PAIR,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(lines=4, rounds=10, at_most={"cores": QUICK_CORES}),
    smallest=x.change(cores=3, lines=2, rounds=4),
    budget=x.Budget(full={"rounds": 2}, quick={"rounds": 2}),
    seconds=seconds,
    memory_bytes=lambda _params: BUFFER_BYTES + 2 * x.MIB,
)
