"""The samples of a GPU's roofline: its flat parts, its slope and the points below.

torch's operations each read and write the GPU's memory. A product of two thin matrices climbs the
slope: the thicker they are, the more it computes for each number that it moves. It turns at the
ridge. Arrays exceed the GPU's last cache, and numbers are random: zeros would take less power. A
product is timed for milliseconds, too short to reach the power limit: therefore one goes on for a
second.
"""

from __future__ import annotations

import functools
import itertools
import math
import statistics
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from experiments import api as x
from experiments.devices.conditions import Conditions
from experiments.devices.device import Device
from experiments.devices.failures import device_problem
from experiments.devices.timing import MOST_QUEUED, enough, taken, warm, whole_s

from .arms import READ, Peak, Point, Rate, Row, bandwidths, with_rate

GPU_PRECISIONS = ("fp64", "fp32", "tf32", "fp16", "bf16", "fp8")
ROOF = "roof"  # single precision, like the points; the others have theirs in the name
OTHER_ROOFS = tuple(f"roof_{name}" for name in GPU_PRECISIONS if name != "fp32")
THICK, FEW_THICK = (1, 4, 16, 64, 256, 1024), (1, 16, 256)
SHARE = 16  # of the memory that may be taken: three arrays, and matrices in each precision
MOST_ROWS, STEP_ROWS = 8192, 16
ELEMENT_BYTES = 4
MOST_S = 0.05  # of one product: half precision is fast, double precision may be slow
AMPERE, FP8_UNITS = (8, 0), (8, 9)  # compute capabilities
LONG_S, WINDOW_S, BEHIND = 1.0, 0.05, 2
LONG_PRECISIONS = ("bf16", "fp16", "fp32")  # the first that is there


class Sustained(x.Row):
    """A twentieth of a second of one large product, again and again; `at_s` is when it ended."""

    precision: str
    at_s: float
    flop_per_s: float


class Arm(x.Record, kw_only=False):
    """Calls of one kind, and the row for a round and the seconds of one call."""

    call: Callable[[], object]
    row: Callable[[int, float], Row]
    tf32: bool = False


