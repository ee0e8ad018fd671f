"""In which precisions does a device compute, and for which of them has it units?

TF32 is single precision whose factors are rounded to 10 bits: nothing but a switch of torch, one
for products and one for convolutions. Their defaults differ, so both are set before each use.
"""

from __future__ import annotations

from typing import Any

from experiments.devices.device import CPU, Device, gpu_of
from machine.model import Machine

FP32, TF32, FP16, BF16 = "fp32", "tf32", "fp16", "bf16"
PRECISIONS = (FP32, TF32, FP16, BF16)
HALVES = (FP16, BF16)
AMPERE = 8  # compute capability, the first with units for TF32 and bf16
# Steps between neighbours of 1, of the factors that are multiplied.
EPSILON = {FP32: 2**-23, TF32: 2**-10, FP16: 2**-10, BF16: 2**-7}
# What a processor has if it has units, as the kernel names it.
# Source: arch/x86/include/asm/cpufeatures.h, arch/arm64/include/uapi/asm/hwcap.h.
_INSTRUCTIONS = {
    FP16: {"avx512_fp16", "amx_fp16", "asimdhp"},
    BF16: {"avx512_bf16", "amx_bf16", "bf16"},
}


def kind_of(torch: Any, precision: str) -> Any:
    """Return torch's type of the numbers; TF32 is kept as single precision."""
    return {FP16: torch.float16, BF16: torch.bfloat16}.get(precision, torch.float32)


def choose(device: Device, precision: str) -> None:
    """Let products and convolutions round to TF32 if that is the precision, and not otherwise."""
    is_rounded = precision == TF32
    device.torch.set_float32_matmul_precision("high" if is_rounded else "highest")
    device.torch.backends.cudnn.allow_tf32 = is_rounded


def has_tf32(device: Device) -> bool:
    """Has it units for TF32? Elsewhere the switch changes nothing."""
    if device.kind != "cuda" or device.torch.version.hip:
        return False
    return bool(device.backend.get_device_capability(device.index)[0] >= AMPERE)


def is_emulated(machine: Machine, device: str, precision: str) -> bool:
    """Is it known that the device has no instructions for this half precision?

    Torch computes in it all the same, by way of single precision; of bf16 on older GPUs of NVIDIA
    `torch.cuda.is_bf16_supported` says yes for this reason, so the capability decides.
    """
    if precision not in HALVES:
        return False
    if device == CPU:
        there = set(machine.cpu.features)
        return bool(there) and not there & _INSTRUCTIONS[precision]
    gpu = gpu_of(machine, device)
    capability = None if gpu is None else gpu.compute_capability
    return precision == BF16 and capability is not None and float(capability) < AMPERE
