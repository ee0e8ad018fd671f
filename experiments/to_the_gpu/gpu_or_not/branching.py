"""One kernel in which some numbers need many laps of a loop and others few, alike or mixed.

The incomplete gamma function sums a series until it is exact: two laps for 0.001, some sixty for
18. The numbers are the same in both orders. In one order a thousand neighbours need the same. In
the other it is a toss-up, so all 32 threads of a GPU's warp wait for the longest loop.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from experiments.devices.device import Device
from experiments.devices.failures import device_problem
from experiments.devices.timing import enough, taken

ALIKE, MIXED = ORDERS = ("alike", "mixed")
SHAPE, FEW_LAPS, MANY_LAPS = 19.0, 0.001, 18.0
CPU_NUMBERS, GPU_NUMBERS = 2**17, 2**22
NEIGHBOURS = 2**10


def branching(device: Device, numbers: int) -> dict[str, Callable[[], float]]:
    """Return for each order a call that returns a number's seconds; none if torch lacks it."""
    torch = device.torch
    many = torch.arange(numbers) // NEIGHBOURS % 2 == 1
    generator = torch.Generator().manual_seed(1)
    mixed = many[torch.randperm(numbers, generator=generator)]
    shape = torch.full((numbers,), SHAPE, device=device.name)
    out = torch.empty_like(shape)

    def sample(work: Callable[[], object], count: int) -> float:
        return taken(device, work, count).device_s / numbers

    found: dict[str, Callable[[], float]] = {}
    for order, are_many in ((ALIKE, many), (MIXED, mixed)):
        given = torch.where(are_many, MANY_LAPS, FEW_LAPS).to(device.name)
        work = functools.partial(torch.special.gammainc, shape, given, out=out)
        try:
            found[order] = functools.partial(sample, work, enough(device, work))
        except (TypeError, RuntimeError) as error:
            if device_problem(error) is not None:
                raise
            return {}
    return found
