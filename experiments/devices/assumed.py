"""Assumed rates of processors, GPUs and links, from which runs estimate their time.

They are cautious: nearly every machine is faster, so a run ends before its estimate.
"""

from __future__ import annotations

from experiments.devices.device import CPU

CORE_FLOP_PER_S = 3e10  # fp32 products: half of two AVX2 units (8 lanes, multiply-add) at 2 GHz
CPU_FLOP_PER_S = 5e10  # the same on all cores: of two, with a loss
CPU_NETWORK_FLOP_PER_S = 1.5e10  # layers of a network: measured on one core of a virtual machine
GPU_FLOP_PER_S = 1e13  # fp32: an RTX 3060 has 1.3e13 (data sheet); not measured
GPU_HALF_FLOP_PER_S = 3e13  # in two bytes: a T4 has 6.5e13 (data sheet); not measured
CPU_BYTES_PER_S = 5e9  # a quarter of one channel of DDR4-2400
GPU_BYTES_PER_S = 2e11  # a GTX 1650 has 1.9e11 (data sheet)
PINNED_BYTES_PER_S = 1e10  # PCI Express 3.0 with 16 lanes copies 1.2e10
PAGEABLE_BYTES_PER_S = 5e9  # the driver copies each byte once more
PINNING_BYTES_PER_S = 1e9  # to pin new memory, or to write it for the first time: 4 KiB in 4 µs


def product_flop_per_s(device: str) -> float:
    """Return the rate of fp32 products."""
    return CPU_FLOP_PER_S if device == CPU else GPU_FLOP_PER_S


def network_flop_per_s(device: str) -> float:
    """Return the rate of the layers of a network in fp32."""
    return CPU_NETWORK_FLOP_PER_S if device == CPU else GPU_FLOP_PER_S
