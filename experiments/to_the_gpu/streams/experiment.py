"""Can a GPU copy and compute at the same time?

Method: data goes to the GPU in pieces, through two matrix products, and back. All pieces in one
stream, or dealt out to several, in shuffled rounds; and from pageable memory. The products are so
wide that they take `compute_per_copy` times as long as a copy. Marks in the streams show when each
part of each piece began and ended, on the device's own clock; the last is the total. Each part
alone gives the limits: the sum of the parts, and the longest of them.
Source: simpleStreams of NVIDIA's CUDA samples; the overlap is that of Meta's Holistic Trace
Analysis, time copying while computing / time copying.

Not shown: the beginning of work that waits for another stream's. It is drawn from the end of the
previous work, as each engine does one thing at a time. The overlap does not depend on that.

Seen on an H100: compute and copies within 8 % of each other, and all three at work at once.
To be confirmed on a GPU: marks of several streams on one clock on Intel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from experiments import api as x
from experiments.devices.assumed import (
    PAGEABLE_BYTES_PER_S,
    PINNED_BYTES_PER_S,
    PINNING_BYTES_PER_S,
)
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, gpus_of, on_first_device
from experiments.devices.host_memory import PAGEABLE, PINNED, can_pin, near
from experiments.devices.timing import taken, warm, whole_s

from .pieces import ALONE, BESIDE, PARTS, Course, Pieces

TOO_MUCH = 1.02
UNEQUAL = 1.5  # times a copy: from here on computing and copying differ
CALLING = 0.9  # of the total: then the calls set the pace
GAIN = 1.1  # kernels beside kernels: a smaller gain is not claimed


class Params(x.Params):
    """The parameters; `compute_per_copy` is how long computing takes against one copy."""

    device: str = x.param(CPU, choices=gpus_of)
    total_bytes: int = x.param(128 * x.MIB, minimum=x.MIB, maximum=8 * x.GIB, scale="log2")
    pieces: int = x.param(8, minimum=1, maximum=256, scale="log2")
    streams: int = x.param(4, minimum=1, maximum=32, scale="log2")
    compute_per_copy: float = x.param(1.0, minimum=0.05, maximum=20.0, scale="log10")
    pageable: bool = True
    rounds: int = x.param(10, minimum=1, maximum=50)


class Total(x.Row):
    """All pieces there, computed and back; `called_s` is when the last call returned."""

    streams: int
    memory: str
    repeat: int
    total_s: float
    called_s: float
    overlap_fraction: float


class Alone(x.Row):
    """One part of all pieces, with nothing beside it."""

    part: str
    repeat: int
    took_s: float


class PieceSpan(x.Row):
    """One part of one piece, in the allowed number of streams; in the first round."""

    part: str
    stream: int
    piece: int
    start_s: float
    end_s: float


class OneStream(PieceSpan):
    """The same in one stream."""


class FromPageable(PieceSpan):
    """The same in the allowed number of streams, from and to pageable memory."""


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield totals and each part alone in shuffled rounds, and the lanes of the first one."""
    device = Device(params.device, bench)
    if not can_pin(device):
        return
    # What goes there, what comes back, and what lies between.
    total_bytes = device.fitting(params.total_bytes, lambda size: 4 * size, x.MIB)
    if total_bytes < params.total_bytes:
        yield x.Note("less_on_gpu", {"largest_bytes": total_bytes})
    kinds = (PINNED, PAGEABLE) if params.pageable else (PINNED,)
    with near(device):
        pieces = Pieces(device, total_bytes, params.pieces, params.streams, kinds)
        warm(device, partial(pieces.alone, "compute"))
        pieces.calibrate(params.compute_per_copy)
        arms: list[Any] = [(count, PINNED) for count in stream_counts(params.streams)]
        arms += [(params.streams, PAGEABLE)] * params.pageable
        for streams, memory in arms:
            pieces.course(streams, memory)
            pieces.check(memory)
        for part in ALONE:
            whole_s(device, partial(pieces.alone, part))
        conditions = Conditions(device)
        for turn, arm in bench.interleave([*arms, *ALONE], params.rounds):
            if arm in ALONE:
                took_s = taken(device, partial(pieces.alone, arm)).device_s
                yield Alone(part=arm, repeat=turn.round, took_s=took_s)
            else:
                streams, memory = arm
                course = pieces.course(streams, memory)
                yield Total(
                    streams=streams,
                    memory=memory,
                    repeat=turn.round,
                    total_s=course.total_s,
                    called_s=course.called_s,
                    overlap_fraction=course.overlap_fraction,
                )
                if turn.round == 0:
                    yield from _lanes(course, streams, memory, params.streams)
            if arm == arms[0]:
                yield from conditions.rows(turn.round)
            yield x.Progress(turn.fraction)


