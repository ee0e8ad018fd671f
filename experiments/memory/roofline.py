"""Does the memory or the arithmetic hold a loop back? The roof over all that one can compute.

Method: the flat roof are independent multiply-adds in registers on every core, the slope what the
read and the triad of `stream` move; both at their best. Below stand loops of known intensity, each
thread with arrays of its own that no cache holds: sums and means that move much and compute little,
polynomials of rising degree, and a matrix product by numpy, one for each core. All are timed in
shuffled rounds, pinned, in double precision.
Source: S. Williams, A. Waterman, D. Patterson, Roofline (2009).

What it cannot tell: why a point lies below the roof. Lines that are read before they are written
are not counted, and keep what writes a quarter to a third below it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.bench import Bench
from experiments.declare import (
    Experiment,
    Finding,
    Measured,
    Need,
    Note,
    Part,
    Progress,
    Shelf,
    Tables,
    Value,
    param,
)
from experiments.memory import stream
from experiments.memory.arrays import Team, cache_count, spread_out
from experiments.memory.roof_arms import (
    PRECISIONS,
    SLOPES,
    Peak,
    Point,
    Rate,
    peaks,
    points,
    rates,
)
from experiments.memory.roof_kernels import DEGREES, FEW_DEGREES, POLYNOMIAL
from experiments.python_at_work.batches import batch
from experiments.views import Axis, Bars, Limit, Lines
from machine.model import Machine, is_virtual, last_level_cache_bytes, usable_threads

MIB, GIB = 2**20, 2**30
SAMPLE_S, THREAD_SAMPLE_S = 0.015, 0.0005
ROOF = "roof"
KERNELS = (ROOF, POLYNOMIAL, "triad", "dot", "stencil", "matmul")
ABOVE = 1.05  # times the roof: then something is wrong
FULL_S, QUICK_S = 28.0, 3.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What may be turned; `array_bytes` is one of three arrays, of all threads together."""

    array_bytes: int = param(
        256 * MIB, unit="bytes", minimum=8 * MIB, maximum=64 * GIB, scale="log2"
    )
    threads: int = param(2, minimum=1, maximum=1024, scale="log2")
    few_degrees: bool = param(False)
    rounds: int = param(9, minimum=1, maximum=50)


def measure(params: Params, bench: Bench) -> Measured:
    """Yield peaks, rates and points in shuffled rounds, and the roof over them at the end."""
    threads = spread_out(bench.machine)[: params.threads]
    if not threads:
        return
    if len(threads) < params.threads:
        yield Note("fewer_threads", {"threads": len(threads)})
    team = Team(bench, threads, params.array_bytes, huge=False)
    yield Progress(0.02)
    degrees = FEW_DEGREES if params.few_degrees else DEGREES
    arms = [*peaks(team), *rates(team), *points(team, degrees)]
    yield Progress(0.1)
    rows: list[Any] = []
    laps: dict[int, int] = {}
    sample_s = SAMPLE_S + THREAD_SAMPLE_S * len(team)
    for turn, place in bench.interleave(range(len(arms)), params.rounds):
        taken_s, first, row = arms[place]
        if place not in laps:
            laps[place] = batch(taken_s, sample_s, start=first)
        rows.append(row(turn.round, laps[place] / taken_s(laps[place])))
        yield rows[-1]
        yield Progress(0.1 + 0.9 * turn.fraction)
    yield from _roof(rows)


def _roof(rows: Sequence[Any]) -> Iterator[Point]:
    """Yield the ends of the roof over all points, and its ridge."""
    peak, slope = _best(
        [row for row in rows if isinstance(row, Peak)],
        [row for row in rows if isinstance(row, Rate)],
    )
    places = [row.flop_per_byte for row in rows if isinstance(row, Point)]
    for x in (min(places) / 2, peak / slope, max(max(places), peak / slope) * 2):
        yield Point(kernel=ROOF, repeat=0, flop_per_byte=x, flop_per_s=min(peak, slope * x))


def _best(peaks: Sequence[Peak], rates: Sequence[Rate]) -> tuple[float, float]:
    """Return the flat part of the roof and its slope, 0 for what was not measured."""
    ours = [peak.flop_per_s for peak in peaks if peak.precision == "fp64"]
    return max(ours, default=0.0), max((rate.bytes_per_s for rate in rates), default=0.0)


