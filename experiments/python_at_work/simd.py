"""Many numbers at once: how much faster are vector instructions than one at a time?

Method: one thread, kept on the last core (pinned), adds up arrays of numbers, one at a time and by
vectors of 128, 256 and 512 bits as far as the processor has them, with eight sums at once so that
no addition waits for the one before. The same loads and additions otherwise, compiled from the same
lines. Plain Python adds up a list of as many numbers, where that is short enough. Sizes and widths
are shuffled in each round; compared are the medians.
Source: D. A. Patterson, J. L. Hennessy, Computer Architecture, chapter 4
(data-level parallelism).

What it cannot tell: how much other loops gain; many cannot be put into vectors at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from experiments.bench import Bench
from experiments.buffers import Buffer
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
    column,
    param,
)
from experiments.memory.cache_ladder import cache_sizes, is_guest
from experiments.statistics import TOO_FEW, Spread, ratios, spreads, too_few
from experiments.views import Axis, Limit, Lines
from machine.memory import available_bytes
from machine.model import Machine, caches_of, last_level_cache_bytes, usable_threads

KIB, MIB, GIB = 2**10, 2**20, 2**30
SMALLEST_BYTES = 4 * KIB
LONGEST_LIST_BYTES = 256 * KIB
SAMPLE_S = 0.003
FREE_SHARE = 0.5
BEYOND_CACHE = 4
NEARLY_ALL = 0.9  # of what every lane together would bring
FULL_S, FEW_ROUNDS = 28.0, 3
PYTHON, SCALAR = "python", "scalar"
WIDTHS = ("128", "256", "512")
ORDER = (PYTHON, SCALAR, *WIDTHS)
NUMBERS_BITS = {"float32": 32, "float64": 64}


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """What may be turned; arrays are powers of two up to `largest_bytes`."""

    largest_bytes: int = param(128 * MIB, unit="bytes", minimum=MIB, maximum=16 * GIB, scale="log2")
    numbers: str = param("float32", choices=tuple(NUMBERS_BITS))
    rounds: int = param(9, minimum=1, maximum=100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """One repeat at one size in one way: "python", "scalar", or so many bits a vector."""

    size_bytes: int = column("bytes", scale="log2")
    way: str = column()
    repeat: int = column()
    elements_per_s: float = column("per_s", scale="log10")
    read_bytes_per_s: float = column("bytes/s", scale="log10")


def sizes(params: Params) -> list[int]:
    """Return the sizes of the arrays, smallest first."""
    return [2**bits for bits in range(SMALLEST_BYTES.bit_length() - 1,
                                      params.largest_bytes.bit_length())]  # fmt: skip


def measure(params: Params, bench: Bench) -> Measured:
    """Yield one row for each size, way and round."""
    with bench.pinned() as thread:
        if thread is None:
            yield Note("not_pinned")
        bits = NUMBERS_BITS[params.numbers]
        array = Buffer(max(sizes(params))).words.view(params.numbers)
        array.fill(1)
        ways = _ways(bits)
        arms = [
            (size, way)
            for size in sizes(params)
            for way in ways
            if way != PYTHON or size <= LONGEST_LIST_BYTES
        ]
        for turn, (size_bytes, way) in bench.interleave(arms, params.rounds):
            count = size_bytes * 8 // bits
            numbers = array[:count].tolist() if way == PYTHON else array[:count]
            work = partial(ways[way], numbers)
            laps = bench.repeat_for(work, at_least_s=SAMPLE_S, start=1)
            elements_per_s = count * laps / bench.time(partial(work, laps))
            yield Rate(
                size_bytes=size_bytes,
                way=way,
                repeat=turn.round,
                elements_per_s=elements_per_s,
                read_bytes_per_s=elements_per_s * bits / 8,
            )
            yield Progress(turn.fraction)


def _ways(bits: int) -> dict[str, Callable[[Any, int], object]]:
    from experiments.kernels.lanes import lane_sum, widest_bits

    ways: dict[str, Callable[[Any, int], object]] = {PYTHON: _in_python, SCALAR: lane_sum(bits, 1)}
    return ways | {w: lane_sum(bits, int(w) // bits) for w in WIDTHS if int(w) <= widest_bits()}


def _in_python(numbers: list[float], laps: int) -> float:
    total = 0.0
    for _ in range(laps):
        for number in numbers:
            total += number
    return total


def analyse(params: Params, tables: Tables, machine: Machine) -> Finding:
    """Compare the widest vectors with one number at a time, in the first cache and in memory."""
    of = spreads(((rate.way, rate.size_bytes), rate.elements_per_s) for rate in tables["rates"])
    widest = max((int(way) for way, _ in of if way in WIDTHS), default=0)
    both = [size for size in sizes(params) if {(SCALAR, size), (str(widest), size)} <= of.keys()]
    limits: list[str] = []
    first_bytes, last_bytes = _first_cache_bytes(machine), last_level_cache_bytes(machine)
    cached = [size for size in both if first_bytes and size <= first_bytes // 2]
    beyond = [size for size in both if last_bytes and size >= BEYOND_CACHE * last_bytes]
    element_bytes = NUMBERS_BITS[params.numbers] // 8
    known = cache_sizes(machine)
    values: dict[str, float] = {f"{name}_bytes": size for name, size in known.items()}
    if "l3_bytes" in values and is_guest(machine):
        limits.append("part_of_l3")
    if machine.memory.peak_bytes_per_s:
        values["bandwidth_limit_per_s"] = machine.memory.peak_bytes_per_s / element_bytes
    if not beyond:
        limits.append("no_memory_gain")
    if not cached:
        limits.append("no_l1_gain")
        return Finding("nothing_to_compare", values, tuple(limits))
    places = {"gain_in_l1": max(cached)} | ({"gain_in_memory": max(beyond)} if beyond else {})
    pairs = {name: (of[str(widest), size], of[SCALAR, size]) for name, size in places.items()}
    gains, unclear = ratios(pairs)
    vector, scalar = pairs["gain_in_l1"]
    lanes = widest // (8 * element_bytes)
    values |= {
        "scalar_per_s": scalar.median,
        "vector_per_s": vector.median,
        "width_bits": widest,
        "lanes": lanes,
        "all_lanes_per_s": lanes * scalar.median,
        **gains,
    }
    half = of.get((str(widest // 2), max(cached)))
    if half is not None and not half.is_below(vector) and not too_few((half, vector)):
        limits.append("no_wider_gain")
    elif vector.high < NEARLY_ALL * lanes * scalar.low and not too_few((vector, scalar)):
        limits.append("too_slow_for_vectors")
    if "gain_in_memory" in gains and "gain_in_memory" not in unclear:
        limits.append("still_gains")
    if max(sizes(params)) > LONGEST_LIST_BYTES and any(way == PYTHON for way, _ in of):
        limits.append("python_ends_early")
    if (PYTHON, max(cached)) in of:
        values["python_per_s"] = of[PYTHON, max(cached)].median
    return Finding(_message(pairs, gains), values, tuple(limits), unclear)


def _message(pairs: dict[str, tuple[Spread, Spread]], gains: dict[str, float]) -> str:
    if too_few(pairs["gain_in_l1"]):
        return TOO_FEW
    clear = [name for name, (vector, scalar) in pairs.items() if scalar.is_below(vector)]
    if "gain_in_l1" not in clear:
        return "no_gain"
    if "gain_in_memory" not in gains:
        return "gain_in_cache"
    if "gain_in_memory" not in clear:
        return "gain_in_cache_alone"
    return "gain_fades" if gains["gain_in_memory"] < gains["gain_in_l1"] else "gain_everywhere"


def _first_cache_bytes(machine: Machine) -> int | None:
    usable = usable_threads(machine)
    caches = caches_of(machine, usable[-1].id) if usable else []
    return caches[0].size_bytes if caches else None


def defaults(machine: Machine) -> Params:
    """Go to four last-level caches and at least 64 MiB, within half of the free memory."""
    wanted = max(BEYOND_CACHE * (last_level_cache_bytes(machine) or 0), 64 * MIB)
    free = available_bytes()
    largest = wanted if free is None else min(wanted, int(free * FREE_SHARE))
    suited = Params(largest_bytes=max(_no_less(wanted) if largest == wanted else largest, MIB))
    while seconds(suited) > FULL_S and suited.rounds > FEW_ROUNDS:
        suited = replace(suited, rounds=suited.rounds - 1)
    return suited


def _no_less(size_bytes: int) -> int:
    """Return the next power of two from a size on."""
    return 1 << (size_bytes - 1).bit_length()


def quick(params: Params) -> Params:
    """Go three times, through arrays of 128 MiB at most."""
    return replace(params, largest_bytes=min(params.largest_bytes, 128 * MIB), rounds=3)


def seconds(params: Params) -> float:
    """Estimate: growing to a sample, then the sample; large arrays take longer than that."""
    samples_s = sum(8 * max(SAMPLE_S, size / 8e9) + 0.01 for size in sizes(params))
    return 0.2 + params.largest_bytes / GIB * 0.6 + params.rounds * samples_s


_RATES: dict[str, Any] = {
    "table": "rates",
    "x": Axis("size_bytes", "log2"),
    "series": "way",
    "order": ORDER,
}

_CACHES = tuple(Limit(name, f"{name}_bytes", "x") for name in ("l1", "l2", "l3"))

EXPERIMENT = Experiment(
    id="simd",
    version=2,
    shelf=Shelf.PYTHON_AT_WORK,
    params=Params,
    tables={"rates": Rate},
    measure=measure,
    analyse=analyse,
    views=(
        Lines(
            key="rate",
            y=Axis("elements_per_s", "log10"),
            limits=(
                *_CACHES,
                Limit("all_lanes", "all_lanes_per_s"),
                Limit("memory_bandwidth", "bandwidth_limit_per_s"),
            ),
            **_RATES,
        ),
        Lines(key="bytes", y=Axis("read_bytes_per_s", "log10"), limits=_CACHES, **_RATES),
    ),
    values=(
        Value("scalar_per_s", "per_s", Part.CORES),
        Value("vector_per_s", "per_s", Part.CORES),
        Value("python_per_s", "per_s"),
        Value("gain_in_l1", "ratio"),
        Value("gain_in_memory", "ratio"),
        Value("width_bits", ""),
        Value("lanes", ""),
        Value("all_lanes_per_s", "per_s"),
        Value("bandwidth_limit_per_s", "per_s"),
        Value("l1_bytes", "bytes"),
        Value("l2_bytes", "bytes"),
        Value("l3_bytes", "bytes"),
    ),
    parts=(Part.CORES, Part.L1, Part.MEMORY),
    needs=(Need.NUMBA,),
    imports=("numpy", "numba"),
    defaults=defaults,
    quick=quick,
    seconds=seconds,
    memory_bytes=lambda params: max(sizes(params)) + 12 * MIB,
)
