"""Vector and matrix instruction sets of a processor, by their makers' names.

The kernel lists a hundred extensions and more. These decide how many numbers one instruction
processes.

Sources: arch/x86/include/asm/cpufeatures.h, arch/arm64/include/uapi/asm/hwcap.h,
arch/loongarch/kernel/proc.c, arch/riscv/kernel/cpu.c, arch/powerpc/kernel/setup-common.c,
arch/s390/kernel/processor.c, arch/mips/kernel/proc.c of the kernel, as of Linux 6.17; RISC-V
Instruction Set Manual. A newer extension stands among the features, under the kernel's name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# By the kernel's name, in display order.
_NAMES = {
    "sse4_2": "SSE4.2",
    "avx": "AVX",
    "avx2": "AVX2",
    "fma": "FMA",
    "f16c": "F16C",
    "avx_vnni": "AVX-VNNI",
    "avx_vnni_int8": "AVX-VNNI INT8",
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
    "rvv_embedded": "RVV embedded",
    "zvfh": "RVV FP16",
    "zvfbfwma": "RVV BF16",
    "xtheadvector": "RVV 0.7",  # of T-Head's C906 and C920, before the standard
    "lsx": "LSX",  # LoongArch, 128 bits
    "lasx": "LASX",  # LoongArch, 256 bits
    "altivec": "AltiVec",  # POWER
    "vx": "Vector facility",  # s390
    "vxe2": "Vector enhancements 2",
    "nnpa": "NNPA",
    "msa": "MSA",  # MIPS
}
_EMBEDDED = re.compile(r"zve(?:32|64)[xfd]")  # vectors of RISC-V without all of V
_MAKERS = {  # of RISC-V's "uarch", which is a device tree's name
    "sifive": "SiFive",
    "spacemit": "SpacemiT",
    "thead": "T-Head",
    "andestech": "Andes",
    "starfive": "StarFive",
    "sophgo": "Sophgo",
    "tenstorrent": "Tenstorrent",
}


def vector_instructions(features: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the vector and matrix instruction sets among `features`."""
    there = set(features)
    if "rvv" not in there and any(map(_EMBEDDED.fullmatch, there)):
        there.add("rvv_embedded")
    return tuple(dict.fromkeys(name for flag, name in _NAMES.items() if flag in there))


def of_risc_v(isa: str) -> list[str]:
    """Return the extensions in an ISA string such as "rv64imafdcv_zba_zvfh"; V is named rvv."""
    base, *longer = isa.lower().split("_")
    if not base.startswith(("rv32", "rv64")):
        return []
    return [*("rvv" if letter == "v" else letter for letter in base[4:]), *longer]


def of_power(cpu: str) -> list[str]:
    """Return what POWER's "cpu" line adds to the name: "POWER9, altivec supported"."""
    return ["altivec"] if "altivec supported" in cpu else []


def tidy_name(name: str) -> str:
    """Return a processor's name as people know it: "sifive,u74-mc" is SiFive U74-MC."""
    maker, comma, part = name.partition(",")
    if comma and part.strip() == "altivec supported":
        return maker
    if comma and maker in _MAKERS:
        return f"{_MAKERS[maker]} {part.upper()}"
    return name
