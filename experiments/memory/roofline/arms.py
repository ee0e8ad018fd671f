"""The samples of the processor's roofline: its flat part, its slope and the points below."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence

from experiments import api as x
from experiments.tools.arrays import MOVED, Team

from .known_kernels import works

FIRST_STEPS = 10_000
PRECISIONS = {"fp64": 64, "fp32": 32}
AS_ONE = 0.95  # of one core's rate: all cores that reach less were disturbed
MORE_TRIES = 2
READ = "read"  # it computes too little for a point
MOVERS = ("triad", "dot", "stencil")  # points that only memory limits


class Peak(x.Row):
    """One sample of nothing but multiply-adds, on one core or all."""

    precision: str
    cores: int
    repeat: int
    flop_per_s: float


class Rate(x.Row):
    """One sample of the memory's rate to all cores while they run a loop."""

    kernel: str
    repeat: int
    bytes_per_s: float


class Point(x.Row):
    """One sample of a loop on all cores; for the roof, one of its corners or ends."""

    kernel: str
    repeat: int
    flop_per_byte: float = x.column(scale="log2")
    flop_per_s: float = x.column(scale="log10")


Row = Peak | Rate | Point
# The seconds of a number of steps, a first number, and the row of a round and a rate of steps.
Arm = tuple[Callable[[int], float], int, Callable[[int, float], Row]]


def peaks(team: Team) -> Iterator[Arm]:
    """Yield pure multiply-adds in each precision, on one core and on all."""
    from experiments.kernels.simd_sums import widest_bits

    from .kernels import spin, spin_flop

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


def plausible(sample: Callable[[], Row], before: Sequence[object]) -> Row:
    """Return a sample; take another one if all cores were slower than one core in `before`.

    All cores together can do at least as much as one core, so they get two more tries.
    """
    found = sample()
    for _ in range(MORE_TRIES):
        if not isinstance(found, Peak) or found.cores == 1:
            break
        ones = [p for p in before if isinstance(p, Peak) and p.cores == 1]
        of_one = x.medians((p.precision, p.flop_per_s) for p in ones)
        if found.flop_per_s >= AS_ONE * of_one.get(found.precision, 0.0):
            break
        found = sample()
    return found


def slower_than_one_core(peaks: Sequence[Peak], cores: int) -> bool:
    """Did all cores together come out below one of them, in some precision?"""
    found = x.medians(((p.precision, p.cores), p.flop_per_s) for p in peaks)
    return any(
        found.get((name, cores), math.inf) < AS_ONE * found.get((name, 1), 0.0)
        for name in PRECISIONS
    )


def rates(team: Team) -> Iterator[Arm]:
    """Yield the memory's rate to all cores while they only read."""
    from experiments.kernels import streams

    share_bytes = team.share_bytes(len(team))
    reads = [
        functools.partial(streams.read, *team.arrays(member, share_bytes))
        for member in range(len(team))
    ]

    def taken_s(laps: int) -> float:
        return team.run(
            {member: functools.partial(read, laps) for member, read in enumerate(reads)}
        )

    def row(repeat: int, rate: float) -> Rate:
        moved_bytes = len(team) * MOVED[READ] * share_bytes
        return Rate(kernel=READ, repeat=repeat, bytes_per_s=rate * moved_bytes)

    yield taken_s, 1, row


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


def with_rate(row: Row) -> Iterator[Row]:
    """Yield a sample, and the data rate of loops over arrays that no cache holds."""
    yield row
    if isinstance(row, Point) and row.kernel in MOVERS:
        bytes_per_s = row.flop_per_s / row.flop_per_byte
        yield Rate(kernel=row.kernel, repeat=row.repeat, bytes_per_s=bytes_per_s)


def bandwidths(rates: Sequence[Rate]) -> dict[str, float]:
    """Return each loop's data rate over arrays that no cache holds, the median of its rounds.

    Not the best: where others share the memory, the best is chance. There is none before the loop
    that only reads was timed: the others may wait for arithmetic.
    """
    found = x.medians((rate.kernel, rate.bytes_per_s) for rate in rates)
    return found if READ in found else {}
