"""Is a matrix product of 4095 rows cheaper than one of 4096?

Method: the size of matrix products goes through all numbers around a power of two. Each is timed
several times in shuffled rounds; a GPU with its queue held, so by its own time. Compared are odd
sizes and multiples of 64, by the median of each round. Work is cut into tiles, and loaded 16 bytes
at a time, so sizes that are no multiple waste both. Other precisions are timed at few sizes. A
wide, coarse sweep has round sizes, and sizes one above. There whole tiles, and whole waves of them,
make steps. TF32 is switched for each product. Integers of 8 bits are tried at sizes of their own;
refusals of the library are kept too.
Source: NVIDIA, Matrix Multiplication Background User's Guide (tile and wave quantization).

Not shown: which kernel the library has chosen for a size. It has many, chooses by rules of its own,
and another version chooses otherwise.

Seen on an H100 with cuBLAS 13: odd sizes take 5.5 times as long in half precision, 3.1 in TF32 and
1.06 times in single. int8 is refused where a size is no multiple of 8. Tiles and waves hardly show
in the wide sweep.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from experiments import api as x
from experiments.devices.assumed import CORE_FLOP_PER_S, CPU_FLOP_PER_S, GPU_HALF_FLOP_PER_S
from experiments.devices.ceilings import arithmetic_flop_per_s
from experiments.devices.conditions import Condition, Conditions
from experiments.devices.device import CPU, Device, default_device, devices_of
from experiments.devices.timing import enough, taken, warm, whole_s
from experiments.tools.precisions import FP16, FP32, PRECISIONS, choose

from .products import (
    ALL_PRECISIONS,
    INT8,
    LEAST,
    Products,
    precisions_of,
    products_bytes,
    refuses,
)

CHANGES = ("all", "m", "n", "k")  # rows, columns, and the inner size that is summed over
ALIGNED, ODD = "by_64", "odd"
# A size belongs to the first that divides it.
MULTIPLES = {64: ALIGNED, 16: "by_16", 8: "by_8", 2: "even", 1: ODD}
ORDER = tuple(MULTIPLES.values())
PROBES = (-64, -63, -1, 0, 1, 64)  # from the power of two, in each other precision
INT8_PROBES = (-64, -16, -8, -2, -1, 0, 1, 8, 16, 64)
EIGHTS = "by_8"
SAMPLE_S = 2e-3
HARDLY = 0.02  # longer: within that a product takes the same time
ABOVE = 1.02  # of a limit, and more, is suspect


class Params(x.Params):
    """The parameters; `span` is how far the sizes go to both sides of `size`."""

    device: str = x.param(CPU, choices=devices_of)
    precision: str = x.param(FP32, choices=PRECISIONS)
    size: int = x.param(512, minimum=128, maximum=16384, scale="log2")
    span: int = x.param(64, minimum=4, maximum=256)
    changed: str = x.param("all", choices=CHANGES)
    wide_sizes: int = x.param(33, minimum=3, maximum=129)
    rounds: int = x.param(10, minimum=1, maximum=50)


class FineProduct(x.Row):
    """One product of the fine sweep; `multiple` is the number that its size is a multiple of."""

    precision: str
    multiple: str
    size: int
    repeat: int
    took_s: float
    flop_per_s: float


class Wide(FineProduct):
    """One product of the wide sweep."""


class Probe(FineProduct):
    """One product of few sizes; in the fine sweep's precision it is one of that as well."""


class Refused(x.Row):
    """A size for which the library has no product."""

    precision: str
    multiple: str
    size: int


Arm = tuple[type[FineProduct], str, int]  # which sweep, which precision, which size


def multiple_of(size: int) -> str:
    """Return the multiple that a size belongs to."""
    return next(name for each, name in MULTIPLES.items() if size % each == 0)


