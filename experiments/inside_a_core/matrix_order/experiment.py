"""Why does swapping two loops cost ten times? A matrix by rows, by columns and in blocks.

Method: one thread, kept on the last core (pinned), multiplies square matrices of 8-byte numbers, or
transposes one. The inner loop goes along a row; with the loops swapped it goes down a column; in
blocks only as far as a block. The three run the same compiled loops, with other strides. Of a
product only the first steps of each number are done, so that large matrices fit the time. All
memory was written before, on pages of 4 KiB. Sizes lie at powers of two, 8 beside them and between.
Rounds are shuffled; compared are rows and columns round by round.
Source: U. Drepper, What Every Programmer Should Know About Memory, section 6.2.1; M. Lam, E.
Rothberg, M. Wolf, The Cache Performance and Optimizations of Blocked Algorithms, 1991.

Not shown: how fast a library multiplies, with vectors, levels of blocks and all cores.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from experiments import api as x
from experiments.tools.buffers import Buffer

SMALLEST, BESIDE = 256, 8  # numbers in a row; so much more or less is no power of two
BETWEEN = (1.25, 1.5, 1.75)
MULTIPLY, TRANSPOSE = JOBS = ("multiply", "transpose")
STEPS = {MULTIPLY: 4, TRANSPOSE: 1}  # of a job, for each number
LINE = 8  # numbers in a cache line
SAMPLE_STEPS = 2**22  # at least
STEP_S = 6e-9  # of rows, columns and blocks together, over all sizes
ROWS, COLUMNS, BLOCKED = WAYS = ("rows", "columns", "blocked")
DARKEST = 60  # shade of what was visited, at least


class Params(x.Params):
    """The parameters; `largest` is the side of the largest matrix, a power of two."""

    job: str = x.param(MULTIPLY, choices=JOBS)
    largest: int = x.param(2048, minimum=512, maximum=8192, scale="log2")
    block: int = x.param(LINE, minimum=2, maximum=64, scale="log2")
    rounds: int = x.param(12, minimum=1, maximum=50)


class Walk(x.Row):
    """One repeat over a matrix of `size` rows: the time of one step of the inner loop."""

    size: int = x.column(scale="log2")
    way: str
    repeat: int
    element_s: float = x.column(scale="log10")


def sizes(params: Params) -> list[int]:
    """Return the sides of the matrices, smallest first: powers of two, beside them and between."""
    powers = x.ladder(SMALLEST, params.largest, 2)
    near = (power + off for power in powers for off in (-BESIDE, 0, BESIDE))
    return sorted([*near, *(round(each * power) for power in powers[:-1] for each in BETWEEN)])


def power_of(params: Params) -> int:
    """Return the largest power of two among the sides."""
    return x.ladder(SMALLEST, params.largest, 2)[-1]


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield a row for each size, way and round, and the picture of the largest power of two."""
    with bench.pinned() as thread:
        if thread is None:
            yield x.Note("not_pinned")
        matrices = Matrices(params, bench)
        times: dict[str, dict[int, float]] = {way: {} for way in WAYS}  # at the power of two
        arms = [(size, way) for size in sizes(params) for way in WAYS]
        for turn, (size, way) in bench.interleave(arms, params.rounds):
            element_s = matrices.step_s(size, way, turn.round)
            yield Walk(size=size, way=way, repeat=turn.round, element_s=element_s)
            if size == power_of(params):
                times[way][turn.round] = element_s
                yield picture(params, times)
            yield x.Progress(turn.fraction)


class Matrices:
    """Three matrices of the largest size; smaller ones lie elsewhere in them each turn.

    The physical pages decide which lines share a place in a cache, and they are luck.
    """

    def __init__(self, params: Params, bench: x.Bench) -> None:
        self._params, self._bench = params, bench
        self._buffers = [Buffer(8 * max(sizes(params)) ** 2) for _ in range(3)]
        for buffer in self._buffers:
            buffer.words.view("float64").fill(1)  # tiny numbers would be slow

    def step_s(self, size: int, way: str, turn: int, loops: Any = None) -> float:
        """Return the seconds of one step of the inner loop; `loops` are others than our own."""
        if loops is None:
            from . import kernels as loops

        parts = (buffer.part(8 * size**2, turn)[0] for buffer in self._buffers)
        c, a, b = (words.view("float64") for words in parts)
        job, strides = self._params.job, (size, 1) if way == ROWS else (1, size)
        if way != ROWS and job == MULTIPLY:
            a, b = b, a  # by columns, c is its own transpose: that of b times that of a
        block = self._params.block if way == BLOCKED else size
        work = partial(getattr(loops, job), c, a, b, size, block, STEPS[job], *strides)
        laps = math.ceil(SAMPLE_STEPS / (STEPS[job] * size**2))
        steps = laps * STEPS[job] * size**2
        return self._bench.time(lambda: [work() for _ in range(laps)], steps) / steps