def measure_gpu(name: str, array_bytes: int, few: bool, rounds: int, bench: x.Bench) -> x.Measured:
    """Yield peaks, rates and points in shuffled rounds, and at the end the roofs over them."""
    device = Device(name, bench)
    conditions = Conditions(device)
    array_bytes = min(array_bytes, device.free_bytes() // SHARE)
    arms = [*_memory_arms(device, array_bytes, FEW_THICK if few else THICK)]
    products: dict[str, Arm] = {}
    for precision in GPU_PRECISIONS:
        arm = large_product(device, precision, array_bytes)
        if arm is None:
            yield x.Note("precision_left_out", {"precision": precision})
        else:
            arms.append(arm)
            products[precision] = arm
    yield x.Progress(0.1)
    counts = {}
    for place, arm in enumerate(arms):
        _choose(device, arm)
        counts[place] = enough(device, arm.call)
        yield x.Progress(0.1 + 0.1 * place / len(arms))
    rows: list[Row] = []
    number = 0
    for turn, place in bench.interleave(range(len(arms)), rounds):
        if turn.round != number:
            yield from conditions.rows(number)
            number = turn.round
        _choose(device, arms[place])
        took_s = taken(device, arms[place].call, counts[place]).device_s
        found = list(with_rate(arms[place].row(turn.round, took_s)))
        rows += found
        yield from found
        yield x.Progress(0.2 + 0.8 * turn.fraction)
    yield from conditions.rows(number)
    for precision in [each for each in LONG_PRECISIONS if each in products][:1]:
        _choose(device, products[precision])
        yield from _sustained(device, precision, products[precision])
    yield from roofs(rows)


def _sustained(device: Device, precision: str, arm: Arm) -> Iterator[Sustained]:
    """Yield one product's rate while it is called for a second without a pause."""
    took_s = taken(device, arm.call).device_s
    count = max(1, min(MOST_QUEUED, round(WINDOW_S / took_s)))
    begin_s, marks = device.bench.now_s(), [device.mark()]
    while device.bench.now_s() - begin_s < LONG_S:
        device.bench.check_stop()
        for _ in range(count):
            arm.call()
        marks.append(device.mark())
        if len(marks) > BEHIND:
            marks[-BEHIND].wait()  # the last one waits behind the running one
    marks[-1].wait()
    for before, after in itertools.pairwise(marks):
        row = arm.row(0, after.since(before) / count)
        if isinstance(row, Peak):
            at_s = after.since(marks[0])
            yield Sustained(precision=precision, at_s=at_s, flop_per_s=row.flop_per_s)


def sustained_flop_per_s(rows: Sequence[Sustained]) -> float | None:
    """Return the work of all windows by their time, None before most of the second was seen."""
    if not rows or rows[-1].at_s < 0.9 * LONG_S:
        return None
    return statistics.harmonic_mean([row.flop_per_s for row in rows])  # equal work in each


def _choose(device: Device, arm: Arm) -> None:
    device.torch.set_float32_matmul_precision("high" if arm.tf32 else "highest")


def _memory_arms(device: Device, array_bytes: int, thick: Sequence[int]) -> Iterator[Arm]:
    """Yield what only moves data, then what computes more and more for each byte."""
    torch = device.torch
    size = array_bytes // ELEMENT_BYTES
    a, b, c = (torch.randn(size, device=device.name) for _ in range(3))
    total = torch.empty((), device=device.name)
    rows = _rows(array_bytes)
    warm(device, lambda: a.copy_(b))
    moves: dict[str, tuple[Callable[[], object], int]] = {
        "copy": (lambda: a.copy_(b), 2),
        READ: (lambda: torch.sum(b, 0, out=total), 1),
    }
    for kernel, (call, arrays) in moves.items():
        yield Arm(call, functools.partial(_rate, kernel, arrays * size * ELEMENT_BYTES))
    yield _point("triad", lambda: torch.add(b, c, alpha=3.0, out=a), 2 * size, 3 * size)
    yield _point("dot", lambda: torch.dot(b, c), 2 * size, 2 * size)
    product = a.narrow(0, 0, rows * rows).view(rows, rows)
    for inner in sorted({min(inner, rows) for inner in thick}):
        left = b.narrow(0, 0, rows * inner).view(rows, inner)
        right = c.narrow(0, 0, rows * inner).view(inner, rows)
        call = functools.partial(torch.mm, left, right, out=product)
        yield _point("thin", call, 2 * rows * rows * inner, rows * (2 * inner + rows))
    left, right = (each.narrow(0, 0, rows * rows).view(rows, rows) for each in (b, c))
    square = functools.partial(torch.mm, left, right, out=product)
    yield _point("matmul", square, 2 * rows**3, 3 * rows**2)


def large_product(device: Device, precision: str, array_bytes: int) -> Arm | None:
    """Return a large product, None if the device lacks this precision."""
    torch = device.torch
    if not _has_units(device, precision):
        return None
    kinds = {
        "fp64": torch.float64,
        "fp16": torch.float16,
        "bf16": torch.bfloat16,
        "fp8": torch.float8_e4m3fn,
    }
    rows = _rows(array_bytes)
    try:
        kind = kinds.get(precision, torch.float32)
        factors = [torch.randn(rows, rows, device=device.name).to(kind) for _ in range(2)]
        while True:
            call = _product(device, precision, *factors)
            whole_s(device, call)  # loads the kernel
            if whole_s(device, call) <= MOST_S or rows <= STEP_ROWS:
                break
            rows //= 2
            factors = [factor[:rows, :rows].contiguous() for factor in factors]
    except (TypeError, ValueError, RuntimeError) as error:
        if device_problem(error) is not None:
            raise
        return None
    units = _units(device)
    return Arm(call, functools.partial(_peak, precision, units, 2 * rows**3), precision == "tf32")


def _product(device: Device, precision: str, left: Any, right: Any) -> Callable[[], object]:
    """Return the call of the product of two matrices, for fp8 with the transpose of the second.

    A matrix times itself would be read once instead of twice. Of fp8 the units read both factors
    along the inner size, and round sums as they do fastest.
    Source: the documentation of torch.nn.functional.scaled_mm.
    """
    torch = device.torch
    if precision != "fp8":
        return functools.partial(torch.mm, left, right, out=torch.empty_like(left))
    functional, one = torch.nn.functional, torch.ones((), device=device.name)
    scale = one, functional.ScalingType.TensorWise
    return functools.partial(
        functional.scaled_mm, left, right.t(), *scale, *scale,
        output_dtype=torch.bfloat16, use_fast_accum=True,
    )  # fmt: skip


def _has_units(device: Device, precision: str) -> bool:
    """Does the device have units for this precision? Otherwise torch computes in another."""
    if precision not in ("tf32", "bf16", "fp8"):
        return True
    if precision == "fp8" and not hasattr(device.torch.nn.functional, "scaled_mm"):
        return False  # an older torch
    if device.kind != "cuda" or device.torch.version.hip:
        return precision == "bf16"
    capability = device.backend.get_device_capability(device.index)
    return tuple(capability) >= (FP8_UNITS if precision == "fp8" else AMPERE)


def _units(device: Device) -> int:
    if device.kind != "cuda":
        return 0
    return int(device.backend.get_device_properties(device.index).multi_processor_count)


def _rows(array_bytes: int) -> int:
    """Return the rows of square matrices that fit an array, in double precision too."""
    return max(STEP_ROWS, min(MOST_ROWS, math.isqrt(array_bytes // 8) // STEP_ROWS * STEP_ROWS))


def _peak(precision: str, units: int, flop: float, repeat: int, took_s: float) -> Peak:
    return Peak(precision=precision, cores=units, repeat=repeat, flop_per_s=flop / took_s)


def _rate(kernel: str, moved_bytes: float, repeat: int, took_s: float) -> Rate:
    return Rate(kernel=kernel, repeat=repeat, bytes_per_s=moved_bytes / took_s)


def _point(kernel: str, call: Callable[[], object], flop: float, elements: int) -> Arm:
    intensity = flop / (elements * ELEMENT_BYTES)

    def row(repeat: int, took_s: float) -> Point:
        return Point(
            kernel=kernel, repeat=repeat, flop_per_byte=intensity, flop_per_s=flop / took_s
        )

    return Arm(call, row)


def gpu_peaks(peaks: Sequence[Peak], points: Sequence[Point]) -> dict[str, float]:
    """Return the roof's flat part by precision: the highest median of all its products."""
    found = x.medians((peak.precision, peak.flop_per_s) for peak in peaks)
    products = x.medians(
        (point.flop_per_byte, point.flop_per_s)
        for point in points
        if point.kernel in ("matmul", "thin")
    )
    if "fp32" in found:
        found["fp32"] = max([found["fp32"], *products.values()])
    return found


def roofs(rows: Sequence[Any]) -> Iterator[Point]:
    """Yield the corners and ends of all roofs; higher ones leave the slope later."""
    points = [row for row in rows if isinstance(row, Point)]
    peaks = gpu_peaks([row for row in rows if isinstance(row, Peak)], points)
    rates = [row for row in rows if isinstance(row, Rate)]
    slope = max(bandwidths(rates).values(), default=0.0)
    if not points or not slope or "fp32" not in peaks:
        return
    first = min(point.flop_per_byte for point in points) / 2
    last = 2 * max(*(peak / slope for peak in peaks.values()), *(p.flop_per_byte for p in points))
    for precision, peak in sorted(peaks.items()):
        begin = first if precision == "fp32" else min(peak, peaks["fp32"]) / slope
        for at in (begin, peak / slope, last):
            name = ROOF if precision == "fp32" else f"{ROOF}_{precision}"
            yield Point(kernel=name, repeat=0, flop_per_byte=at, flop_per_s=min(peak, slope * at))