def stream_counts(streams: int) -> list[int]:
    """Return the numbers of streams to try: 1, 2, 4 and so on, and the allowed number."""
    return [*(2**n for n in range(streams.bit_length()) if 2**n < streams), streams]


def _lanes(course: Course, streams: int, memory: str, most: int) -> Iterator[PieceSpan]:
    """Yield the lanes of one stream, of the allowed number, and from pageable memory."""
    if streams not in (1, most):
        return
    row = FromPageable if memory == PAGEABLE else OneStream if streams == 1 else PieceSpan
    for work in course.works:
        start_s, end_s = work.ran
        yield row(
            part=work.part, stream=work.stream, piece=work.piece, start_s=start_s, end_s=end_s
        )


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare one stream with several, and both with the parts alone."""
    of = x.spreads_of(tables["totals"], "total_s", "memory", "streams")
    hidden = x.spreads_of(tables["totals"], "overlap_fraction", "memory", "streams")
    parts = x.spreads_of(tables["alone"], "took_s", "part")
    limits = x.Limits()
    values, unclear = _alone(parts)
    if values.get("kernels_speedup", GAIN) < GAIN and "kernels_speedup" not in unclear:
        limits.append("kernels_fill_the_gpu")
    if {"compute", "to_gpu"} <= parts.keys():
        apart = parts["compute"].median / parts["to_gpu"].median
        limits.add("parts_differ", not 1 / UNEQUAL < apart < UNEQUAL)
    pinned = {streams: found for (memory, streams), found in of.items() if memory == PINNED}
    if not pinned:
        message = "one_queue" if params.device.startswith(("mps", CPU)) else "in_part"
        return x.Finding(message, values, tuple(limits), unclear)
    best = min(pinned, key=lambda streams: pinned[streams].median)
    names = {1: "one_stream_s", 2: "two_streams_s"}
    values |= {name: pinned[count].median for count, name in names.items() if count in pinned}
    values |= {
        "best_s": pinned[best].median,
        "best_streams": best,
        "overlap_fraction": hidden[PINNED, best].median,
    }
    if "longest_part_s" in values and values["best_s"] * TOO_MUCH < values["longest_part_s"]:
        limits.append("above_the_limit")
    called = x.spreads_of(tables["totals"], "called_s", "streams", memory=PINNED)
    limits.add("calls_set_the_pace", called[best].median > CALLING * pinned[best].median)
    pageable = of.get((PAGEABLE, params.streams))
    if pageable is not None:
        values["pageable_s"] = pageable.median
        values["pageable_overlap_fraction"] = hidden[PAGEABLE, params.streams].median
    else:
        limits.append("pinned_alone")
    if 1 not in pinned or len(pinned) < 2 or not set(PARTS) <= parts.keys():
        return x.Finding("in_part", values, tuple(limits), unclear)
    several = min((n for n in pinned if n > 1), key=lambda n: pinned[n].median)
    pairs = {n: (pinned[1], found) for n, found in pinned.items() if n > 1}
    gain = x.family(pairs, x.Spread.against)[several]
    values["streams_speedup"] = pinned[1].median / pinned[several].median
    if x.standing(pinned, best) is x.Outcome.UNKNOWN:
        unclear += ("best_streams",)
    if gain.outcome is x.Outcome.UNKNOWN:
        unclear += ("streams_speedup",)
    if gain.outcome is not x.Outcome.DIFFERS or not gain.is_above:
        message = x.unsure(*pairs.values()) or "no_gain"
        return x.Finding(message, values, tuple(limits), unclear)
    is_ruined = pageable is not None and pinned[several].is_below(pageable)
    message = "hidden_from_pinned_memory" if is_ruined else "hidden"
    return x.Finding(message, values, tuple(limits), unclear)


def _alone(parts: Mapping[str, x.Spread]) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return each part's time alone, their sum and the longest, and kernels in two streams."""
    values = {f"{part}_s": found.median for part, found in parts.items()}
    if set(PARTS) <= parts.keys():
        alone_s = [values[f"{part}_s"] for part in PARTS]
        values |= {"sum_s": sum(alone_s), "longest_part_s": max(alone_s)}
    if not {"compute", BESIDE} <= parts.keys():
        return values, ()
    found, unclear = x.ratios({"kernels_speedup": (parts["compute"], parts[BESIDE])})
    return values | found, unclear


