"""Does the memory or the arithmetic hold a loop back? The roof over all computations.

Method: the flat part of the roof is the rate at which all cores multiply and add numbers in
registers. The slope is the rate at which the memory delivers numbers. Under it stand loops that
compute little or much for each byte they move: the triad (c=a+3b), a scalar product, the mean of
five neighbours, polynomials of rising degree and a matrix product. The flat part is measured by
independent multiply-adds. The slope is the fastest rate at which the read of `stream`, triad,
scalar product or mean moved data. If all cores do fewer multiply-adds than one core, they are timed
again. For each the median of shuffled rounds counts: the best is chance where others share the
memory. All are pinned, in double precision; each thread has arrays of its own that no cache holds;
the matrix product is numpy's, one for each core. On a GPU operations of torch take their place, in
single precision: copy, triad, read and products of ever thicker matrices. Large products in each
precision are the flat parts; one precision is also timed for a whole second.
Source: S. Williams, A. Waterman, D. Patterson, Roofline (2009).

Not shown: why a point lies below the roof. Reading a line before it is written is not counted. So
loops that write can lie a quarter to a third below the roof.

Seen on an H100: within 2.2 % of CUDA's own rates; double precision with matrix units at 98 % of its
limit, fp8 at 70 %; within seconds the power limit takes bf16 from 797 to 684 TFLOP/s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from typing import Any

from experiments import api as x
from experiments.devices.assumed import GPU_BYTES_PER_S
from experiments.devices.ceilings import arithmetic_flop_per_s, cache_bytes, memory_bytes_per_s
from experiments.devices.conditions import Condition
from experiments.devices.device import CPU, default_device, devices_of
from experiments.tools.arrays import WORTH, Team, cache_count, spread_out, suited, team_bytes
from experiments.tools.batches import batch

from .arms import (
    MOVERS,
    PRECISIONS,
    READ,
    Peak,
    Point,
    Rate,
    Row,
    bandwidths,
    peaks,
    plausible,
    points,
    rates,
    slower_than_one_core,
    with_rate,
)
from .gpu import (
    FEW_THICK,
    GPU_PRECISIONS,
    LONG_PRECISIONS,
    LONG_S,
    OTHER_ROOFS,
    ROOF,
    THICK,
    Sustained,
    gpu_peaks,
    measure_gpu,
    sustained_flop_per_s,
)
from .known_kernels import DEGREES, FEW_DEGREES, POLYNOMIAL

SAMPLE_S, THREAD_SAMPLE_S = 0.015, 0.0005
# The first five have colours of their own.
KERNELS = (ROOF, "triad", "dot", "stencil", POLYNOMIAL, "matmul", "thin", *OTHER_ROOFS)
GPU = "gpu0"  # the only GPU of a run
ABOVE, TOO_MUCH = 1.1, 1.02  # times the roof or a theoretical limit: then something is wrong
WRITES_SHOW = 0.8  # of the roof: below it, the triad pays for reading each line before writing it
GPU_BEYOND_CACHE = 8  # times the last cache of a GPU, for each array
QUICK_ROUNDS = 5


class Params(x.Params):
    """The parameters; `array_bytes` is one of three arrays, of all threads together."""

    device: str = x.param(CPU, choices=devices_of)
    array_bytes: int = x.param(256 * x.MIB, minimum=8 * x.MIB, maximum=64 * x.GIB, scale="log2")
    threads: int = x.param(2, minimum=1, maximum=1024, scale="log2")
    few_degrees: bool = False
    rounds: int = x.param(12, minimum=1, maximum=50)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield peaks, rates and points in shuffled rounds, and the roof over them at the end."""
    if params.device != CPU:
        few, rounds = params.few_degrees, params.rounds
        yield from measure_gpu(params.device, params.array_bytes, few, rounds, bench)
        return
    threads = spread_out(bench.machine)[: params.threads]
    if not threads:
        return
    if len(threads) < params.threads:
        yield x.Note("fewer_threads", {"threads": len(threads)})
    team = Team(bench, threads, params.array_bytes, huge=False)
    yield x.Progress(0.02)
    degrees = FEW_DEGREES if params.few_degrees else DEGREES
    arms = [*peaks(team), *rates(team), *points(team, degrees)]
    yield x.Progress(0.1)
    rows: list[Any] = []
    laps: dict[int, int] = {}
    sample_s = SAMPLE_S + THREAD_SAMPLE_S * len(team)
    for turn, place in bench.interleave(range(len(arms)), params.rounds):
        taken_s, first, row = arms[place]
        if place not in laps:
            laps[place] = batch(taken_s, sample_s, start=first)
        sample = partial(_sample, taken_s, laps[place], row, turn.round)
        found = list(with_rate(plausible(sample, rows)))
        if bench.disturbed is None:
            rows += found
        yield from found
        yield x.Progress(0.1 + 0.9 * turn.fraction)
    yield from _roof(rows, len(threads))


