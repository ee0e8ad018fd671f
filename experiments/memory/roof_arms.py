"""What the roofline is made of: its flat part, its slope and the points below, each to be timed."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from experiments.declare import column
from experiments.memory.arrays import Team
from experiments.memory.roof_kernels import POLYNOMIAL, works
from experiments.memory.stream import MOVED

FIRST_STEPS = 10_000
PRECISIONS = {"fp64": 64, "fp32": 32}
SLOPES = ("read", "triad")
MOVERS = ("triad", "dot", "stencil", POLYNOMIAL)  # points whose arrays no cache holds


@dataclass(frozen=True, slots=True, kw_only=True)
class Peak:
    """One sample of nothing but multiply-adds, on one core or all."""

    precision: str = column()
    cores: int = column()
    repeat: int = column()
    flop_per_s: float = column("flop/s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One sample of what the memory delivers to all cores."""

    kernel: str = column()
    repeat: int = column()
    bytes_per_s: float = column("bytes/s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One sample of a loop, on all cores; of the roof, a place where it has a corner or ends."""

    kernel: str = column()
    repeat: int = column()
    flop_per_byte: float = column(scale="log2")
    flop_per_s: float = column("flop/s", scale="log10")


Row = Peak | Rate | Point
# The seconds of so many steps, how many to begin with, and the row of a round and a rate of steps.
Arm = tuple[Callable[[int], float], int, Callable[[int, float], Row]]


def peaks(team: Team) -> Iterator[Arm]:
    """Yield multiply-adds and nothing else, in each precision, on one core and on all."""
    from experiments.kernels.flops import spin, spin_flop
    from experiments.kernels.lanes import widest_bits

    vector_bits = widest_bits()

    def taken_s(bits: int, cores: int, steps: int) -> float:
        run = functools.partial(spin(bits, vector_bits), 1.0, 0.5, steps)
        return team.run(dict.fromkeys(range(cores), run))

    def row(name: str, cores: int, repeat: int, rate: float) -> Peak:
        flop = cores * spin_flop(PRECISIONS[name], vector_bits, 1)
        return Peak(precision=name, cores=cores, repeat=repeat, flop_per_s=rate * flop)

    for name, bits in PRECISIONS.items():
        for cores in sorted({1, len(team)}):
            yield (
                functools.partial(taken_s, bits, cores),
                FIRST_STEPS,
                functools.partial(row, name, cores),
            )


def rates(team: Team) -> Iterator[Arm]:
    """Yield what the memory delivers to all cores."""
    from experiments.kernels import streams

    share_bytes = team.share_bytes(len(team))

    def taken_s(kernel: str, laps: int) -> float:
        move = getattr(streams, kernel)
        return team.run(
            {
                member: functools.partial(move, *team.arrays(member, share_bytes), laps)
                for member in range(len(team))
            }
        )

    def row(kernel: str, repeat: int, rate: float) -> Rate:
        moved_bytes = len(team) * MOVED[kernel] * share_bytes
        return Rate(kernel=kernel, repeat=repeat, bytes_per_s=rate * moved_bytes)

    for kernel in SLOPES:
        yield functools.partial(taken_s, kernel), 1, functools.partial(row, kernel)


def points(team: Team, degrees: tuple[int, ...]) -> Iterator[Arm]:
    """Yield the loops of known intensity, on all cores."""
    everybody = [works(team, member, degrees) for member in range(len(team))]

    def taken_s(place: int, laps: int) -> float:
        return team.run(
            {
                member: functools.partial(mine[place].laps, laps)
                for member, mine in enumerate(everybody)
            }
        )

    def row(place: int, repeat: int, rate: float) -> Point:
        work = everybody[0][place]
        return Point(
            kernel=work.kernel,
            repeat=repeat,
            flop_per_byte=work.flop_per_byte,
            flop_per_s=rate * len(team) * work.flop,
        )

    for place in range(len(everybody[0])):
        yield functools.partial(taken_s, place), 1, functools.partial(row, place)


def bandwidths(rates: Sequence[Rate], points: Sequence[Point]) -> dict[str, float]:
    """Return the best data rate of each loop over arrays that no cache holds.

    A roof is the best that was seen: no loop may move data faster than its slope allows. Before
    one that does nothing but move was timed there is none: the others may wait for arithmetic.
    """
    if not rates:
        return {}
    seen = [(rate.kernel, rate.bytes_per_s) for rate in rates]
    seen += [(p.kernel, p.flop_per_s / p.flop_per_byte) for p in points if p.kernel in MOVERS]
    best: dict[str, float] = {}
    for kernel, bytes_per_s in seen:
        best[kernel] = max(best.get(kernel, 0.0), bytes_per_s)
    return best
