"""From which size does a GPU win over the processor? Products of matrices, small to large.

Method: square matrices are multiplied on one core, on all cores and on the GPU; without a GPU, one
core is held against all. The GPU's time is taken in three ways: as the device alone needs it, as a
waiting caller sees it, and with copies. The copies bring the factors to the GPU and the product
back, through pinned memory if possible. All in shuffled rounds, after a warm-up of each; if a
product would take too long, its line ends. The lines cross between two sizes: the last clear loss
of the second way, and its first clear win. From that win on, its median must be ahead at every
size.

Not shown: the crossing of other operations. Those that compute less for each number that they move
win later, or never. Small matrices lie in caches, also in the GPU's.

Seen on an H100 beside 16 cores: threads that wake late make the cores' times scatter a hundredfold.
So the crossing lies somewhere between 32 and 768 rows.
To be confirmed on a GPU: double precision on GeForce.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from experiments import api as x
from experiments.devices.assumed import CORE_FLOP_PER_S, GPU_FLOP_PER_S, PINNED_BYTES_PER_S
from experiments.devices.ceilings import arithmetic_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, cores_of, devices_of, on_first_device
from experiments.devices.host_memory import can_pin
from experiments.devices.timing import SAMPLE_S

from .crossing import Crossing, crossing
from .ways import ALL, CALLED, COPIED, KERNEL, KINDS, ONE, Sample, matrices, on_cores, on_gpu

SMALLEST = 16
SLOPES = {"cpu_slope": ALL, "gpu_slope": CALLED}  # the time at the best rate, for every size
ELEMENT_BYTES = {"fp32": 4, "fp64": 8}
TRIES = 3
TOO_MUCH = 1.02  # of a theoretical limit: then something is wrong
NEXT = 1.5**3  # a product of the next size takes at most so many times as long


class Params(x.Params):
    """The parameters; the largest matrices have `largest` rows."""

    device: str = x.param(CPU, choices=devices_of)
    largest: int = x.param(2048, minimum=32, maximum=16384, scale="log2")
    precision: str = x.param("fp32", choices=tuple(ELEMENT_BYTES))
    random: bool = True
    most_s: float = x.param(0.12, minimum=0.001, maximum=5.0)
    rounds: int = x.param(7, minimum=1, maximum=50)


class Product(x.Row):
    """One product of square matrices with `size` rows; a slope has no repeats."""

    size: int = x.column(scale="log2")
    kind: str
    repeat: int
    product_s: float = x.column(scale="log10")
    flop_per_s: float = x.column(scale="log10")


def sizes(params: Params) -> list[int]:
    """Return 16, 24, 32, 48 … up to the largest."""
    steps = {first * 2**doubled for first in (2, 3) for doubled in range(3, 14)}
    return sorted(size for size in steps if SMALLEST <= size <= params.largest)


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield products of all sizes and kinds in shuffled rounds, and their slopes at the end."""
    cpu, device = Device(CPU, bench), Device(params.device, bench)
    torch, cores = cpu.torch, cores_of(bench.machine)
    torch.set_float32_matmul_precision("highest")  # no TF32: the same arithmetic everywhere
    torch.set_num_threads(cores)
    kind = torch.float64 if params.precision == "fp64" else torch.float32
    size, pin = params.largest**2, can_pin(device)
    host = [torch.empty(size, dtype=kind, pin_memory=pin) for _ in range(3)]
    for each in host:
        each.normal_() if params.random else each.zero_()
    here = matrices(host)
    ways = on_cores(cpu, here, cores)
    if device.is_gpu:
        there = matrices([each.to(device.name) for each in host])
        ways |= on_gpu(device, here, there, params.largest)
    conditions = Conditions(device)
    arms: list[tuple[str, int]] = []
    for place, (kind, sample) in enumerate(ways.items()):
        arms += [(kind, size) for size in _in_time(params, sample)]
        yield x.Progress(0.1 * (place + 1) / len(ways))
    rows: list[Product] = []
    number = 0
    for turn, (kind, size) in bench.interleave(arms, params.rounds):
        if turn.round != number:
            yield from conditions.rows(number)
            number = turn.round
        took_s = ways[kind](size)
        if took_s is not None:
            rows.append(_row(size, kind, turn.round, took_s))
            yield rows[-1]
        yield x.Progress(0.1 + 0.9 * turn.fraction)
    yield from conditions.rows(number)
    yield from _slopes(rows)


