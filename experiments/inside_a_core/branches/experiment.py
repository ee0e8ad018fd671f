"""Why is sorted data faster? A loop with a branch over the same bytes, sorted and shuffled.

Method: one thread, kept on the last core (pinned), adds up the bytes of an array that reach a
limit. The limit sets the share of bytes that are added. The bytes are sorted or shuffled, and both
are read in order. An empty assembly keeps the compiler from turning the branch into something else.
The same sum without a branch is the control. Then half of the bytes are added in arrays of other
lengths: a short pattern is learned by heart. The core's clock is measured in each round. Rounds are
shuffled; compared are sorted and shuffled bytes of which half are added, round by round. The
picture times pieces of the sorted and the shuffled array alone.
Source: "Why is processing a sorted array faster than processing an unsorted array?", Stack
Overflow, question 11227809; J. L. Hennessy, D. A. Patterson, Computer Architecture, chapter 3.3.

What it cannot tell: how often the core guesses wrong in your own loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from experiments import api as x
from experiments.tools.core_clock import Clock, clocks, core_hz

BYTES = 256  # different ones
SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
HALF = 0.5
SORTED, RANDOM, BRANCHLESS = WAYS = ("sorted", "random", "branchless")
LENGTHS = tuple(2**n for n in range(10, 20))
SAMPLE_S = 0.001
PIECE = 1024  # bytes that are one square of the picture
LEARNED = 1.2  # times as long as sorted, at most
PARTLY = 0.8  # of the time in the longest array


class Params(x.Params):
    """The parameters."""

    elements: int = x.param(2**18, minimum=2**10, maximum=2**22, scale="log2")
    rounds: int = x.param(30, minimum=1, maximum=200)


class Pass(x.Row):
    """One repeat of a way, in which a share of the bytes is added; the time of one byte."""

    taken_fraction: float
    way: str
    repeat: int
    element_s: float


class Length(x.Row):
    """The same in an array of so many bytes, of which half are added."""

    elements: int = x.column(scale="log2")
    way: str
    repeat: int
    element_s: float


def limit_of(share: float) -> int:
    """Return the limit that about this share of all bytes reaches."""
    return round(BYTES * (1 - share))


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each way and share, and for each length, in each round; and pictures."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        sums = Sums({*LENGTHS, params.elements}, bench)
        arms = [(Pass, way, limit_of(each), params.elements) for way in WAYS for each in SHARES]
        arms += [(Length, way, limit_of(HALF), n) for way in (SORTED, RANDOM) for n in LENGTHS]
        clocked = -1
        for turn, (kind, way, limit, elements) in bench.interleave(arms, params.rounds):
            if turn.round > clocked:
                yield from clocks(bench, turn.round)
                clocked = turn.round
            element_s = sums.element_s(way, limit, elements)
            if kind is Length:
                yield Length(elements=elements, way=way, repeat=turn.round, element_s=element_s)
            else:
                taken = 1 - limit / BYTES
                yield Pass(taken_fraction=taken, way=way, repeat=turn.round, element_s=element_s)
                if way == RANDOM:
                    yield sums.picture(limit, elements)
            yield x.Progress(turn.fraction)


class Sums:
    """Arrays of these lengths, sorted and shuffled, and the time that their bytes take."""

    def __init__(self, lengths: set[int], bench: x.Bench) -> None:
        import numpy as np

        shuffled = np.random.default_rng(x.SEED).permutation
        self._bench, self._laps = bench, dict[tuple[str, int, int], int]()
        self._bytes: dict[tuple[str, int], Any] = {}
        for n in lengths:
            random = shuffled(np.arange(n) % BYTES).astype(np.uint8)
            self._bytes |= {(SORTED, n): np.sort(random), (RANDOM, n): random}
        self._slowest_s = 0.0

    def element_s(self, way: str, limit: int, elements: int) -> float:
        """Return the seconds of one byte; without a branch the bytes are shuffled."""
        work, known = self._work(way, limit, elements), (way, limit, elements)
        if known not in self._laps:
            self._laps[known] = self._bench.repeat_for(work, at_least_s=SAMPLE_S, start=1)
        laps = self._laps[known]
        return self._bench.time(partial(work, laps)) / (laps * elements)

    def picture(self, limit: int, elements: int) -> x.Frame:
        """Return the pieces of the sorted array beside those of the shuffled one; slow is bright.

        Each is timed once, so one that was interrupted is bright as well.
        """
        import numpy as np

        side = math.isqrt(elements // PIECE)
        halves = []
        for order in (SORTED, RANDOM):
            pieces = self._bytes[order, elements][: side * side * PIECE].reshape(-1, PIECE)
            halves.append(np.reshape([self._piece_s(piece, limit) for piece in pieces], (side, -1)))
        # The middle of the slower half: an interruption must not darken all other pieces.
        self._slowest_s = max(self._slowest_s, *(float(np.median(half)) for half in halves))
        gap = np.zeros((side, 1))
        shades = np.hstack([halves[0], gap, halves[1]]) / (1.25 * self._slowest_s)
        data = (255 * np.minimum(shades, 1)).astype(np.uint8)
        return x.Frame("passes", data.shape, data.tobytes())

    def _piece_s(self, piece: Any, limit: int) -> float:
        from .kernels import with_branch

        start_s = self._bench.now_s()
        with_branch(piece, limit, 1)
        return self._bench.now_s() - start_s

    def _work(self, way: str, limit: int, elements: int) -> Callable[[int], object]:
        from .kernels import with_branch, without_branch

        numbers = self._bytes[SORTED if way == SORTED else RANDOM, elements]
        return partial(without_branch if way == BRANCHLESS else with_branch, numbers, limit)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare shuffled bytes with sorted ones where half are added; price a wrong guess."""
    half = x.spreads_of(tables["passes"], "element_s", "way", taken_fraction=HALF)
    values: dict[str, float] = {f"{way}_s": each.median for way, each in half.items()}
    limits = x.Limits()
    if (clock_hz := core_hz(tables)) is not None:
        values["core_hz"] = clock_hz
    if not {SORTED, RANDOM} <= half.keys():
        return x.Finding("nothing_to_compare", values)
    pairs = {"penalty": (half[RANDOM], half[SORTED])}
    ratio, unclear = x.ratios(pairs)
    values |= ratio
    long = x.spreads_of(tables["lengths"], "element_s", "way", "elements")
    learned = [n for n in LENGTHS if _is_learned(long, n)]
    if learned:
        values["learned_elements"] = max(learned)
    longest = long.get((RANDOM, max(LENGTHS)))
    if longest is not None and half[RANDOM].is_below(longest):
        limits.add("learned_by_heart", half[RANDOM].median < PARTLY * longest.median)
    if BRANCHLESS in half:
        limits.add("branchless_slower", half[SORTED].is_below(half[BRANCHLESS]))
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.add("no_clock", clock_hz is None)
    if message := x.unsure(*pairs.values()):
        return x.Finding(message, values, tuple(limits), unclear)
    if not half[SORTED].is_below(half[RANDOM]):
        return x.Finding("order_costs_nothing", values, tuple(limits))
    # Half of the shuffled bytes are added, so every second guess is wrong, however one guesses.
    values["mispredict_s"] = 2 * (half[RANDOM].median - half[SORTED].median)
    if clock_hz is not None:
        values["mispredict_cycles"] = values["mispredict_s"] * clock_hz
    return x.Finding("order_costs", values, tuple(limits), unclear)


