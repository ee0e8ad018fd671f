"""Host memory that a GPU copies to and from: pinned or pageable, and near the GPU.

Pinned memory cannot move, so a GPU copies it by itself. All other memory is pageable: the driver
copies it piece by piece through pinned memory of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from experiments.devices.device import Device
from machine.memory.nodes import usable_nodes
from machine.model import usable_threads

PAGEABLE, PINNED = "pageable", "pinned"
BLOCK = 2**20  # random elements, repeated: drawing gigabytes of them takes long


def host_memory(device: Device, count: int, kind: str, dtype: str = "uint8") -> Any:
    """Return `count` random elements; all of their memory has been written."""
    torch = device.torch
    found = torch.empty(count, dtype=getattr(torch, dtype), pin_memory=kind == PINNED)
    if dtype == "uint8":
        block = torch.randint(0, 256, (min(count, BLOCK),), dtype=torch.uint8)
    else:
        block = torch.randn(min(count, BLOCK), dtype=found.dtype)
    for part in found.split(BLOCK):
        part.copy_(block[: len(part)])
    return found


def can_pin(device: Device) -> bool:
    """Can this device copy pinned memory by itself?"""
    return device.has_streams


def give_back_pinned(device: Device) -> bool:
    """Return unused pinned memory to the system; False where torch keeps it."""
    empty = getattr(getattr(device.torch, "accelerator", None), "empty_host_cache", None)
    if empty is None and device.kind == "cuda":  # torch before 2.12
        empty = getattr(device.torch._C, "_host_emptyCache", None)
    if empty is None:
        return False
    empty()
    return True


@contextlib.contextmanager
def near(device: Device) -> Iterator[bool]:
    """Keep this thread near the GPU, and so the memory that it writes first.

    Yields False if there are several memory nodes, and the near one is unknown.
    """
    machine, gpu = device.bench.machine, device.gpu()
    nodes = usable_nodes(machine)
    threads = [
        thread.id
        for thread in usable_threads(machine)
        if gpu is not None and gpu.numa_node is not None and thread.numa_node == gpu.numa_node
    ]
    if len(nodes) < 2 or not threads:
        yield len(nodes) < 2
        return
    with device.bench.pinned(threads[-1]) as place:
        yield place is not None
