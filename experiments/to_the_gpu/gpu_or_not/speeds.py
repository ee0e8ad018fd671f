"""Short samples of a device and the copies to it, from which a time is estimated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

from experiments.devices.device import CPU, Device
from experiments.devices.timing import each_s, whole_s

from .works import ELEMENTWISE, PRODUCT, WorkStep

CALLS = 50
STEPS, QUEUED_STEPS = 3, 20
PRODUCT_ROWS, HALF_ROWS = 512, 128  # processors may be very slow in half precision
SORT_ROWS, SORT_COLUMNS = 256, 1024


@dataclass(frozen=True, slots=True)
class Speeds:
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

        The processor calls, and then computes. Where calls are queued, the longest part hides the
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
    """Return a call that samples everything, warm; memory by copies of `probe_bytes`."""
    torch = device.torch
    number = torch.zeros(1, device=device.name)
    source = torch.randn(probe_bytes // 4, device=device.name)
    target = torch.empty_like(source)
    ways: list[Callable[[], object]] = []
    if device.is_gpu:  # the ordinary memory of a program, not pinned
        here = torch.empty(probe_bytes // 4).normal_()
        ways = [functools.partial(target.copy_, here), functools.partial(here.copy_, source)]
    little = _little(device, work)
    step, _ = little.step(device, little.inputs(device))
    steps = QUEUED_STEPS if device.is_gpu else STEPS

    def sample() -> Speeds:
        call_s = each_s(device, functools.partial(number.add_, 1), CALLS)
        ask_s = each_s(device, number.item, CALLS)
        copy_s = whole_s(device, lambda: target.copy_(source))
        step_s = each_s(device, step, steps) if work.kind != ELEMENTWISE else 0.0
        rates = [probe_bytes / whole_s(device, way) for way in ways]
        return Speeds(
            device.is_gpu,
            call_s,
            ask_s,
            2 * probe_bytes / copy_s,
            little.operations / step_s if step_s else None,
            *rates,
        )

    sample()
    return sample


def _little(device: Device, work: WorkStep) -> WorkStep:
    if work.kind != PRODUCT:
        rows, columns = SORT_ROWS, SORT_COLUMNS
    else:
        is_slow = device.name == CPU and work.precision in ("fp16", "bf16")
        rows = columns = HALF_ROWS if is_slow else PRODUCT_ROWS
    return WorkStep(work.kind, min(rows, work.rows), min(columns, work.columns), work.precision)
