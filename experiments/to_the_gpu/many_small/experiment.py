"""Do a thousand small calls take as long as one big one?

Method: 1 is added to all numbers of a vector. That is done in one call, then in more and more calls
for smaller and smaller pieces. The arithmetic stays the same. The same calls with one number each
have next to nothing to do, and show the time of calling alone. `torch._foreach_add_` is one call
for all pieces. Passes run one after the other in shuffled rounds, timed by the caller's clock until
all is done. With the queue of a GPU held, its own time for a piece is measured too: the GPU spent
the rest of the whole time waiting for calls.

Not shown: the gain of compiling or recording the calls (see `compile`).

Seen on an H100: 8.8 µs a call; with 2e8 numbers the knee lies at 60 calls.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from experiments import api as x
from experiments.devices.assumed import CPU_BYTES_PER_S, GPU_BYTES_PER_S
from experiments.devices.ceilings import cache_bytes, memory_bytes_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, devices_of, on_first_device
from experiments.devices.timing import MOST_QUEUED, SAMPLE_S, each_s, enough_in_a_row, taken, warm
from experiments.tools.lanes import LaneSpan, slices

FP32_BYTES = 4
THOUSAND = 1000
SEPARATE, TOGETHER, EMPTY = "separate", "together", "empty"
WAYS = (SEPARATE, EMPTY, TOGETHER)
MANY, ONE = "many", "one"
SHOWN = 20  # small calls on the lanes
ABOVE = 1.02  # of a limit, and more, is suspect
IN_CACHE = 4  # caches: numbers of more bytes come from memory
CPU_CALL_S, GPU_CALL_S = 5e-6, 1e-5  # cautious, to tell the time beforehand


class Params(x.Params):
    """The parameters; `calls` is the largest number of calls for one pass."""

    device: str = x.param(CPU, choices=devices_of)
    numbers: int = x.param(1_000_000, minimum=10_000, maximum=10_000_000_000, scale="log10")
    calls: int = x.param(THOUSAND, minimum=10, maximum=10_000, scale="log10")
    rounds: int = x.param(10, minimum=1, maximum=50)


class Pass(x.Row):
    """One pass over all numbers, in `calls` pieces; `way` is how they were called."""

    calls: int = x.column(scale="log10")
    way: str
    repeat: int
    numbers: int
    took_s: float = x.column(scale="log10")


class Piece(x.Row):
    """The device's own time for one of many pieces, with the queue held meanwhile."""

    calls: int
    repeat: int
    device_s: float


