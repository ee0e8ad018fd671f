"""Vector and matrix instruction sets of a processor, by their makers' names.

The kernel lists a hundred extensions and more. These decide how many numbers one instruction
processes.

Sources: arch/x86/include/asm/cpufeatures.h, arch/arm64/include/uapi/asm/hwcap.h of the kernel;
RISC-V Instruction Set Manual.
"""

from __future__ import annotations

from collections.abc import Iterable

# By the kernel's name, in display order.
_NAMES = {
    "sse4_2": "SSE4.2",
    "avx": "AVX",
    "avx2": "AVX2",
    "fma": "FMA",
    "f16c": "F16C",
    "avx_vnni": "AVX-VNNI",
    "avx512f": "AVX-512",
    "avx512_vnni": "AVX-512 VNNI",
    "avx512_bf16": "AVX-512 BF16",
    "avx512_fp16": "AVX-512 FP16",
    "amx_int8": "AMX INT8",
    "amx_bf16": "AMX BF16",
    "amx_fp16": "AMX FP16",
    "neon": "NEON",  # 32-bit ARM
    "asimd": "NEON",  # 64-bit ARM
    "asimdhp": "NEON FP16",
    "asimddp": "NEON dot product",
    "bf16": "BF16",
    "i8mm": "INT8 matrices",
    "sve": "SVE",
    "sve2": "SVE2",
    "sme": "SME",
    "sme2": "SME2",
    "rvv": "RVV",
}


def vector_instructions(features: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the vector and matrix instruction sets among `features`."""
    there = set(features)
    return tuple(dict.fromkeys(name for flag, name in _NAMES.items() if flag in there))


def of_risc_v(isa: str) -> list[str]:
    """Return the extensions in an ISA string such as "rv64imafdcv_zba_zvfh"; V is named rvv."""
    base, *longer = isa.lower().split("_")
    if not base.startswith(("rv32", "rv64")):
        return []
    return [*("rvv" if letter == "v" else letter for letter in base[4:]), *longer]
