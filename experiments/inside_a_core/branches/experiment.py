"""Why is sorted data faster? A loop with a branch over the same bytes, sorted and shuffled.

Method: one thread, kept on the last core (pinned), adds up the bytes of an array that reach a
limit. They are sorted or shuffled, and both are read in order. The same sum without a branch is the
control. Then half of the bytes are added in arrays of other lengths: a short pattern is learned by
heart. The core's clock is measured in each round. Rounds are shuffled; compared are sorted and
shuffled bytes of which half are added, round by round. For the picture, pieces are timed alone.
Source: "Why is processing a sorted array faster than processing an unsorted array?", Stack
Overflow, question 11227809; J. L. Hennessy, D. A. Patterson, Computer Architecture, chapter 3.3.

Not shown: how often the core guesses wrong in your own loop; and how long a byte takes that is
guessed right. That depends on where the loop lies in memory, by up to a third.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from experiments import api as x
from experiments.tools.core_clock import Clock, RoundClock, core_hz

BYTES = 256  # different ones
SHARES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0)
HALF = 0.5
SORTED, RANDOM, BRANCHLESS = WAYS = ("sorted", "random", "branchless")
LENGTHS = tuple(2**n for n in range(10, 20))
SAMPLE_S = 0.001
PIECES = 16  # of an array, in the picture
LEARNED = 1.2  # times as long as sorted, at most
PARTLY = 0.8  # of the time in the longest array


class Params(x.Params):
    """The parameters."""

    elements: int = x.param(2**18, minimum=2**10, maximum=2**22, scale="log2")
    rounds: int = x.param(30, minimum=1, maximum=200)


class Pass(x.Row):
    """One repeat of a way: the time of a byte where a share of the bytes is added."""

    elements: int = x.column(scale="log2")
    taken_fraction: float
    way: str
    repeat: int
    element_s: float


class Length(Pass):
    """The same where half are added, in arrays of other lengths."""


def limit_of(share: float) -> int:
    """Return the limit that about this share of all bytes reaches."""
    return round(BYTES * (1 - share))


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each way and share, and for each length, in each round; and pictures."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        sums = Sums({*LENGTHS, params.elements}, bench)
        arms = [(Pass, way, limit_of(share), params.elements) for way in WAYS for share in SHARES]
        arms += [(Length, way, limit_of(HALF), n) for way in (SORTED, RANDOM) for n in LENGTHS]
        clock = RoundClock(bench)
        for turn, (row, way, limit, elements) in bench.interleave(arms, params.rounds):
            yield from clock.of(turn.round)
            yield row(
                elements=elements,
                taken_fraction=1 - limit / BYTES,
                way=way,
                repeat=turn.round,
                element_s=sums.element_s(way, limit, elements),
            )
            if row is Pass and way == RANDOM:
                yield sums.picture(limit, elements)
            yield x.Progress(turn.fraction)


class Sums:
    """Arrays of these lengths, sorted and shuffled, and the time that their bytes take."""

    def __init__(self, lengths: set[int], bench: x.Bench) -> None:
        import numpy as np

        from experiments.kernels.branches import with_branch, without_branch

        shuffled = np.random.default_rng(x.SEED).permutation
        random = {n: shuffled(np.arange(n) % BYTES).astype(np.uint8) for n in lengths}
        ordered = {n: np.sort(each) for n, each in random.items()}
        self.bytes_of = {SORTED: ordered, RANDOM: random, BRANCHLESS: random}  # by length
        self._loops = {SORTED: with_branch, RANDOM: with_branch, BRANCHLESS: without_branch}
        self._bench, self._pieces_s = bench, np.zeros((PIECES, 2 * len(SHARES) + 1))
        self._laps: dict[tuple[str, int, int], int] = {}

    def element_s(self, way: str, limit: int, elements: int) -> float:
        """Return the seconds of one byte."""
        arm = way, limit, elements
        work = partial(self._loops[way], self.bytes_of[way][elements], limit)
        if arm not in self._laps:
            self._laps[arm] = self._bench.repeat_for(work, at_least_s=SAMPLE_S, start=1)
        added = self._laps[arm] * elements
        return self._bench.time(partial(work, self._laps[arm]), added) / added

    def picture(self, limit: int, elements: int) -> x.Frame:
        """Return the best times of all pieces until now; slow is bright.

        A column has the pieces of one array at one share: first the sorted ones, then the shuffled.
        """
        import numpy as np

        share = [limit_of(each) for each in SHARES].index(limit)
        for order, column in ((SORTED, share), (RANDOM, share + len(SHARES) + 1)):
            for row, piece in enumerate(np.array_split(self.bytes_of[order][elements], PIECES)):
                start_s = self._bench.now_s()
                self._loops[order](piece, limit, 1)
                best_s = self._bench.now_s() - start_s
                self._pieces_s[row, column] = min(best_s, self._pieces_s[row, column] or best_s)
        data = (255 * self._pieces_s / self._pieces_s.max()).astype(np.uint8)
        return x.Frame("passes", data.shape, data.tobytes())


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare shuffled bytes with sorted ones where half are added; price a wrong guess."""
    half = x.spreads_of(tables["passes"], "element_s", "way", taken_fraction=HALF)
    values = {f"{way}_s": each.median for way, each in half.items()}
    if (clock_hz := core_hz(tables)) is not None:
        values["core_hz"] = clock_hz
    if not {*WAYS} <= half.keys():
        return x.Finding("nothing_to_compare", values)
    compared, limits = (half[RANDOM], half[SORTED]), x.Limits()
    penalty, unclear = x.ratios({"penalty": compared})
    values |= penalty
    long = x.spreads_of(tables["lengths"], "element_s", "way", "elements")
    for n in LENGTHS:
        random, ordered = long.get((RANDOM, n)), long.get((SORTED, n))
        if random and ordered and random.median <= LEARNED * ordered.median:
            values["learned_elements"] = n
    longest = {way: long.get((way, LENGTHS[-1]), half[way]) for way in (SORTED, RANDOM)}
    here, there = half[RANDOM], longest[RANDOM]
    by_heart = here.is_below(there) and here.median < PARTLY * there.median
    limits.add("learned_by_heart", by_heart)
    limits.add("branchless_slower", half[SORTED].is_below(half[BRANCHLESS]))
    limits.add("virtual_machine", x.is_virtual(machine))
    limits.add("no_clock", clock_hz is None)
    costs = "order_costs" if half[SORTED].is_below(half[RANDOM]) else "order_costs_nothing"
    message = x.unsure(compared) or costs
    if message == "order_costs":
        # Every second guess is wrong where half are added, unless the bytes are known by heart.
        priced = longest if by_heart else half
        values["mispredict_s"] = 2 * (priced[RANDOM].median - priced[SORTED].median)
        if clock_hz is not None:
            values["mispredict_cycles"] = values["mispredict_s"] * clock_hz
    return x.Finding(message, values, tuple(limits), unclear)


