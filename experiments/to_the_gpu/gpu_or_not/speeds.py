"""Short samples of a device and the copies to it, from which a time is estimated.

A GPU's own clock times its memory and its arithmetic. The data exceed its cache, and the work is
enough for all of its units. A copy to it is timed by the caller's clock, as the caller waits for
it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from experiments.devices.ceilings import cache_bytes
from experiments.devices.device import CPU, Device, cores_of
from experiments.devices.timing import each_s, enough, taken, whole_s
from machine.record import Record

from .works import ELEMENTWISE, PRODUCT, WorkStep

CALLS = 50
STEPS = 3
BEYOND_CACHE = 8  # times a GPU's last cache
UNKNOWN_L2_BYTES = 2**26
PRODUCT_ROWS, HALF_ROWS = 512, 128  # processors may be very slow in half precision
MANY_CORES_ROWS = {8: 1024, 64: 2048}  # from so many cores on
GPU_ROWS = 4096
SORT_ROWS, GPU_SORT_ROWS, SORT_COLUMNS = 256, 4096, 1024


class Speeds(Record, kw_only=False):
    """One sample of each speed; the processor has no copies."""

    is_queued: bool
    call_s: float
    ask_s: float
    bytes_per_s: float
    operations_per_s: float | None
    there_bytes_per_s: float | None = None
    back_bytes_per_s: float | None = None

    def pieces(self, work: WorkStep, steps: int, *, asks: bool) -> dict[str, float]:
        """Return the parts of the steps' time: only those that limit it.

        The processor calls, and then computes. If calls are queued, the longest part hides the
        others.
        """
        parts = {
            "calls": self.call_s,
            "memory": work.needed_bytes / self.bytes_per_s,
            "arithmetic": work.operations / self.operations_per_s if self.operations_per_s else 0.0,
        }
        longest = max(parts if self.is_queued else ("memory", "arithmetic"), key=parts.__getitem__)
        held_back = {longest} if self.is_queued else {"calls", longest}
        found = {name: steps * part_s for name, part_s in parts.items() if name in held_back}
        return found | {"asking": (steps if asks else 1) * self.ask_s}

    def copies(self, work: WorkStep) -> dict[str, float]:
        """Return the copies there and back, nothing if there are none.

        A copy costs at least as much as reading one number.
        """
        if self.there_bytes_per_s is None or self.back_bytes_per_s is None:
            return {}
        return {
            "there": work.inputs_count * self.ask_s + work.bytes_there / self.there_bytes_per_s,
            "back": self.ask_s + work.bytes_back / self.back_bytes_per_s,
        }


def sampler(device: Device, work: WorkStep, probe_bytes: int) -> Callable[[], Speeds]:
    """Return a call that samples everything, warm.

    The way there is sampled by copies of `probe_bytes`, a GPU's memory by more where its cache
    would hold them.
    """
    torch = device.torch
    number = torch.zeros(1, device=device.name)
    memory_bytes = _memory_bytes(device, probe_bytes)
    source = torch.randn(memory_bytes // 4, device=device.name)
    target = torch.empty_like(source)
    copy = functools.partial(target.copy_, source)
    ways: list[Callable[[], object]] = []
    if device.is_gpu:  # the ordinary memory of a program, not pinned
        here = torch.empty(min(probe_bytes, memory_bytes) // 4).normal_()
        there, back = (each[: len(here)] for each in (target, source))
        ways = [functools.partial(there.copy_, here), functools.partial(here.copy_, back)]
    little = _little(device, work)
    step, _ = little.step(device, little.inputs(device))
    copies, steps = (enough(device, w) for w in (copy, step)) if device.is_gpu else (1, STEPS)

    def own_s(work: Callable[[], object], count: int) -> float:
        if device.is_gpu:
            return taken(device, work, count).device_s
        return each_s(device, work, count)

    def sample() -> Speeds:
        call_s = each_s(device, functools.partial(number.add_, 1), CALLS)
        ask_s = each_s(device, number.item, CALLS)
        copy_s = own_s(copy, copies)
        step_s = own_s(step, steps) if work.kind != ELEMENTWISE else 0.0
        rates = [4 * len(here) / whole_s(device, way) for way in ways]
        return Speeds(
            device.is_gpu,
            call_s,
            ask_s,
            2 * memory_bytes / copy_s,
            little.operations / step_s if step_s else None,
            *rates,
        )

    sample()
    return sample


def _memory_bytes(device: Device, probe_bytes: int) -> int:
    """Return how much memory is copied: on a GPU more than its cache holds, if there is room."""
    if not device.is_gpu:
        return probe_bytes
    held_bytes = cache_bytes(device.bench.machine, device.name) or UNKNOWN_L2_BYTES
    return max(4, min(max(probe_bytes, BEYOND_CACHE * held_bytes), device.free_bytes() // 4))


def product_rows(device: str, precision: str, cores: int) -> int:
    """Return the rows of a product that keeps the whole device busy, and is soon done."""
    if device != CPU:
        return GPU_ROWS
    if precision in ("fp16", "bf16"):
        return HALF_ROWS
    return max([PRODUCT_ROWS, *(rows for least, rows in MANY_CORES_ROWS.items() if cores >= least)])


def _little(device: Device, work: WorkStep) -> WorkStep:
    if work.kind == PRODUCT:
        cores = cores_of(device.bench.machine)
        rows = columns = product_rows(device.name, work.precision, cores)
    else:
        rows, columns = GPU_SORT_ROWS if device.is_gpu else SORT_ROWS, SORT_COLUMNS
    return WorkStep(work.kind, min(rows, work.rows), min(columns, work.columns), work.precision)
