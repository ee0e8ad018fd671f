"""A sum by vector instructions of a chosen width, or one number at a time.

A compiler would choose the width itself, so the vectors are written out. There are sixteen sums of
`lanes` numbers each: an addition takes up to four cycles, and a core begins up to four in a cycle
(two on x86). Fewer sums would wait for each other. If they only just did not wait, a lost cycle
would never be made up. All laps add to the same sums, so adding those up at the end weighs nothing.
A number can be added several times after one load, which gives memory more time for each.
Source: A. Fog, Instruction tables; the software optimization guides of Arm's Neoverse cores.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.extending import intrinsic

SUMS = 16  # at once: latency x width, and the vector registers that all have
_NUMBERS = {32: (ir.FloatType(), types.float32), 64: (ir.DoubleType(), types.float64)}
_WIDER = ((512, "avx512f"), (256, "avx"))  # beyond the 128 bits that all have


def widest_bits() -> int:
    """Return the width in bits of the processor's widest vector instruction for sums."""
    features = binding.get_host_cpu_features()
    return next((bits for bits, name in _WIDER if features.get(name)), 128)


@intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
def _total(
    _typing: Any, _address: Any, _steps: Any, _laps: Any, bits: Any, lanes: Any, additions: Any
) -> Any:
    """Return `laps` times the sum of `steps` times sixteen vectors, of `lanes` numbers each.

    Each vector is added `additions` times.
    """
    number, kind = _NUMBERS[bits.literal_value]
    width, times = lanes.literal_value, additions.literal_value

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _summed(builder, ir.VectorType(number, width), width, times, *arguments[:3])

    return kind(types.uint64, types.int64, types.int64, bits, lanes, additions), generate


def _summed(
    builder: Any, vector: Any, lanes: int, additions: int, address: Any, steps: Any, laps: Any
) -> Any:
    index, place = ir.IntType(64), ir.IntType(32)
    entry = builder.block
    each_lap, each_step, lap_end, after = (
        builder.append_basic_block(name) for name in ("lap", "step", "lap_end", "after")
    )
    first = builder.inttoptr(address, vector.as_pointer())
    builder.branch(each_lap)
    builder.position_at_end(each_lap)
    lap, *before = (builder.phi(kind) for kind in (index, *[vector] * SUMS))
    builder.branch(each_step)
    builder.position_at_end(each_step)
    step, *sums = (builder.phi(kind) for kind in (index, *[vector] * SUMS))
    added = []
    for turn, total in enumerate(sums):
        at = builder.add(builder.mul(step, index(SUMS)), index(turn))
        numbers = builder.load(builder.gep(first, [at]), align=4)
        for _ in range(additions):
            total = builder.fadd(total, numbers)
        added.append(total)
    step_then = builder.add(step, index(1))
    builder.cbranch(builder.icmp_signed("<", step_then, steps), each_step, lap_end)
    builder.position_at_end(lap_end)
    lap_then = builder.add(lap, index(1))
    builder.cbranch(builder.icmp_signed("<", lap_then, laps), each_lap, after)
    nothing = ir.Constant(vector, [0.0] * lanes)
    for phi, start, onward in zip(
        [lap, *before], [index(0), *[nothing] * SUMS], [lap_then, *added], strict=True
    ):
        phi.add_incoming(start, entry)
        phi.add_incoming(onward, lap_end)
    for phi, start, onward in zip(
        [step, *sums], [index(0), *before], [step_then, *added], strict=True
    ):
        phi.add_incoming(start, each_lap)
        phi.add_incoming(onward, each_step)
    builder.position_at_end(after)
    whole = functools.reduce(builder.fadd, added)
    each = [builder.extract_element(whole, place(lane)) for lane in range(lanes)]
    return functools.reduce(builder.fadd, each)


@functools.cache
def lane_sum(bits: int, lanes: int, additions: int = 1) -> Callable[[np.ndarray, int], float]:
    """Return a function of (numbers, laps): their sum by `lanes`, `laps` times over.

    The numbers are `bits` wide; there are a multiple of 16 * `lanes` of them. Each is loaded once
    a lap, and added `additions` times.
    """
    kind = _NUMBERS[bits][1]

    def total(numbers: np.ndarray, laps: int) -> float:
        address, steps = np.uint64(numbers.ctypes.data), numbers.size // (SUMS * lanes)
        found: float = _total(address, steps, laps, bits, lanes, additions)
        return found

    compiled: Callable[[np.ndarray, int], float] = njit(
        kind(kind[::1], types.int64), nogil=True, cache=True
    )(total)
    return compiled