def _is_learned(long: dict[tuple[str, int], x.Spread], n: int) -> bool:
    """Did a shuffled array of this length take about as long as a sorted one?"""
    ends = [long.get((way, n)) for way in (RANDOM, SORTED)]
    return None not in ends and ends[0].median <= LEARNED * ends[1].median  # type: ignore[union-attr]


def seconds(params: Params) -> float:
    """Estimate: samples, pictures, arrays that are sorted, and loading the compiled loops."""
    samples = len(WAYS) * len(SHARES) + 2 * len(LENGTHS)
    pass_s = params.elements * 3e-9
    turn_s = samples * max(1.3 * SAMPLE_S, pass_s) + len(SHARES) * (pass_s + 4e-4) + 0.01
    return 0.8 + 1e-7 * params.elements + (params.rounds + 0.5) * turn_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"passes": Pass, "lengths": Length, "clocks": Clock},
    measure=measure,
    loop="kernels.py:with_branch",
    analyse=analyse,
    views=(
        x.Lines(
            "shares",
            "passes",
            x.Axis("taken_fraction"),
            x.Axis("element_s"),
            series="way",
            order=WAYS,
        ),
        x.Lines(
            "lengths",
            "lengths",
            x.Axis("elements"),
            x.Axis("element_s"),
            series="way",
            order=WAYS[:2],
            limits=(x.Limit("learned", "learned_elements", "x"),),
        ),
        x.Field("picture", "passes"),
    ),
    values=x.values(
        x.Value("sorted_s", x.Part.CORES),
        x.Value("random_s", x.Part.CORES),
        "branchless_s",
        "penalty",
        "mispredict_s",
        x.Value("mispredict_cycles", x.Part.CORES),
        "learned_elements",
        x.Value("core_hz", x.Part.CORES),
    ),
    keys=(
        x.Key("sorted_s", "shares", (SORTED,)),
        x.Key("random_s", "shares", (RANDOM,)),
        x.Key("branchless_s", "shares", (BRANCHLESS,)),
    ),
    next=x.Next("matrix-order"),
    parts=(x.Part.CORES,),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=10),
    smallest=x.change(elements=2**14, rounds=3),
    budget=x.Budget(full={"rounds": 5}, quick={"rounds": 5}),
    seconds=seconds,
    memory_bytes=lambda params: 12 * params.elements + 16 * x.MIB,
)
