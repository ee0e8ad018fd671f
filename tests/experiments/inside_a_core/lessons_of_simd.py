"""Runs in which simd shows something else than usual."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.engine.recording import sent
from experiments.inside_a_core.simd.experiment import (
    NUMBERS_BITS,
    SCALAR,
    Params,
    Rate,
    analyse,
    sizes,
)
from tests.experiments.machines import MIB, machine

PARAMS = Params(largest_bytes=128 * MIB)
SINGLE_PER_S, L1_BYTES_PER_S, MEMORY_BYTES_PER_S = 5e9, 4e11, 3e10
WAYS = (SCALAR, "128", "256")
NOISE = (1.0, 1.02, 0.98, 1.01, 0.99)
PerS = Callable[[str, int, Params], float]


def rate(way: str, size: int, params: Params) -> float:
    """Return the additions in a second that adders or memory allow."""
    bits = NUMBERS_BITS[params.numbers]
    lanes = 1 if way == SCALAR else int(way) // bits
    bytes_per_s = L1_BYTES_PER_S if size <= 16 * MIB else MEMORY_BYTES_PER_S
    return min(SINGLE_PER_S * lanes, bytes_per_s / (bits / 8) * params.additions)


def made(
    params: Params = PARAMS,
    per_s: PerS = rate,
    ways: Sequence[str] = WAYS,
    noise: Callable[[str, int, int], float] = lambda _way, _size, turn: NOISE[turn],
) -> LessonRun:
    rows = [
        Rate(size_bytes=size, way=way, repeat=turn, elements_per_s=each, read_bytes_per_s=4 * each)
        for size in sizes(params)
        for way in ways
        for turn in range(len(NOISE))
        for each in [per_s(way, size, params) * noise(way, size, turn)]
    ]
    tables = {"rates": rows}
    return lesson_run(params, tables, machine(), sent(analyse(params, tables, machine())))


def faster(way: str, factor: float, *, beyond: int) -> PerS:
    """Return the usual rates, but those of a way beyond a size `factor` times faster."""
    return lambda name, size, params: (
        rate(name, size, params) * (factor if name == way and size > beyond else 1.0)
    )


def scattered(way: str, size: int, turn: int) -> float:
    """Let single numbers and the widest vectors scatter in memory, each in its own way."""
    scatter = {SCALAR: (1.3, 0.8, 1.0, 1.1, 0.9), "256": (0.8, 1.2, 1.1, 0.85, 1.3)}
    return scatter.get(way, NOISE)[turn] if size > 16 * MIB else NOISE[turn]


DOUBLE = "float64"
RUNS = {
    "usual": made(per_s=faster("256", 1.1, beyond=16 * MIB)),
    "no_gain": made(per_s=lambda *_: 5e9),
    "memory_not_seen": made(Params(largest_bytes=MIB)),
    "no_gain_in_memory": made(Params(largest_bytes=128 * MIB, numbers=DOUBLE)),
    "gain_hardly_in_memory": made(noise=scattered, per_s=lambda way, size, params: (
        SINGLE_PER_S if size > 16 * MIB else rate(way, size, params)
    )),
    "gains_everywhere": made(per_s=lambda way, _size, params: rate(way, MIB, params)),
    "one_width": made(ways=(SCALAR, "128")),
    "width_counts_in_memory": made(per_s=faster("256", 1.8, beyond=16 * MIB)),
    "halves_alike": made(per_s=lambda way, size, params: rate(
        "128" if way == "256" else way, size, params
    )),
    "l1_too_slow": made(per_s=faster("256", 0.7, beyond=0)),
    "gains_most_of_it": made(Params(largest_bytes=128 * MIB, numbers=DOUBLE, additions=3)),
    "flat_to_memory": made(Params(largest_bytes=128 * MIB, numbers=DOUBLE, additions=8)),
}  # fmt: skip