def seconds(params: Params) -> float:
    """Estimate from the bytes that are copied, one part after the other."""
    copy_s = params.total_bytes / PINNED_BYTES_PER_S
    course_s = copy_s * (2 + params.compute_per_copy) + 1e-4 * params.pieces
    turn_s = (len(stream_counts(params.streams)) + 2) * course_s + copy_s * params.compute_per_copy
    if params.pageable:
        turn_s += course_s + 2 * params.total_bytes / PAGEABLE_BYTES_PER_S
    begin_s = 1.5 + memory_bytes(params) / PINNING_BYTES_PER_S
    return begin_s + (params.rounds + 1) * turn_s


def memory_bytes(params: Params) -> int:
    """Return the bytes sent and received, in each kind of memory."""
    return (4 if params.pageable else 2) * params.total_bytes


def _timeline(key: str) -> x.Timeline:
    return x.Timeline(key, key, "stream", "start_s", "end_s", group="part", order=PARTS)


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "totals": Total,
        "alone": Alone,
        "several_streams": PieceSpan,
        "one_stream": OneStream,
        "pageable": FromPageable,
        "conditions": Condition,
    },
    measure=measure,
    loop="pieces.py:Pieces.do",
    analyse=analyse,
    views=(
        x.Bars(
            "totals",
            "totals",
            "streams",
            "total_s",
            detail="memory",
            limits=(x.Limit("sum", "sum_s", "x"), x.Limit("longest", "longest_part_s", "x")),
        ),
        _timeline("several_streams"),
        _timeline("one_stream"),
        _timeline("pageable"),
        x.Bars("alone", "alone", "part", "took_s", order=ALONE),
    ),
    values=x.values(
        "one_stream_s",
        "two_streams_s",
        x.Value("best_s", x.Part.GPU),
        "best_streams",
        x.Value("streams_speedup", x.Part.PCIE),
        "overlap_fraction",
        "longest_part_s",
        "sum_s",
        *(f"{part}_s" for part in ALONE),
        "kernels_speedup",
        "pageable_s",
        "pageable_overlap_fraction",
    ),
    keys=(
        x.Key("one_stream_s", "totals", ("1",)),
        x.Key("two_streams_s", "totals", ("2",)),
        x.Key("overlap_fraction", "several_streams", ("to_gpu", "from_gpu")),
    ),
    next=x.Next("pinned", {"compute_per_copy": 4.0}),
    parts=(x.Part.PCIE, x.Part.GPU),
    needs=(x.Need.GPU,),
    imports=("torch",),
    defaults=on_first_device(Params),
    quick=x.change(rounds=5),  # with less data the calls would set the pace
    smallest=x.change(total_bytes=x.MIB, pieces=2, rounds=2),
    seconds=seconds,
    memory_bytes=memory_bytes,
    quiet_limit_s=60.0,  # gigabytes are pinned and written first
)
