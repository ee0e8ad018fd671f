"""The precisions that a device computes in, and whether it has units for them.

TF32 is single precision whose factors are rounded to 10 bits. It is a switch of torch, one for
products and one for convolutions. Their defaults differ, so both are set before each use.
"""

from __future__ import annotations

from typing import Any

from experiments.devices.device import CPU, Device, gpu_of
from machine.model import Machine

FP32, TF32, FP16, BF16 = "fp32", "tf32", "fp16", "bf16"
PRECISIONS = (FP32, TF32, FP16, BF16)
HALVES = (FP16, BF16)
AMPERE = 8  # compute capability, the first with units for TF32 and bf16
# The distance from 1 to the next number, for the factors of a product.
EPSILON = {FP32: 2**-23, TF32: 2**-10, FP16: 2**-10, BF16: 2**-7}
# The flags of processors with such units, as the kernel names them.
# Source: arch/x86/include/asm/cpufeatures.h, arch/arm64/include/uapi/asm/hwcap.h.
_INSTRUCTIONS = {
    FP16: {"avx512_fp16", "amx_fp16", "asimdhp"},
    BF16: {"avx512_bf16", "amx_bf16", "bf16"},
}


def kind_of(torch: Any, precision: str) -> Any:
    """Return torch's dtype; TF32 is stored as single precision."""
    return {FP16: torch.float16, BF16: torch.bfloat16}.get(precision, torch.float32)


def choose(device: Device, precision: str) -> None:
    """Let products and convolutions round to TF32 only if that is the precision."""
    is_rounded = precision == TF32
    device.torch.set_float32_matmul_precision("high" if is_rounded else "highest")
    device.torch.backends.cudnn.allow_tf32 = is_rounded


def has_tf32(device: Device) -> bool:
    """Does the device have units for TF32? Elsewhere the switch changes nothing."""
    if device.kind != "cuda" or device.torch.version.hip:
        return False
    return bool(device.backend.get_device_capability(device.index)[0] >= AMPERE)


def is_emulated(machine: Machine, device: str, precision: str) -> bool:
    """Is the device known to lack instructions for this half precision?

    Torch then computes through single precision. For bf16 on older NVIDIA GPUs
    `torch.cuda.is_bf16_supported` therefore says yes, so the compute capability decides.
    """
    if precision not in HALVES:
        return False
    if device == CPU:
        there = set(machine.cpu.features)
        return bool(there) and not there & _INSTRUCTIONS[precision]
    gpu = gpu_of(machine, device)
    capability = None if gpu is None else gpu.compute_capability
    return precision == BF16 and capability is not None and float(capability) < AMPERE