def _sample(
    taken_s: Callable[[int], float], laps: int, row: Callable[[int, float], Row], repeat: int
) -> Row:
    return row(repeat, laps / taken_s(laps))


def _roof(rows: Sequence[Any], cores: int) -> Iterator[Point]:
    """Yield the ends of the roof over all points, and its ridge; nothing where a part lacks."""
    measured = [row for row in rows if isinstance(row, Point)]
    peak = _peak([row for row in rows if isinstance(row, Peak)], cores)
    slope = _slope(bandwidths([row for row in rows if isinstance(row, Rate)]))
    places = [point.flop_per_byte for point in measured]
    if not peak or not slope or not places:  # all of its samples were disturbed
        return
    for at in (min(places) / 2, peak / slope, max(max(places), peak / slope) * 2):
        yield Point(kernel=ROOF, repeat=0, flop_per_byte=at, flop_per_s=min(peak, slope * at))


def _peak(peaks: Sequence[Peak], cores: int) -> float:
    """Return the flat part of the roof, 0 before it was measured on all these cores."""
    return x.medians(((p.precision, p.cores), p.flop_per_s) for p in peaks).get(
        ("fp64", cores), 0.0
    )


def _slope(rates: Mapping[str, float]) -> float:
    return max(rates.values(), default=0.0)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Find the ridge, and how close the triad and the matrix product come to the roof."""
    if params.device != CPU:
        return _analyse_gpu(params, tables, machine)
    limits = x.Limits()
    held_bytes = x.last_level_cache_bytes(machine) or 0
    all_bytes = held_bytes * cache_count(machine, x.usable_threads(machine))
    limits.add("partly_in_cache", not all_bytes or params.array_bytes < x.BEYOND_CACHE * all_bytes)
    rates_of = bandwidths(tables["rates"])
    cores = len(spread_out(machine)[: params.threads])
    peak, slope = _peak(tables["peaks"], cores), _slope(rates_of)
    values = _peak_values(tables["peaks"], cores)
    if slope:
        values["peak_cpu_bytes_per_s"] = slope
    if machine.memory.peak_bytes_per_s:
        values["memory_limit_bytes_per_s"] = machine.memory.peak_bytes_per_s
    aside = _of_a_processor(machine)
    if not peak or not slope:
        return x.Finding("roof_in_part", values, (*limits, *aside))
    values |= {"peak_cpu_flop_per_s": peak, "ridge_cpu_flop_per_byte": peak / slope}
    limits.add("above_the_roof", _is_above(tables["points"], peak, slope))
    limits.add("all_cores_below_one", slower_than_one_core(tables["peaks"], cores))
    values |= _reached(tables["points"], peak, slope, "cpu")
    limits.add("roof_not_drawn", all(point.kernel != ROOF for point in tables["points"]))
    if _is_of_the_triad(rates_of):
        limits.append("triad_is_the_slope")
    elif values.get("triad_roof_fraction", 1.0) < WRITES_SHOW:
        limits.append("write_allocate_not_counted")
    limits += aside
    if "triad_roof_fraction" not in values or "matmul_roof_fraction" not in values:
        return x.Finding("roof_in_part", values, tuple(limits))
    below = values["matmul_flop_per_byte"] < values["ridge_cpu_flop_per_byte"]
    return x.Finding("all_on_the_slope" if below else "both_sides", values, tuple(limits))


def _analyse_gpu(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Do the same for a GPU, whose theoretical limits are known more often."""
    limits = x.Limits()
    peaks = gpu_peaks(tables["peaks"], tables["points"])
    aside = _of_a_gpu(peaks)
    held_bytes = cache_bytes(machine, params.device)
    if not held_bytes or params.array_bytes < GPU_BEYOND_CACHE * held_bytes:
        limits.append("partly_in_gpu_cache")
    peak = peaks.get("fp32", 0.0)
    rates_of = bandwidths(tables["rates"])
    slope = _slope(rates_of)
    values = {f"{name}_{GPU}_flop_per_s": found for name, found in peaks.items()}
    suspects = []
    for name, found in peaks.items():
        limit = arithmetic_flop_per_s(machine, params.device, name)
        if limit is not None:
            values[f"{name}_limit_flop_per_s"] = limit
            suspects.append(found > TOO_MUCH * limit)
    limit = memory_bytes_per_s(machine, params.device)
    if limit is not None:
        values["memory_limit_bytes_per_s"] = limit
        suspects.append(slope > TOO_MUCH * limit)
    limits.add("above_the_limit", any(suspects))
    if slope:
        values[f"peak_{GPU}_bytes_per_s"] = slope
    long = sustained_flop_per_s(tables["sustained"])
    if long is not None:
        values[f"sustained_{GPU}_flop_per_s"] = long
        limits.append("peaks_are_bursts")
    if not peak or not slope:
        return x.Finding("roof_in_part", values, (*limits, *aside))
    values |= {f"peak_{GPU}_flop_per_s": peak, f"ridge_{GPU}_flop_per_byte": peak / slope}
    values |= _reached(tables["points"], peak, slope, GPU)
    limits.add("above_the_roof", _is_above(tables["points"], peak, slope))
    limits.add("roof_not_drawn", all(point.kernel != ROOF for point in tables["points"]))
    limits.add("triad_is_the_slope", _is_of_the_triad(rates_of))
    limits += aside
    if "triad_roof_fraction" not in values or "matmul_roof_fraction" not in values:
        return x.Finding("roof_in_part", values, tuple(limits))
    return x.Finding("gpu_both_sides", values, tuple(limits))