def _row(size: int, kind: str, repeat: int, product_s: float) -> Product:
    rate = 2 * size**3 / product_s
    return Product(size=size, kind=kind, repeat=repeat, product_s=product_s, flop_per_s=rate)


def _in_time(params: Params, sample: Sample) -> Iterator[int]:
    """Yield the sizes whose product does not take too long; each has then been made.

    A size is tried again before it counts as too large: something else may have been running.
    """
    for size in sizes(params):
        yield size
        tries = (sample(size) or 0.0 for _ in range(TRIES))
        if all(took_s * NEXT > params.most_s for took_s in tries):
            return


def _slopes(rows: Sequence[Product]) -> Iterator[Product]:
    """Yield the best rates' times, from where they come near the shortest time."""
    floor_s = min((row.product_s for row in rows), default=0.0)
    for slope, kind in SLOPES.items():
        best = max((row.flop_per_s for row in rows if row.kind == kind), default=0.0)
        for size in sorted({row.size for row in rows if best}):
            if (slope_s := 2 * size**3 / best) >= floor_s:
                yield Product(size=size, kind=slope, repeat=0, product_s=slope_s, flop_per_s=best)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Find where the lines cross, and their highest and lowest rates."""
    of = x.spreads_of(tables["products"], "product_s", "kind", "size")
    lines: dict[str, dict[int, x.Spread]] = {kind: {} for kind in KINDS}
    for (kind, size), found in of.items():
        if kind in lines:
            lines[kind][size] = found
    values: dict[str, float] = {}
    for name, kind in (("cpu", ALL), ("gpu", CALLED), ("copies", COPIED)):
        if lines[kind]:
            values[f"{name}_floor_s"] = lines[kind][min(lines[kind])].median
    peaks = x.best_of(tables["products"], "flop_per_s", "kind", choose=max)
    for name, kind in (("cpu", ALL), ("gpu", CALLED)):
        if kind in peaks:
            values[f"{name}_peak_flop_per_s"] = peaks[kind]
    limits = x.Limits(["other_work_crosses_elsewhere"])
    largest = max(sizes(params))
    if any(max(lines[kind], default=largest) < largest for kind in (ONE, ALL)):
        limits.append("cores_end_early")
    threads = crossing(lines[ONE], lines[ALL])
    values |= _said("threads_crossover_size", threads)
    if params.device == CPU:
        limits.append("needs_gpu")
        if "cpu_peak_flop_per_s" not in values:
            return x.Finding("in_part", values, tuple(limits))
        return x.Finding(_message_of_cores(threads), values, tuple(limits))
    limits.add("no_kernel_line", not lines[KERNEL])
    peak = arithmetic_flop_per_s(machine, params.device, params.precision)
    if peak is not None:
        values["gpu_limit_flop_per_s"] = peak
        limits.add("above_the_limit", values.get("gpu_peak_flop_per_s", 0.0) > TOO_MUCH * peak)
    called, copied = crossing(lines[ALL], lines[CALLED]), crossing(lines[ALL], lines[COPIED])
    values |= _said("crossover_size", called) | _said("crossover_size_with_copies", copied)
    both = sorted(lines[ALL].keys() & lines[CALLED].keys())
    if not both:
        return x.Finding("in_part", values, tuple(limits))
    compared, unclear = x.ratios({"gpu_speedup": (lines[ALL][both[-1]], lines[CALLED][both[-1]])})
    values |= compared | {"compared_size": both[-1]}
    message = _message(called, copied)
    largest_pair = lines[CALLED][both[-1]], lines[ALL][both[-1]]
    if called is None and (unsure := x.unsure(largest_pair)) is not None:
        message = unsure
    return x.Finding(message, values, tuple(limits), unclear)


def _said(name: str, found: Crossing | None) -> dict[str, float]:
    """Return the size from which the second way is ahead, and the crossing if it was seen.

    If the two sizes lie far apart, no size between them is given.
    """
    if found is None:
        return {}
    told: dict[str, float] = {f"{name}_high": found.high}
    if found.low is not None:
        told[f"{name}_low"] = found.low
        if not found.is_wide:
            told[name] = found.size
    return told


def _message_of_cores(threads: Crossing | None) -> str:
    if threads is None:
        return "cores_alone"
    if threads.low is None:
        return "cores_ahead"
    return "cores_cross_between" if threads.is_wide else "cores_cross"


def _message(called: Crossing | None, copied: Crossing | None) -> str:
    if called is None:
        return "gpu_never_wins"
    if called.low is None:
        return "wins_from_the_smallest"
    if called.is_wide or (copied is not None and copied.is_wide):
        return "crosses_between"
    return "two_crossings" if copied is not None and copied.low is not None else "no_way_back"


def seconds(params: Params) -> float:
    """Estimate from the arithmetic and the copies, at cautious rates for one core and four."""
    rates = [CORE_FLOP_PER_S, 4 * CORE_FLOP_PER_S]
    total_s = 0.5 + params.largest**2 * 2e-8
    if params.device != CPU:
        rates += [GPU_FLOP_PER_S] * 3
        total_s += 2.0
    for place, rate in enumerate(rates):
        for size in sizes(params):
            copied_s = 3 * ELEMENT_BYTES[params.precision] * size**2 / PINNED_BYTES_PER_S
            product_s = 2 * size**3 / rate + 1e-5 + (copied_s if place == 4 else 0.0)
            total_s += (params.rounds + 2) * (2 * product_s + SAMPLE_S)
            if product_s * NEXT > params.most_s:  # the line ends there
                break
    return total_s


_LINES: dict[str, Any] = {
    "table": "products",
    "x": x.Axis("size"),
    "series": "kind",
    "order": (*KINDS, *SLOPES),
}

EXPERIMENT = x.Experiment(
    params=Params,
    tables={"products": Product, "conditions": Condition},
    measure=measure,
    loop="ways.py:on_cores.sample",
    analyse=analyse,
    views=(
        x.Lines(
            "times",
            y=x.Axis("product_s"),
            limits=(
                x.Limit("crossover", "crossover_size", "x"),
                x.Limit("with_copies", "crossover_size_with_copies", "x"),
                x.Limit("threads", "threads_crossover_size", "x"),
                x.Limit("floor", "gpu_floor_s"),
            ),
            **_LINES,
        ),
        x.Lines(
            "rates",
            y=x.Axis("flop_per_s"),
            limits=(x.Limit("gpu_limit", "gpu_limit_flop_per_s"),),
            **_LINES,
        ),
    ),
    values=x.values(
        *(
            f"{name}{end}"
            for name in ("crossover_size", "crossover_size_with_copies", "threads_crossover_size")
            for end in ("", "_low", "_high")
        ),
        x.Value("cpu_peak_flop_per_s", x.Part.CORES),
        x.Value("gpu_peak_flop_per_s", x.Part.GPU),
        "gpu_limit_flop_per_s",
        "cpu_floor_s",
        x.Value("gpu_floor_s", x.Part.GPU),
        "copies_floor_s",
        "gpu_speedup",
        "compared_size",
    ),
    keys=(
        x.Key("crossover_size", "times", at="crossover_size"),
        x.Key("threads_crossover_size", "times", at="threads_crossover_size"),
        x.Key("cpu_peak_flop_per_s", "rates", ("all_cores",)),
    ),
    next=x.Next("gpu-or-not", {"precision": "fp64"}),
    parts=(x.Part.CORES, x.Part.PCIE, x.Part.GPU),
    imports=("torch",),
    defaults=on_first_device(Params, largest=8192),
    quick=x.change(most_s=0.02, rounds=5, at_most={"largest": 1024}),
    smallest=x.change(largest=64, rounds=2),
    budget=x.Budget(full={"largest": 64}, quick={"largest": 64}),
    seconds=seconds,
    memory_bytes=lambda params: 3 * ELEMENT_BYTES[params.precision] * params.largest**2,
)
