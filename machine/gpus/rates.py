"""Operations per clock cycle of one multiprocessor (SM) of NVIDIA's GPUs, by precision.

A multiply-add counts as two. All rates are dense. fp16, bf16, tf32, fp8, fp4 and int8 are rates of
the matrix units with 32-bit sums; so is fp64_tensor, with 64-bit sums. fp32 and fp64 are rates of
the ordinary units. Rate times SMs times clock gives the published peaks within 2 %.

With 32-bit sums, GeForce cards have half the rate of professional cards with the same chip. The
compute capability does not show this, so the name decides; if it does not, there is no rate. Other
tables have errors. Some take sparse rates for dense ones (H100 "1979" and L4 "242" TFLOP/s). Some
know no half rate, some give the A10G the rate of the A10.

Sources, as of November 2026: NVIDIA's architecture white papers (V100, Turing, A100, GA102, Ada,
H100, Blackwell, RTX Blackwell); OpenXLA, cuda_core_info_table.cc. A compute capability that is not
listed, such as 11.0 and 12.1, has no rate.
"""

from __future__ import annotations

NVIDIA_PAPERS = "NVIDIA's architecture white papers"
# A pair is (GeForce, professional); None if sources disagree.
_Rate = int | tuple[int | None, int | None]
_RATES: dict[str, dict[str, _Rate]] = {
    "7.0": {"fp64": 64, "fp32": 128, "fp16": 1024},
    "7.5": {"fp64": 4, "fp32": 128, "fp16": (512, 1024), "int8": 2048},
    "8.0": {
        "fp64": 64,
        "fp64_tensor": 128,
        "fp32": 128,
        "tf32": 1024,
        "fp16": 2048,
        "bf16": 2048,
        "int8": 4096,
    },
    "8.6": {
        "fp64": 4,
        "fp32": 256,
        "tf32": (256, 512),
        "fp16": (512, 1024),
        "bf16": (512, 1024),
        "int8": 2048,
    },
    "8.9": {
        "fp64": 4,
        "fp32": 256,
        "tf32": (256, 512),
        "fp16": (512, 1024),
        "bf16": (512, 1024),
        "fp8": (1024, 2048),
        "int8": 2048,
    },
    "9.0": {
        "fp64": 128,
        "fp64_tensor": 256,
        "fp32": 256,
        "tf32": 2048,
        "fp16": 4096,
        "bf16": 4096,
        "fp8": 8192,
        "int8": 8192,
    },
    "10.0": {
        "fp64": 128,
        "fp64_tensor": 128,
        "fp32": 256,
        "tf32": 4096,
        "fp16": 8192,
        "bf16": 8192,
        "fp8": 16384,
        "int8": 16384,
        "fp4": 32768,
    },
    "10.3": {"fp32": 256, "tf32": 4096, "fp16": 8192, "bf16": 8192, "fp8": 16384},
    "12.0": {
        "fp64": 4,
        "fp32": 256,
        "tf32": (256, None),
        "fp16": (512, 1024),
        "bf16": (512, 1024),
        "fp8": (1024, None),
        "int8": 2048,
        "fp4": 4096,
    },
}
ORDINARY = ("fp64", "fp32")  # not of the matrix units


def flop_per_cycle(compute_capability: str | None, name: str | None) -> dict[str, int]:
    """Return the known operations per cycle of one SM, by precision."""
    rates = _RATES.get(compute_capability or "", {})
    known = name or ""
    if "GTX 16" in known:  # Turing without matrix units
        rates = {precision: rates[precision] for precision in ORDINARY if precision in rates}
    found = {}
    for precision, rate in rates.items():
        chosen = rate if isinstance(rate, int) else _by_name(rate, known)
        if chosen is not None:
            found[precision] = chosen
    return found


def _by_name(pair: tuple[int | None, int | None], name: str) -> int | None:
    if "GeForce" in name:
        return pair[0]
    if not name or "TITAN" in name or "A10G" in name:
        return None
    return pair[1]
