"""The work of each member that shares a network, and the rows it yields.

The members do it step by step together, each in its own process. Each yields rows; the first one
yields what concerns all.
"""

from __future__ import annotations

from collections.abc import Iterator

from experiments import api as x
from experiments.tools.member import Member, machines

from .ways import (
    CHANNELS,
    DATA,
    LAYERS,
    ONE,
    ByChannels,
    ByData,
    ByLayers,
    MemberStep,
    Shape,
    Start,
)

CHECKED = 2  # steps before the weights are compared
MEASURED, EXPECTED = "measured", "expected"


class Plan(x.Record):
    """The plan of all members; the layers are measured with each number of micro-batches."""

    shape: Shape
    micro_batches: tuple[int, ...]
    chosen: int  # of them, to be compared with the other ways
    rounds: int
    needed_bytes: int  # on each device


class Busy(x.Row):
    """When a device computed in a way's fastest step; times count from the step's start."""

    way: str
    device: str
    start_s: float
    end_s: float


class StepTime(x.Row):
    """One training step, until the last device has done its part."""

    way: str
    repeat: int
    step_s: float
    busy_fraction: float


class Size(x.Row):
    """The bytes that the first device holds in a way, and the bytes that all send in a step."""

    way: str
    memory_bytes: int
    moved_bytes: int


class Check(x.Row):
    """The distance of the weights from those of one device, against how far these have come."""

    way: str
    device: str
    difference_fraction: float


class Bubble(x.Row):
    """The share of a step in which the stages idle, measured or expected."""

    micro_batches: int = x.column(scale="log2")
    kind: str
    repeat: int
    idle_fraction: float


def work(member: Member, plan: Plan) -> Iterator[object]:
    """Do one member's part in all ways, and yield its rows."""
    member.torch.set_float32_matmul_precision("highest")  # no TF32
    free_bytes = member.device.free_bytes()
    if member.device.is_gpu and plan.needed_bytes > free_bytes:
        raise x.UserError("too_much_memory", needed_bytes=plan.needed_bytes, free_bytes=free_bytes)
    start = Start(member, plan.shape.shared_by(member.size))
    shares: dict[str | int, MemberStep] = {
        ONE: MemberStep(member, start),
        DATA: ByData(member, start),
        CHANNELS: ByChannels(member, start),
        **{count: ByLayers(member, start, count) for count in plan.micro_batches},
    }
    for _ in range(CHECKED):
        shares[ONE].step()
    right = [weights.cpu() for weights in shares[ONE].weights]
    for arm, share in shares.items():
        if arm != ONE:
            for _ in range(CHECKED):
                share.step()
        way = _way(arm)
        if arm in (way, plan.chosen):
            yield Check(
                way=way, device=str(member.rank), difference_fraction=share.difference(right)
            )
            if member.rank == 0:
                yield Size(
                    way=way, memory_bytes=share.memory_bytes(), moved_bytes=share.moved_bytes()
                )
    best: dict[str, tuple[float, list[Busy]]] = {}
    for turn, arm in member.bench.interleave(list(shares), plan.rounds):
        way, share = _way(arm), shares[arm]
        begin_s, step_s, idle = _timed(member, share, is_in=arm != ONE or member.rank == 0)
        is_shown = arm in (way, plan.chosen)
        if is_shown and step_s < best.get(way, (step_s + 1.0, []))[0]:
            best[way] = step_s, list(_slices(way, str(member.rank), share.busy, begin_s))
        if member.rank > 0:
            continue
        if is_shown:
            yield StepTime(way=way, repeat=turn.round, step_s=step_s, busy_fraction=1 - idle)
        if isinstance(arm, int):
            yield Bubble(micro_batches=arm, kind=MEASURED, repeat=turn.round, idle_fraction=idle)
            if turn.round == 0:
                expected = bubble(member.size, arm)
                yield Bubble(micro_batches=arm, kind=EXPECTED, repeat=0, idle_fraction=expected)
        yield x.Progress(turn.fraction)
    for _, slices in best.values():
        yield from slices


def _way(arm: str | int) -> str:
    return LAYERS if isinstance(arm, int) else arm


def _timed(member: Member, share: MemberStep, *, is_in: bool) -> tuple[float, float, float]:
    """Return when the first began a step, its length until the last had finished, and the idling.

    All members call it; a member outside the way has nothing to do.
    """
    share.busy.clear()
    now_s = member.bench.now_s
    member.dist.barrier()
    start_s = end_s = now_s()
    if is_in:
        share.step()
        member.device.wait()
        end_s = now_s()
    busy_s = sum(to_s - from_s for from_s, to_s in share.busy)
    torch, name = member.torch, member.device.name
    own_s = start_s if machines() > 1 else 0.0  # else one clock for all
    told = torch.tensor(
        [start_s - own_s, end_s - own_s, busy_s, is_in], dtype=torch.float64, device=name
    )
    parts = [torch.empty_like(told) for _ in range(member.size)]
    member.dist.all_gather(parts, told)
    starts, ends, busy, are_in = zip(*(part.tolist() for part in parts), strict=True)
    begin_s = min(starts)
    step_s = max(ends) - begin_s
    idle = 1 - sum(busy) / (sum(are_in) * step_s)
    return own_s + begin_s, step_s, min(1.0, max(0.0, idle))


def _slices(way: str, device: str, busy: list[x.Interval], begin_s: float) -> Iterator[Busy]:
    for from_s, to_s in busy:
        start_s = max(0.0, from_s - begin_s)
        yield Busy(way=way, device=device, start_s=start_s, end_s=max(start_s, to_s - begin_s))


def bubble(stages: int, micro_batches: int) -> float:
    """Return the share of the time that stages idle at the ends of a step, as GPipe counts it."""
    return (stages - 1) / (micro_batches + stages - 1)
