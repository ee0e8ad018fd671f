"""The work of each member of a data-parallel training: the arms in turn, in step with the others.

All do the same in the same order; the first one yields the rows. Members outside a turn wait for
its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from experiments import api as x
from experiments.devices.conditions import Conditions
from experiments.tools.member import Member, machines

from .all_reduce import Reductions, sizes
from .replicas import ALONE, APART, AVERAGED, FP32_BYTES, HIDDEN, INPUTS, Replica, parameter_count
from .team import Team

if TYPE_CHECKING:
    from .experiment import Params

SHARED_OUT, EACH_FULL = SPLITS = ("shared_out", "each_full")
COMPUTE, COMMUNICATION, IDLE = PARTS = ("compute", "communication", "idle")
IDEAL = "ideal"
REDUCE = "reduce"


class Rate(x.Row):
    """The samples learned in a second; `run` is "alone", "averaged", "apart" or "ideal"."""

    workers: int = x.column(scale="log2")
    machines: int
    run: str
    repeat: int
    samples_per_s: float


class StepPart(x.Row):
    """The time of a part of a step: `part` is "compute", "communication" or "idle"."""

    workers: int
    part: str
    repeat: int
    step_s: float


def counts(most: int) -> list[int]:
    """Return the numbers of workers: powers of two, and the most."""
    return sorted({*(2**bits for bits in range(most.bit_length())), most})


def own_batch(params: Params, workers: int) -> int:
    """Return how many samples each worker learns in a step."""
    return max(1, params.batch // workers) if params.split == SHARED_OUT else params.batch


def work(member: Member, params: Params) -> Iterator[object]:
    """Measure as one member of the group; the first one yields the rows."""
    params = member.agreed(params)
    needed_bytes, free_bytes = own_bytes(params, member.size), member.device.free_bytes()
    if needed_bytes > free_bytes:
        raise x.UserError("too_much_memory", needed_bytes=needed_bytes, free_bytes=free_bytes)
    member.torch.set_float32_matmul_precision("highest")  # no TF32: the same losses everywhere
    everyone = Team(member, member.size)
    teams = {n: Team(member, n) for n in counts(member.size)}
    replicas = {}
    for n, team in teams.items():
        if team.is_mine:
            replicas[n] = Replica(
                team,
                engine=params.engine,
                width=params.width,
                batch=own_batch(params, n),
                bucket_bytes=params.bucket_bytes,
            )
            losses = replicas[n].losses(params.steps)
            if member.rank == 0:
                yield from losses
        everyone.mean(0.0)
    for told in _measured(member, params, everyone, teams, replicas):
        if member.rank == 0:
            yield told


def _measured(
    member: Member,
    params: Params,
    everyone: Team,
    teams: dict[int, Team],
    replicas: dict[int, Replica],
) -> Iterator[object]:
    """Run the arms in turn; all members do the same in the same order."""
    messages = {*sizes(params.largest_bytes), FP32_BYTES * parameter_count(params.width)}
    reductions = Reductions(everyone, max(messages))
    arms: list[tuple[str, int]] = [(ALONE, 1)]
    arms += [(way, n) for n in teams for way in (AVERAGED, APART)]
    if member.size > 1:
        arms += [(REDUCE, size) for size in sorted(messages)]
    took_s: dict[tuple[str, int, int], list[float]] = {}
    enough: dict[tuple[str, int], int] = {}
    conditions = Conditions(member.device)
    for turn, arm in member.bench.interleave(arms, params.rounds):
        way, number = arm
        if way == REDUCE:
            yield reductions.row(number, turn.round, params.sample_s / 3)
        elif teams[number].is_mine:
            step = partial(replicas[number].step, way)
            if arm not in enough:
                enough[arm] = teams[number].enough(step, params.sample_s)
            found = teams[number].took_s(step, enough[arm])
            took_s[way, number, turn.round] = found
            yield from _rates(params, way, number, member.size, turn.round, max(found))
            if way != ALONE:
                yield from _shares(took_s, number, turn.round)
        everyone.mean(0.0)  # the others wait here, so that they do not disturb
        if arm == (AVERAGED, member.size):
            yield from conditions.rows(turn.round)
        yield x.Progress(0.3 + 0.7 * turn.fraction)


def _rates(
    params: Params, way: str, workers: int, most: int, repeat: int, step_s: float
) -> Iterator[Rate]:
    rate = workers * own_batch(params, workers) / step_s
    kinds = {way: {workers: rate}}
    if way == ALONE:
        kinds[IDEAL] = {n: n * rate for n in counts(most)}
    for run, rates in kinds.items():
        for n, each in rates.items():
            yield Rate(workers=n, machines=machines(), run=run, repeat=repeat, samples_per_s=each)


def _shares(
    took_s: dict[tuple[str, int, int], list[float]], workers: int, repeat: int
) -> Iterator[StepPart]:
    """Yield the parts of a step of this round, once both of its kinds are known."""
    averaged, apart = (took_s.get((way, workers, repeat)) for way in (AVERAGED, APART))
    if averaged is None or apart is None:
        return
    slowest_s, mean_s = max(apart), sum(apart) / len(apart)
    parts = {COMPUTE: mean_s}
    if workers > 1:
        parts[COMMUNICATION] = max(0.0, max(averaged) - slowest_s)
        parts[IDLE] = slowest_s - mean_s
    for part, step_s in parts.items():
        yield StepPart(workers=workers, part=part, repeat=repeat, step_s=step_s)


def own_bytes(params: Params, workers: int) -> int:
    """Return a worker's memory on its device: networks, samples, one message."""
    sets = 5 * len(counts(workers))  # weights and gradients, averaged and alone, and the buckets
    whole = workers * own_batch(params, workers)
    samples = len(counts(workers)) * whole * INPUTS + 2 * whole * HIDDEN * params.width
    numbers = sets * parameter_count(params.width) + samples
    return FP32_BYTES * numbers + params.largest_bytes
