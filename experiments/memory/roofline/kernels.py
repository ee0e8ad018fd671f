"""Arithmetic of known amount: multiply-adds that fill a core, and polynomials over an array.

Vectors are written out, as in `lanes`: a compiler would choose the width itself. A multiply-add is
one instruction where the processor has it, otherwise two; it counts as two operations either way.
"""

from __future__ import annotations

import functools
import platform
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import njit, types
from numba.extending import intrinsic

CHAINS = 12  # latency times rate, 8 to 10; with two constants they fit 16 registers
WIDE_CHAINS = 24  # with 32 registers: some processors have four units
TOGETHER = 8  # vectors of a polynomial that are computed side by side
# Up to this degree the steps are unrolled. Beyond, the compiler would compute one polynomial after
# another, each step waiting for the one before, so they stay a loop.
WRITTEN_OUT = 8
WEIGHT = 0.5
_KINDS = {32: (ir.FloatType(), types.float32, "f32"), 64: (ir.DoubleType(), types.float64, "f64")}
_Body = Callable[[Any, list[Any]], list[Any]]
IS_ARM = platform.machine().lower() in ("aarch64", "arm64")


def has_multiply_add() -> bool:
    """Does this processor multiply and add in one instruction?"""
    return IS_ARM or bool(binding.get_host_cpu_features().get("fma"))


def chains(vector_bits: int) -> int:
    """Return how many multiply-adds `spin` overlaps."""
    return WIDE_CHAINS if vector_bits == 512 or IS_ARM else CHAINS


def _multiply_add(builder: Any, x: Any, y: Any, z: Any, lanes: int, suffix: str) -> Any:
    if not has_multiply_add():
        return builder.fadd(builder.fmul(x, y), z)
    name = f"llvm.fma.v{lanes}{suffix}"
    function = builder.module.globals.get(name) or ir.Function(
        builder.module, ir.FunctionType(x.type, [x.type] * 3), name
    )
    return builder.call(function, [x, y, z])


def _in_all_lanes(builder: Any, number: Any, vector: Any) -> Any:
    place = ir.IntType(32)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, place(0))
    picks = ir.Constant(ir.VectorType(place, vector.count), [0] * vector.count)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), picks)


def _sum_of(builder: Any, vectors: list[Any], lanes: int) -> Any:
    whole = functools.reduce(builder.fadd, vectors)
    each = [builder.extract_element(whole, ir.IntType(32)(lane)) for lane in range(lanes)]
    return functools.reduce(builder.fadd, each)


def _loop(builder: Any, turns: Any, starts: list[Any], body: _Body) -> list[Any]:
    """Emit `turns` turns of `body`, from a turn's number and the last results to the next ones."""
    index = ir.IntType(64)
    entry, loop = builder.block, builder.append_basic_block("loop")
    after = builder.append_basic_block("after")
    builder.branch(loop)
    builder.position_at_end(loop)
    turn, *phis = [builder.phi(start.type) for start in (index(0), *starts)]
    results = body(turn, phis)
    following, end = builder.add(turn, index(1)), builder.block  # another one if loops are nested
    builder.cbranch(builder.icmp_signed("<", following, turns), loop, after)
    for phi, start, onward in zip(
        (turn, *phis), (index(0), *starts), (following, *results), strict=True
    ):
        phi.add_incoming(start, entry)
        phi.add_incoming(onward, end)
    builder.position_at_end(after)
    return results


@intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
def _spin(_typing: Any, _start: Any, _factor: Any, _steps: Any, bits: Any, lanes: Any) -> Any:
    number, kind, suffix = _KINDS[bits.literal_value]
    width = lanes.literal_value

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(number, width)
        start, factor = (_in_all_lanes(builder, given, vector) for given in arguments[:2])

        def turn(_step: Any, before: list[Any]) -> list[Any]:
            return [_multiply_add(builder, x, factor, start, width, suffix) for x in before]

        many = chains(width * bits.literal_value)
        # Each chain starts at another number, or the compiler would find them equal and keep one.
        begins = [start]
        for _ in range(many - 1):
            begins.append(builder.fadd(begins[-1], factor))
        return _sum_of(builder, _loop(builder, arguments[2], begins, turn), width)

    return kind(kind, kind, types.int64, bits, lanes), generate


@intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
def _horner(
    _typing: Any, _address: Any, _factor: Any, _steps: Any, _degree: Any, short: Any, lanes: Any
) -> Any:
    number, kind, suffix = _KINDS[64]
    width, written_out = lanes.literal_value, short.literal_value

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        vector, index = ir.VectorType(number, width), ir.IntType(64)
        first = builder.inttoptr(arguments[0], vector.as_pointer())
        factor = _in_all_lanes(builder, arguments[1], vector)

        def multiply_add(x: Any, y: Any, z: Any) -> Any:
            return _multiply_add(builder, x, y, z, width, suffix)

        def step(number: Any, sums: list[Any]) -> list[Any]:
            begin = builder.mul(number, index(TOGETHER))
            places = [builder.add(begin, index(turn)) for turn in range(TOGETHER)]
            points = [builder.load(builder.gep(first, [place]), align=8) for place in places]

            def power(_turn: Any, found: list[Any]) -> list[Any]:
                pairs = zip(found, points, strict=True)
                return [multiply_add(x, point, factor) for x, point in pairs]

            found = [factor] * TOGETHER
            for turn in range(written_out):
                found = power(turn, found)
            if not written_out:
                found = _loop(builder, arguments[3], found, power)
            return [multiply_add(x, factor, s) for x, s in zip(found, sums, strict=True)]

        zeros = [ir.Constant(vector, [0.0] * width)] * TOGETHER
        return _sum_of(builder, _loop(builder, arguments[2], zeros, step), width)

    return kind(types.uint64, kind, types.int64, types.int64, short, lanes), generate


@functools.cache
def spin(bits: int, vector_bits: int) -> Callable[[float, float, int], float]:
    """Return a function of (start, factor, steps): chains of x = x * factor + start, summed."""
    kind, lanes = _KINDS[bits][1], vector_bits // bits

    def run(start: float, factor: float, steps: int) -> float:
        found: float = _spin(start, factor, steps, bits, lanes)
        return found

    compiled: Callable[[float, float, int], float] = njit(
        kind(kind, kind, types.int64), nogil=True, cache=True
    )(run)
    return compiled


def spin_flop(bits: int, vector_bits: int, steps: int) -> int:
    """Return how many operations `spin` makes in `steps`."""
    return 2 * chains(vector_bits) * (vector_bits // bits) * steps


def polynomial(degree: int, vector_bits: int) -> Callable[[np.ndarray, int], float]:
    """Return a function of (points, laps): the sum of `WEIGHT` times a polynomial of the points.

    All its coefficients are `WEIGHT`; it makes `polynomial_flop` for each point. There are a
    multiple of 8 * `vector_bits` / 64 points.
    """
    compiled = _polynomial(degree if degree <= WRITTEN_OUT else 0, vector_bits)
    return lambda points, laps: compiled(points, WEIGHT, degree, laps)


@functools.cache
def _polynomial(short: int, vector_bits: int) -> Callable[[np.ndarray, float, int, int], float]:
    lanes = vector_bits // 64

    def run(points: np.ndarray, factor: float, degree: int, laps: int) -> float:
        address, steps = np.uint64(points.ctypes.data), points.size // (TOGETHER * lanes)
        found = 0.0
        for _ in range(laps):
            found += _horner(address, factor, steps, degree, short, lanes)
        return found

    compiled: Callable[[np.ndarray, float, int, int], float] = njit(
        types.float64(types.float64[::1], types.float64, types.int64, types.int64),
        nogil=True,
        cache=True,
    )(run)
    return compiled


def polynomial_flop(degree: int) -> int:
    """Return how many operations `polynomial` makes for a point."""
    return 2 * (degree + 1)


@njit("float64(float64[::1], float64[::1], int64)", nogil=True, cache=True, fastmath=True)
def dot(a: np.ndarray, b: np.ndarray, laps: int) -> float:
    """Return the scalar product; the compiler may reorder, or the adder would be timed."""
    total = 0.0
    for _ in range(laps):
        for i in range(a.size):
            total += a[i] * b[i]
    return total


@njit("void(float64[:, ::1], float64[:, ::1], int64)", nogil=True, cache=True, fastmath=True)
def stencil(a: np.ndarray, c: np.ndarray, laps: int) -> None:
    """Put the mean of each inner number of `a` and its four neighbours into `c`."""
    for _ in range(laps):
        for row in range(1, a.shape[0] - 1):
            up, here, down, out = a[row - 1], a[row], a[row + 1], c[row]
            for i in range(1, here.size - 1):
                out[i] = 0.2 * (here[i] + here[i - 1] + here[i + 1] + up[i] + down[i])
