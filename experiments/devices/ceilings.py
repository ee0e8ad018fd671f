"""The best rates and the cache sizes of a device, as inspection knows them; None if unknown.

These are pure functions of a machine, so a recording shows its limit lines on any other.
"""

from __future__ import annotations

from experiments.devices.device import CPU, gpu_of
from machine.bus.pcie import limiting_hop
from machine.model import Machine, last_level_cache_bytes
from machine.peaks import gpu_ceilings


def memory_bytes_per_s(machine: Machine, device: str) -> float | None:
    """Return the rated bandwidth of the device's own memory."""
    if device == CPU:
        return machine.memory.peak_bytes_per_s
    gpu = gpu_of(machine, device)
    ceiling = gpu_ceilings(gpu).get("memory") if gpu is not None else None
    return None if ceiling is None else ceiling.value


def cache_bytes(machine: Machine, device: str) -> int | None:
    """Return the size of the last cache in front of the device's memory."""
    if device == CPU:
        return last_level_cache_bytes(machine)
    gpu = gpu_of(machine, device)
    return None if gpu is None else gpu.l2_bytes


def arithmetic_flop_per_s(machine: Machine, device: str, precision: str) -> float | None:
    """Return the peak rate of the GPU's fastest units for this precision."""
    gpu = gpu_of(machine, device)
    known = {} if gpu is None else gpu_ceilings(gpu)
    found = [known[name].value for name in (precision, f"{precision}_tensor") if name in known]
    return max(found, default=None)


def link_bytes_per_s(machine: Machine, device: str) -> float | None:
    """Return the rated bandwidth between host memory and the device, in one direction.

    None without PCIe, as with unified memory.
    """
    gpu = gpu_of(machine, device)
    if gpu is None or gpu.unified_memory:
        return None
    if gpu.c2c_bytes_per_s:
        return gpu.c2c_bytes_per_s
    hop = limiting_hop(machine, gpu.pci_address) if gpu.pci_address else None
    link = (hop.link if hop is not None else None) or gpu.link
    return None if link is None else link.peak_bytes_per_s