def picture(params: Params, times: dict[str, dict[int, float]]) -> x.Frame:
    """Return a corner by rows, by columns and in blocks, drawn in the order of visiting.

    Each round of `params` draws the next stretch, in the shade of its time: slow is bright.
    """
    import numpy as np

    block, side, rounds = params.block, 4 * params.block, params.rounds
    i, j = np.indices((side, side))
    in_blocks = ((j // block * 4 + i // block) * block + j % block) * block + i % block
    logs = np.log([[times[way].get(n, np.nan) for n in range(rounds)] for way in WAYS])
    low, wide = np.nanmin(logs), np.nanmax(logs) - np.nanmin(logs) or 1.0
    shades = np.nan_to_num(DARKEST + (255 - DARKEST) * (logs - low) / wide)
    parts = [np.zeros((side, 2))]
    for n, turns in enumerate((i * side + j, j * side + i, in_blocks)):
        parts += [shades[n][turns * rounds // side**2], parts[0]]
    data = np.hstack(parts).astype(np.uint8)
    return x.Frame("walks", data.shape, data.tobytes())


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare rows, columns and blocks beside the largest power of two, and columns at it."""
    power, beside = power_of(params), power_of(params) + BESIDE
    here = x.spreads_of(tables["walks"], "element_s", "way", size=beside)
    at_power = x.spreads_of(tables["walks"], "element_s", "way", size=power)
    values: dict[str, float] = {f"{way}_s": each.median for way, each in here.items()}
    values |= {f"{way}_spike_s": each.median for way, each in at_power.items()}
    values |= {"largest_side": beside, "power_side": power}
    if not {*WAYS} <= here.keys() & at_power.keys():
        return x.Finding("nothing_to_compare", values)
    rows, columns, limits = here[ROWS], here[COLUMNS], x.Limits()
    ratios, unclear = x.ratios(
        {
            "columns_over_rows": (columns, rows),
            "power_of_two_penalty": (at_power[COLUMNS], columns),
            "columns_over_blocked": (at_power[COLUMNS], at_power[BLOCKED]),
        },
        verdict=("columns_over_rows",),
    )
    limits.add("no_spike", columns.is_no_lower(at_power[COLUMNS]))
    if params.job == MULTIPLY:
        limits += ["without_vectors", "part_of_product"]
        compared = columns, rows
        message = "swapping_costs" if rows.is_below(columns) else "swapping_costs_nothing"
    else:
        better = min((at_power[ROWS], at_power[COLUMNS]), key=lambda each: each.median)
        compared = better, at_power[BLOCKED]
        message = "blocks_win" if at_power[BLOCKED].is_below(better) else "blocks_gain_nothing"
    limits.add("virtual_machine", x.is_virtual(machine))
    message = x.unsure(compared) or message
    return x.Finding(message, values | ratios, tuple(limits), unclear)


def seconds(params: Params) -> float:
    """Estimate: the steps of all sizes and ways, writing the memory, loading compiled loops."""
    steps = sum(max(SAMPLE_STEPS, STEPS[params.job] * size**2) for size in sizes(params))
    return 0.8 + 24 * params.largest**2 * 0.6 / x.GIB + params.rounds * steps * STEP_S


_line = partial(
    x.Lines, table="walks", x=x.Axis("size"), y=x.Axis("element_s"), series="way", order=WAYS
)

EXPERIMENT = x.Experiment(
    params=Params,
    tables={"walks": Walk},
    measure=measure,
    confirmed_by="l1_misses",
    loop="kernels.py:multiply",
    analyse=analyse,
    views=(_line("swapped", only=(ROWS, COLUMNS)), _line("in_blocks"), x.Field("picture", "walks")),
    values=x.values(
        x.Value("rows_s", x.Part.L1),
        x.Value("columns_s", x.Part.L2),
        "blocked_s",
        *(f"{way}_spike_s" for way in WAYS),
        "power_of_two_penalty",
        *(f"columns_over_{way}" for way in (ROWS, BLOCKED)),
        "largest_side",
        "power_side",
    ),
    keys=(
        x.Key("rows_s", "swapped", (ROWS,)),
        x.Key("columns_s", "swapped", (COLUMNS,), at="largest_side"),
        x.Key("columns_spike_s", "swapped", (COLUMNS,), at="power_side"),
    ),
    next=x.Next("burst-random", {"job": TRANSPOSE}),
    parts=(x.Part.CORES, x.Part.L1, x.Part.L2),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=lambda _machine: Params(),
    quick=x.change(rounds=5, at_most={"largest": 1024}),
    smallest=x.change(largest=512, rounds=3),
    seconds=seconds,
    memory_bytes=lambda params: 24 * (params.largest + BESIDE) ** 2 + 12 * x.MIB,
)