def seconds(params: Params) -> float:
    """Estimate: samples, pictures, arrays that are sorted, and loading the compiled loops."""
    samples = (len(WAYS) + 1) * len(SHARES) + 2 * len(LENGTHS)  # a picture is as long as one
    round_s = samples * max(1.3 * SAMPLE_S, 3e-9 * params.elements) + 0.01
    return 0.8 + 1e-7 * params.elements + (params.rounds + 0.5) * round_s


_TIMES: dict[str, Any] = {"y": x.Axis("element_s"), "series": "way", "order": WAYS}
_LEARNED = x.Limit("learned", "learned_elements", "x")

EXPERIMENT = x.Experiment(
    params=Params,
    tables={"passes": Pass, "lengths": Length, "clocks": Clock},
    measure=measure,
    confirmed_by="branch_misses",
    loop="kernels/branches.py:with_branch",
    analyse=analyse,
    views=(
        x.Lines("shares", "passes", x.Axis("taken_fraction"), **_TIMES),
        x.Lines("lengths", "lengths", x.Axis("elements"), limits=(_LEARNED,), **_TIMES),
        x.Field("picture", "passes"),
    ),
    values=x.values(
        *(x.Value(f"{way}_s", x.Part.CORES) for way in WAYS),
        "penalty",
        "mispredict_s",
        x.Value("mispredict_cycles", x.Part.FRONT_END),
        "learned_elements",
        x.Value("core_hz", x.Part.CORES),
    ),
    keys=tuple(x.Key(f"{way}_s", "shares", (way,)) for way in WAYS),
    next=x.Next("matrix-order"),
    parts=(x.Part.CORES, x.Part.FRONT_END),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=10),
    smallest=x.change(elements=2**14, rounds=3),
    budget=x.Budget(quick={"rounds": 5}),
    seconds=seconds,
    memory_bytes=lambda params: 12 * params.elements + 16 * x.MIB,
)