def analyse(params: Params, tables: Tables, machine: Machine) -> Finding:
    """Find the ridge, and tell how near the roof the triad and the matrix product come."""
    limits = ["write_allocate_not_counted", "no_gpu_roof"]
    if is_virtual(machine):
        limits.append("virtual_machine")
    cache_bytes = last_level_cache_bytes(machine)
    all_bytes = (cache_bytes or 0) * cache_count(machine, usable_threads(machine))
    if not all_bytes or params.array_bytes < stream.BEYOND_CACHE * all_bytes:
        limits.append("partly_in_cache")
    peak, slope = _best(tables["peaks"], tables["rates"])
    values = _peak_values(tables["peaks"])
    if slope:
        values["peak_cpu_bytes_per_s"] = slope
    if machine.memory.peak_bytes_per_s:
        values["memory_limit_bytes_per_s"] = machine.memory.peak_bytes_per_s
    if not peak or not slope:
        return Finding("roof_in_part", values, tuple(limits))
    values |= {"peak_cpu_flop_per_s": peak, "ridge_cpu_flop_per_byte": peak / slope}
    samples: dict[tuple[str, float], list[float]] = {}
    for point in tables["points"]:
        if point.kernel != ROOF:
            at = samples.setdefault((point.kernel, point.flop_per_byte), [])
            at.append(point.flop_per_s)
    for (kernel, x), reached_each in samples.items():
        reached, roof = max(reached_each), min(peak, slope * x)
        if reached > ABOVE * roof and "above_the_roof" not in limits:
            limits.append("above_the_roof")
        if kernel in ("triad", "matmul"):
            values |= {f"{kernel}_cpu_flop_per_s": reached, f"{kernel}_flop_per_byte": x}
            values[f"{kernel}_roof_fraction"] = reached / roof
    if "triad_roof_fraction" not in values or "matmul_roof_fraction" not in values:
        return Finding("roof_in_part", values, tuple(limits))
    below = values["matmul_flop_per_byte"] < values["ridge_cpu_flop_per_byte"]
    return Finding("all_on_the_slope" if below else "both_sides", values, tuple(limits))


def _peak_values(peaks: Sequence[Peak]) -> dict[str, float]:
    found: dict[str, float] = {}
    most = max((peak.cores for peak in peaks), default=0)
    for name in PRECISIONS:
        for which, cores in (("one_core", 1), ("all_cores", most)):
            rates = [p.flop_per_s for p in peaks if p.precision == name and p.cores == cores]
            if rates:
                found[f"{which}_{name}_flop_per_s"] = max(rates)
    return found


def defaults(machine: Machine) -> Params:
    """Take the arrays and threads of `stream`: four last-level caches, one thread a core."""
    suited = stream.defaults(machine)
    params = Params(array_bytes=max(8 * MIB, suited.array_bytes), threads=suited.threads)
    while params.rounds > 2 and seconds(params) > FULL_S:
        params = replace(params, rounds=params.rounds - 1)
    return params


def quick(params: Params) -> Params:
    """Take few polynomials, three times; smaller arrays only where that takes too long."""
    reduced = replace(params, few_degrees=True, rounds=3)
    while seconds(reduced) > QUICK_S and reduced.array_bytes > 16 * MIB:
        reduced = replace(reduced, array_bytes=reduced.array_bytes // 2)
    return reduced


def seconds(params: Params) -> float:
    """Estimate, at 10 GB/s a thread up to 16 of them."""
    team = min(params.threads, stream.WORTH)
    degrees = FEW_DEGREES if params.few_degrees else DEGREES
    sample_s = 1.3 * (SAMPLE_S + THREAD_SAMPLE_S * params.threads)
    lap_s = 2 * params.array_bytes / (1e10 * team)
    arms_s = (9 + len(degrees)) * max(lap_s, sample_s) + 0.05
    return 0.3 + _memory_bytes(params) / (1e9 * team) + (params.rounds + 1.5) * arms_s


def _memory_bytes(params: Params) -> int:
    moved = stream.Params(array_bytes=params.array_bytes, threads=params.threads, loaded=False)
    return stream.memory_bytes(moved)


EXPERIMENT = Experiment(
    id="roofline",
    version=1,
    shelf=Shelf.MEMORY,
    params=Params,
    tables={"points": Point, "peaks": Peak, "rates": Rate},
    measure=measure,
    analyse=analyse,
    views=(
        Lines(
            key="roof",
            table="points",
            x=Axis("flop_per_byte", "log2"),
            y=Axis("flop_per_s", "log10"),
            series="kernel",
            order=KERNELS,
            statistic="greatest",
            limits=(Limit("ridge", "ridge_cpu_flop_per_byte", "x"),),
        ),
        Bars(
            key="peaks",
            table="peaks",
            label="precision",
            value="flop_per_s",
            detail="cores",
            order=tuple(PRECISIONS),
            statistic="greatest",
        ),
        Bars(
            key="rates",
            table="rates",
            label="kernel",
            value="bytes_per_s",
            order=SLOPES,
            statistic="greatest",
            limits=(Limit("memory_modules", "memory_limit_bytes_per_s"),),
        ),
    ),
    values=(
        Value("peak_cpu_flop_per_s", "flop/s", Part.CORES),
        Value("peak_cpu_bytes_per_s", "bytes/s", Part.MEMORY),
        Value("ridge_cpu_flop_per_byte", ""),
        *(
            Value(f"{which}_{name}_flop_per_s", "flop/s")
            for which in ("one_core", "all_cores")
            for name in PRECISIONS
        ),
        *(
            value
            for kernel in ("triad", "matmul")
            for value in (
                Value(f"{kernel}_cpu_flop_per_s", "flop/s"),
                Value(f"{kernel}_flop_per_byte", ""),
                Value(f"{kernel}_roof_fraction", "fraction"),
            )
        ),
        Value("memory_limit_bytes_per_s", "bytes/s"),
    ),
    parts=(Part.CORES, Part.MEMORY),
    needs=(Need.NUMBA,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=quick,
    seconds=seconds,
    memory_bytes=_memory_bytes,
)