def counts(params: Params) -> list[int]:
    """Return how many calls: 1, 2, 5, 10, 20, ..."""
    found = (n * 10**power for power in itertools.count() for n in (1, 2, 5))
    return list(itertools.takewhile(lambda count: count <= params.calls, found))


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each number of calls, way and round, then the lanes of a few calls."""
    device = Device(params.device, bench)
    torch = device.torch
    numbers = max(params.calls, min(params.numbers, device.free_bytes() // FP32_BYTES))
    vector = torch.randn(numbers, device=device.name)
    works = works_of(device, vector, counts(params))
    small = itertools.cycle(vector.tensor_split(counts(params)[-1]))

    def next_piece() -> None:
        next(small).add_(1)

    warm(device, works[1, SEPARATE])
    passes = {arm: enough_in_a_row(device, work) for arm, work in works.items()}
    conditions = Conditions(device)
    own_s = []
    for turn, arm in bench.interleave(list(works), params.rounds):
        calls, way = arm
        took_s = each_s(device, works[arm], passes[arm])
        yield Pass(calls=calls, way=way, repeat=turn.round, numbers=numbers, took_s=took_s)
        if arm == (counts(params)[-1], SEPARATE) and device.is_gpu:
            piece = taken(device, next_piece, MOST_QUEUED)
            if piece.is_clean:
                own_s.append(piece.device_s)
                yield Piece(calls=calls, repeat=turn.round, device_s=piece.device_s)
            yield from conditions.rows(turn.round)
        yield x.Progress(0.98 * turn.fraction)
    work_s = min(own_s, default=None)
    yield from slices(device, MANY, next_piece, SHOWN, work_s=work_s)
    yield from slices(device, ONE, lambda: vector.add_(1), 1)


def works_of(
    device: Device, vector: Any, of_calls: Sequence[int]
) -> dict[tuple[int, str], Callable[[], object]]:
    """Return each way of adding one to a vector, by the number of calls."""
    found: dict[tuple[int, str], Callable[[], object]] = {}
    for calls in of_calls:
        pieces = vector.tensor_split(calls)
        found[calls, SEPARATE] = partial(_separate, pieces)
        found[calls, EMPTY] = partial(_separate, (vector[:1],) * calls)
        found[calls, TOGETHER] = partial(device.torch._foreach_add_, pieces, 1)
    return found


def _separate(pieces: Sequence[Any]) -> None:
    for piece in pieces:
        piece.add_(1)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare a thousand calls with one, and the cost of calling alone."""
    took = x.spreads_of(tables["passes"], "took_s", "calls", "way")
    numbers = max((row.numbers for row in tables["passes"]), default=0)
    most = max((calls for calls, way in took if way == EMPTY), default=0)
    limits = ["threads_for_large_only", "gaps_need_gpu"] if params.device == CPU else []
    values: dict[str, float] = {}
    if (1, SEPARATE) in took:
        values["one_op_s"] = took[1, SEPARATE].median
    if most:
        values["launch_s"] = took[most, EMPTY].median / most
    if (THOUSAND, SEPARATE) in took:
        values["thousand_ops_s"] = took[THOUSAND, SEPARATE].median
    elif tables["passes"]:
        limits.append("fewer_than_thousand")
    if (THOUSAND, TOGETHER) in took:
        values["thousand_together_s"] = took[THOUSAND, TOGETHER].median
    if {"one_op_s", "launch_s"} <= values.keys() and values["one_op_s"] > values["launch_s"]:
        values["knee_calls"] = values["one_op_s"] / values["launch_s"]
    own = x.spread(row.device_s for row in tables["pieces"])
    whole = took.get((counts(params)[-1], SEPARATE))
    if own is not None and whole is not None:
        values["busy_fraction"] = min(1.0, own.median * counts(params)[-1] / whole.median)
    elif params.device != CPU and whole is not None:
        limits.append("own_time_not_told")
    peak, cache = memory_bytes_per_s(machine, params.device), cache_bytes(machine, params.device)
    if numbers and cache and numbers * FP32_BYTES < IN_CACHE * cache:
        limits.append("fits_in_cache")
    elif peak is None:
        limits.append("peak_unknown")
    elif numbers:  # each is read and written
        values["bandwidth_limit_s"] = 2 * FP32_BYTES * numbers / peak
        if (
            ABOVE * values.get("one_op_s", values["bandwidth_limit_s"])
            < values["bandwidth_limit_s"]
        ):
            limits.append("above_the_limit")
    if not {"one_op_s", "launch_s", "thousand_ops_s"} <= values.keys():
        return x.Finding("in_part", values, tuple(limits))
    thousand, one = took[THOUSAND, SEPARATE], took[1, SEPARATE]
    compared, unclear = x.ratios({"thousand_over_one": (thousand, one)})
    if not one.is_below(thousand):
        message = x.unsure((one, thousand)) or "no_difference"
        return x.Finding(message, values | compared, tuple(limits), unclear)
    if "busy_fraction" in values:
        return x.Finding("calls_cost_and_device_waits", values | compared, tuple(limits), unclear)
    return x.Finding("calls_cost", values | compared, tuple(limits), unclear)


def seconds(params: Params) -> float:
    """Estimate from the calls and the bytes of each pass, at cautious rates."""
    is_cpu = params.device == CPU
    call_s, rate = (CPU_CALL_S, CPU_BYTES_PER_S) if is_cpu else (GPU_CALL_S, GPU_BYTES_PER_S)
    moved_s = 2 * FP32_BYTES * params.numbers / rate
    passes_s = sum(2 * SAMPLE_S + calls * call_s + moved_s for calls in counts(params))
    return 1.0 + len(WAYS) * (params.rounds + 3) * passes_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={"passes": Pass, "pieces": Piece, "lanes": LaneSpan, "conditions": Condition},
    measure=measure,
    loop="experiment.py:_separate",
    analyse=analyse,
    views=(
        x.Lines(
            "calls",
            "passes",
            x.Axis("calls"),
            x.Axis("took_s"),
            series="way",
            order=WAYS,
            limits=(x.Limit("one", "one_op_s"), x.Limit("bandwidth", "bandwidth_limit_s")),
        ),
        x.Timeline(
            "lanes",
            "lanes",
            "lane",
            "start_s",
            "end_s",
            group="way",
            detail="lane",
            order=(MANY, ONE),
        ),
    ),
    values=x.values(
        x.Value("launch_s", x.Part.CORES),
        x.Value("one_op_s", x.Part.GPU),
        x.Value("thousand_ops_s", x.Part.GPU),
        "thousand_together_s",
        "thousand_over_one",
        "knee_calls",
        x.Value("busy_fraction", x.Part.GPU),
        "bandwidth_limit_s",
    ),
    keys=(
        x.Key("launch_s", "calls", ("empty",)),
        x.Key("one_op_s", "lanes", ("one",)),
        x.Key("thousand_ops_s", "calls", ("separate",)),
    ),
    next=x.Next("compile", {"numbers": 10_000_000}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=on_first_device(Params, numbers=200_000_000),  # beyond its cache
    quick=x.change(rounds=5),
    smallest=x.change(numbers=10_000, rounds=2),
    budget=x.Budget(quick={"calls": THOUSAND}),
    seconds=seconds,
    memory_bytes=lambda params: 2 * FP32_BYTES * params.numbers if params.device == CPU else 0,
    cuda_reference={"launch_s": ("launch_s", None)},
)