def arms(params: Params, precisions: Sequence[str]) -> list[Arm]:
    """Return all timed products; the wide sweep goes from half of the size to half above."""
    fine = range(params.size - params.span, params.size + params.span + 1)
    wide = {
        (params.size // 2 + params.size * n // (params.wide_sizes - 1)) // 64 * 64
        for n in range(params.wide_sizes)
    }
    found: list[Arm] = [(FineProduct, params.precision, size) for size in fine]
    found += [(Wide, params.precision, size + one) for size in sorted(wide) for one in (0, 1)]
    others = [each for each in precisions if each != params.precision]
    found += [
        (Probe, each, params.size + n)
        for each in others
        for n in (INT8_PROBES if each == INT8 else PROBES)
    ]
    return [arm for arm in found if arm[2] > 1]


def shape_of(params: Params, size: int) -> tuple[int, int, int]:
    """Return (rows, columns, inner size) of the product of that size."""
    m, n, k = (size if params.changed in ("all", each) else params.size for each in ("m", "n", "k"))
    return m, n, k


def measure(params: Params, bench: x.Bench) -> x.Measured:
    """Yield one row for each product and round."""
    device = Device(params.device, bench)
    params = replace(params, size=device.fitting(params.size, products_bytes, LEAST))
    precisions = precisions_of(device)
    if params.precision not in precisions:
        raise x.UserError("precision_not_there", precision=params.precision, device=params.device)
    wanted = arms(params, precisions)
    products = {
        each: Products(device, each, max(size for _, name, size in wanted if name == each))
        for each in precisions
    }
    calls = {arm: products[arm[1]].product(*shape_of(params, arm[2])) for arm in wanted}
    counts = {}
    for precision in precisions:
        choose(device, precision)
        call = products[precision].product(*shape_of(params, params.size))
        warm(device, call)
        counts[precision] = enough(device, call, SAMPLE_S)
    yield x.Progress(0.05)
    for number, (arm, call) in enumerate(list(calls.items())):
        _, precision, size = arm
        choose(device, precision)
        try:
            whole_s(device, call)  # loads the kernel for this size
        except (TypeError, RuntimeError) as error:
            if precision != INT8 or not refuses(error):
                raise
            del calls[arm]
            yield Refused(precision=precision, multiple=multiple_of(size), size=size)
        yield x.Progress(0.05 + 0.1 * number / len(wanted))
    conditions = Conditions(device)
    looked = 0
    for turn, arm in bench.interleave(list(calls), params.rounds):
        if turn.round != looked:
            yield from conditions.rows(looked)
            looked = turn.round
        sweep, precision, size = arm
        choose(device, precision)
        took_s = taken(device, calls[arm], counts[precision]).device_s
        m, n, k = shape_of(params, size)
        is_probe = sweep is FineProduct and size - params.size in PROBES
        kinds: tuple[type[FineProduct], ...] = (sweep, Probe) if is_probe else (sweep,)
        for kind in kinds:
            yield kind(
                precision=precision,
                multiple=multiple_of(size),
                size=size,
                repeat=turn.round,
                took_s=took_s,
                flop_per_s=2 * m * n * k / took_s,
            )
        yield x.Progress(0.15 + 0.85 * turn.fraction)
    yield from conditions.rows(looked)
    choose(device, FP32)


def analyse(params: Params, tables: x.Tables, machine: x.Machine) -> x.Finding:
    """Compare odd sizes with multiples of 64, in each precision."""
    steps = tables["steps"]
    probes = [row for row in tables["probes"] if row.precision != params.precision]
    of = x.spreads_of([*steps, *probes], "flop_per_s", "precision", "multiple")
    limits = x.Limits()
    values: dict[str, float] = {}
    pairs = {}
    for precision in ALL_PRECISIONS:
        names = [f"_{precision}", *([""] if precision == params.precision else [])]
        aligned, odd = of.get((precision, ALIGNED)), of.get((precision, ODD))
        for name in names:
            if aligned is not None:
                values[f"aligned{name}_flop_per_s"] = aligned.median
            if odd is not None:
                values[f"misaligned{name}_flop_per_s"] = odd.median
            if aligned is not None and odd is not None:
                pairs[f"penalty{name}"] = aligned, odd
    eights = of.get((INT8, EIGHTS))
    if eights is not None:
        values["eights_int8_flop_per_s"] = eights.median
    whole, half = of.get((INT8, ALIGNED)), of.get((FP16, ALIGNED))
    if params.device != CPU and whole is not None and half is not None and whole.is_below(half):
        limits.append("int8_is_slow")
    if any(row.multiple == EIGHTS for row in tables["refused"]):
        limits.append("int8_takes_sixteens")
    elif any(row.multiple in ("even", ODD) for row in tables["refused"]):
        limits.append("int8_takes_eights")
    elif steps and params.device != CPU and all(row.precision != INT8 for row in probes):
        limits.append("int8_left_out")
    best = x.spreads_of(steps, "flop_per_s", "size", multiple=ALIGNED)
    if best:
        values["best_aligned_flop_per_s"] = max(each.median for each in best.values())
    peak = arithmetic_flop_per_s(machine, params.device, params.precision)
    if peak is not None:
        values["peak_flop_per_s"] = peak
        limits.add("above_the_limit", values.get("aligned_flop_per_s", 0.0) > ABOVE * peak)
    limits.add("smaller_than_asked", any(row.size < params.size - params.span for row in steps))
    limits.add("one_size_changed", params.changed != "all")
    limits.add("tiles_need_gpu", params.device == CPU)
    limits.append("library_chooses")
    limits.add("other_precisions_left_out", steps and not probes)
    limits.add("peak_unknown", peak is None)
    compared, unclear = x.ratios(pairs)
    values |= compared
    size = _middle(params, steps)
    took = x.spreads_of(steps, "took_s", "size")
    at, below = took.get(size), took.get(size - 1)
    if "penalty" not in pairs or at is None or below is None:
        return x.Finding("in_part", values, tuple(limits), unclear)
    values |= {"size": size, "size_s": at.median, "one_less": size - 1, "one_less_s": below.median}
    message = _message(params, *pairs["penalty"], is_longer=at.is_below(below))
    return x.Finding(message, values, tuple(limits), unclear)


def _middle(params: Params, steps: Sequence[FineProduct]) -> int:
    """Return the middle size, which was halved if memory was short."""
    size, largest = params.size, max((row.size for row in steps), default=params.size)
    while size > largest:
        size //= 2
    return size


def _message(params: Params, aligned: x.Spread, odd: x.Spread, *, is_longer: bool) -> str:
    """Return the message; on a processor there is nothing to see unless its own data differ."""
    if x.too_few((aligned, odd)):
        return x.TOO_FEW
    found = aligned.against(odd, within=HARDLY)
    if found.outcome is x.Outcome.UNKNOWN:
        return "processor_cannot_tell" if params.device == CPU else x.CANNOT_TELL
    if found.outcome is x.Outcome.SAME:
        return "processor_shows_nothing" if params.device == CPU else "the_same"
    if not found.is_above:
        return "odd_is_faster"
    return "less_work_took_longer" if is_longer else "odd_is_slower"


def defaults(machine: x.Machine) -> Params:
    """Take half precision and 4096 rows on a fast GPU; on the processor products of few ms."""
    device = default_device(machine)
    if device != CPU:
        peak = arithmetic_flop_per_s(machine, device, FP16) or 0.0
        size = 4096 if 1e-3 * peak > 2 * 4096**3 else 2048
        return Params(device=device, precision=FP16, size=size)
    cores = x.physical_cores(machine) or 1
    size = 256
    while size < 1024 and 2 * (2 * size) ** 3 < 5e-3 * cores * CORE_FLOP_PER_S:
        size *= 2
    return Params(device=CPU, size=size)


def seconds(params: Params) -> float:
    """Estimate from the operations, at cautious rates; half precision on GPUs is faster."""
    rate = CPU_FLOP_PER_S if params.device == CPU else GPU_HALF_FLOP_PER_S
    products = arms(params, ALL_PRECISIONS if params.device != CPU else (params.precision,))
    total_s = 1.0 if params.device == CPU else 3.0  # to load the library
    for _, _, size in products:
        m, n, k = shape_of(params, size)
        product_s = 2 * m * n * k / rate
        total_s += 2 * product_s + params.rounds * (max(SAMPLE_S, product_s) + 5e-4)
    return total_s


EXPERIMENT = x.Experiment(
    params=Params,
    tables={
        "steps": FineProduct,
        "wide": Wide,
        "probes": Probe,
        "refused": Refused,
        "conditions": Condition,
    },
    measure=measure,
    loop="products.py:Products.product",
    analyse=analyse,
    views=(
        x.Lines(
            "steps",
            "steps",
            x.Axis("size"),
            x.Axis("flop_per_s"),
            series="multiple",
            order=ORDER,
            limits=(
                x.Limit("aligned", "best_aligned_flop_per_s"),
                x.Limit("peak", "peak_flop_per_s"),
            ),
        ),
        x.Lines(
            "wide",
            "wide",
            x.Axis("size"),
            x.Axis("flop_per_s"),
            series="multiple",
            order=ORDER,
            limits=(x.Limit("peak", "peak_flop_per_s"),),
        ),
        x.Bars(
            "probes",
            "probes",
            "precision",
            "flop_per_s",
            detail="multiple",
            order=(*ALL_PRECISIONS, *ORDER),
        ),
    ),
    values=x.values(
        *(
            name
            for which in ("", *(f"_{precision}" for precision in ALL_PRECISIONS))
            for name, unit in (
                (f"aligned{which}_flop_per_s", "flop/s"),
                (f"misaligned{which}_flop_per_s", "flop/s"),
                (f"penalty{which}", ""),
            )
        ),
        "eights_int8_flop_per_s",
        "best_aligned_flop_per_s",
        "peak_flop_per_s",
        "size",
        "size_s",
        "one_less",
        "one_less_s",
    ),
    keys=(
        x.Key("size_s", "steps", ("by_64",), at="size"),
        x.Key("one_less_s", "steps", ("odd",), at="one_less"),
        x.Key("penalty", "steps", ("odd",)),
    ),
    next=x.Next("amp", {"changed": "k"}),
    parts=(x.Part.CORES, x.Part.GPU),
    imports=("torch",),
    defaults=defaults,
    quick=x.change(wide_sizes=9, rounds=5, at_most={"span": 16}),
    smallest=x.change(size=128, span=4, wide_sizes=3, rounds=2),
    budget=x.Budget(full={"rounds": 3, "size": 256}, quick={"size": 256}, quick_s=3.5),
    seconds=seconds,
    memory_bytes=lambda params: products_bytes(params.size) if params.device == CPU else 0,
)
