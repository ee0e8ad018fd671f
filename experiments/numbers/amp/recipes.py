"""Two recipes of mixed precision, right and wrong: clipping gradients, and a nested region.

Clipping: the scaler multiplies gradients by its scale, so a largest norm means nothing before
`unscale_`. Every step is then clipped to next to nothing. A nested region that switches autocast
off does not widen what it is given; only `.float()` does.
Source: torch's documentation of automatic mixed precision, examples ("Gradient clipping") and
reference (`torch.autocast`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from experiments import api as x
from experiments.devices.device import CPU, Device
from experiments.tools.precisions import BF16, FP16, FP32, choose, kind_of

from .training import CLIP_SCALED, CLIP_UNSCALED, Learner

CLIPS = (CLIP_UNSCALED, CLIP_SCALED)
OUTER, KEPT, CONVERTED = REGIONS = ("outer", "kept", "converted")
MOST_STEPS = 60
NESTED_ROWS = 256


class Clipped(x.Row):
    """A step's loss in fp16 with a scaler, clipped after `unscale_` or before."""

    clip: str
    step: int
    loss: float


class Nested(x.Row):
    """The relative error of a product: in the outer region, nested as it came, nested widened."""

    region: str
    error_fraction: float = x.column(scale="log10")


def clipped(learner: Learner, clip: str, steps: int, bench: x.Bench) -> Iterator[Clipped]:
    """Yield the losses of a learner that clips in this way."""
    for step in range(min(steps, MOST_STEPS)):
        bench.check_stop()
        loss = float(learner.step().item())
        if not math.isfinite(loss):
            return
        yield Clipped(clip=clip, step=step, loss=loss)


def nested(device: Device) -> Iterator[Nested]:
    """Yield the error of one product in each region; its factor comes from the outer one."""
    torch, kind = device.torch, kind_of(device.torch, BF16 if device.kind == CPU else FP16)
    choose(device, FP32)
    first = torch.randn(NESTED_ROWS, NESTED_ROWS, device=device.name)
    found = {}
    with torch.autocast(device.kind, dtype=kind):
        factor = torch.mm(first, first) / NESTED_ROWS**0.5
        factor = factor.to(kind)
        found[OUTER] = torch.mm(factor, factor)
        with torch.autocast(device.kind, dtype=kind, enabled=False):
            found[KEPT] = torch.mm(factor, factor)
            found[CONVERTED] = torch.mm(factor.float(), factor.float())
    exact = factor.cpu().double()
    exact = exact @ exact
    for region, result in found.items():
        error = (result.cpu().double() - exact).norm() / exact.norm()
        yield Nested(region=region, error_fraction=float(error))