def _of_a_processor(machine: x.Machine) -> list[str]:
    limits = ["virtual_machine"] if x.is_virtual(machine) else []
    limits.append("no_gpu_roof")
    return limits


def _of_a_gpu(peaks: Mapping[str, float]) -> list[str]:
    limits = x.Limits(["one_operation_at_a_time"])
    limits.add("precisions_left_out", any(name not in peaks for name in GPU_PRECISIONS))
    return limits


def _is_of_the_triad(rates: Mapping[str, float]) -> bool:
    """Is the slope the triad's own rate? Then the triad's share of the roof says nothing."""
    return max(rates, key=lambda kernel: rates[kernel]) == "triad"


def _samples(points: Sequence[Point]) -> dict[tuple[str, float], float]:
    """Return the rate of each kernel at each of its intensities."""
    return x.medians(
        ((point.kernel, point.flop_per_byte), point.flop_per_s)
        for point in points
        if not point.kernel.startswith(ROOF)
    )


def _is_above(points: Sequence[Point], peak: float, slope: float) -> bool:
    return any(rate > ABOVE * min(peak, slope * at) for (_, at), rate in _samples(points).items())


def _reached(points: Sequence[Point], peak: float, slope: float, which: str) -> dict[str, float]:
    """Return how close to the roof the triad and the matrix product come."""
    values: dict[str, float] = {}
    for (kernel, at), rate in _samples(points).items():
        if kernel in ("triad", "matmul"):
            values |= {f"{kernel}_{which}_flop_per_s": rate, f"{kernel}_flop_per_byte": at}
            values[f"{kernel}_roof_fraction"] = rate / min(peak, slope * at)
    return values


def _peak_values(peaks: Sequence[Peak], most: int) -> dict[str, float]:
    """Return the rate of each precision, on one core and on all."""
    found = x.medians(((p.precision, p.cores), p.flop_per_s) for p in peaks)
    return {
        f"{which}_{name}_flop_per_s": found[name, cores]
        for name in PRECISIONS
        for which, cores in (("one_core", 1), ("all_cores", most))
        if (name, cores) in found
    }


def defaults(machine: x.Machine) -> Params:
    """Take a GPU, or the arrays and threads of `stream`: four last-level caches, one a core."""
    device = default_device(machine) if find_spec("torch") else CPU
    if device != CPU:
        held_bytes = GPU_BEYOND_CACHE * (cache_bytes(machine, device) or 0)
        return Params(device=device, array_bytes=max(256 * x.MIB, held_bytes))
    array_bytes, threads = suited(machine)
    return Params(array_bytes=max(8 * x.MIB, array_bytes), threads=threads)


def seconds(params: Params) -> float:
    """Estimate at 10 GB/s a thread, up to 16 threads."""
    if params.device != CPU:
        arms = 5 + len(GPU_PRECISIONS) + len(FEW_THICK if params.few_degrees else THICK)
        sample_s = 0.01 + 3 * params.array_bytes / GPU_BYTES_PER_S
        return 1.5 + LONG_S + (params.rounds + 2) * arms * sample_s
    team = min(params.threads, WORTH)
    degrees = FEW_DEGREES if params.few_degrees else DEGREES
    sample_s = 1.3 * (SAMPLE_S + THREAD_SAMPLE_S * params.threads)
    lap_s = 2 * params.array_bytes / (1e10 * team)
    arms_s = (9 + len(degrees)) * max(lap_s, sample_s) + 0.05
    return 0.3 + _memory_bytes(params) / (1e9 * team) + (params.rounds + 1.5) * arms_s


def _memory_bytes(params: Params) -> int:
    return team_bytes(params.array_bytes, params.threads) if params.device == CPU else 0


EXPERIMENT = x.Experiment(
    version=4,
    params=Params,
    tables={
        "points": Point,
        "peaks": Peak,
        "rates": Rate,
        "sustained": Sustained,
        "conditions": Condition,
    },
    measure=measure,
    loop="kernels.py:dot",
    analyse=analyse,
    views=(
        x.Lines(
            "roof",
            "points",
            x.Axis("flop_per_byte"),
            x.Axis("flop_per_s"),
            series="kernel",
            order=KERNELS,
            limits=(
                x.Limit("ridge", "ridge_cpu_flop_per_byte", "x"),
                x.Limit("ridge", f"ridge_{GPU}_flop_per_byte", "x"),
            ),
        ),
        x.Bars("peaks", "peaks", "precision", "flop_per_s", detail="cores", order=GPU_PRECISIONS),
        x.Bars(
            key="rates",
            table="rates",
            label="kernel",
            value="bytes_per_s",
            order=(READ, *MOVERS, "copy"),  # of the same colours as above
            limits=(
                x.Limit("slope", "peak_cpu_bytes_per_s", "x"),
                x.Limit("slope", f"peak_{GPU}_bytes_per_s", "x"),
                x.Limit("memory_modules", "memory_limit_bytes_per_s", "x"),
            ),
        ),
        x.Lines(
            "sustained",
            "sustained",
            x.Axis("at_s"),
            x.Axis("flop_per_s"),
            series="precision",
            order=LONG_PRECISIONS,
        ),
    ),
    values=x.values(
        x.Value("peak_cpu_flop_per_s", x.Part.CORES),
        x.Value("peak_cpu_bytes_per_s", x.Part.MEMORY),
        "ridge_cpu_flop_per_byte",
        x.Value(f"peak_{GPU}_flop_per_s", x.Part.GPU),
        x.Value(f"peak_{GPU}_bytes_per_s", x.Part.GPU),
        f"ridge_{GPU}_flop_per_byte",
        *(f"{name}_{GPU}_flop_per_s" for name in GPU_PRECISIONS),
        f"sustained_{GPU}_flop_per_s",
        *(f"{name}_limit_flop_per_s" for name in GPU_PRECISIONS),
        *(
            f"{which}_{name}_flop_per_s"
            for which in ("one_core", "all_cores")
            for name in PRECISIONS
        ),
        *(
            value
            for kernel in ("triad", "matmul")
            for value in (
                *(f"{kernel}_{which}_flop_per_s" for which in ("cpu", GPU)),
                f"{kernel}_flop_per_byte",
                f"{kernel}_roof_fraction",
            )
        ),
        "memory_limit_bytes_per_s",
    ),
    keys=(
        x.Key("ridge_cpu_flop_per_byte", "roof", (ROOF,), at="ridge_cpu_flop_per_byte"),
        x.Key("triad_roof_fraction", "roof", ("triad",), at="triad_flop_per_byte"),
        x.Key("matmul_roof_fraction", "roof", ("matmul",), at="matmul_flop_per_byte"),
    ),
    next=x.Next("stream", {"threads": 1}),
    parts=(x.Part.CORES, x.Part.MEMORY, x.Part.GPU),
    uses=(x.Use.PINNING,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=x.change(few_degrees=True, at_most={"rounds": QUICK_ROUNDS}),
    smallest=x.change(array_bytes=8 * x.MIB, rounds=2),
    budget=x.Budget(full={"rounds": 2}, quick={"rounds": x.ENOUGH, "array_bytes": 16 * x.MIB}),
    seconds=seconds,
    memory_bytes=_memory_bytes,
    cuda_reference={
        "peak_gpu0_bytes_per_s": ("copy_gpu_bytes_per_s", (0.95, 1.15)),
        **{
            f"{kind}_gpu0_flop_per_s": (f"{kind}_flop_per_s", (0.97, 1.05))
            for kind in ("fp32", "tf32", "fp16", "bf16")
        },
    },
)
