"""Chains of operations, each waiting for the previous; between chains nothing waits.

Each result goes through an empty assembly, which the compiler can neither leave out nor look
through. So it computes every one, joins no two and makes no vectors. The other operand lies in a
register: from Intel's Golden Cove on, a constant in the instruction is added at no cost.

In the control each chain takes the newest number of the chain before it as its other operand. So
every operation waits, whatever the number of chains. Those sums soon are infinite, and an addition
takes as long with that.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

COUNTS = (1, 2, 4, 8, 12, 16)
STEPS = 4  # unrolled by hand
LINKED = "linked "  # to the chain before
_INSTRUCTIONS = ("fadd", "fmul", "fdiv", "add", "mul", LINKED + "fadd")
IS_ARM = platform.machine().lower() in ("aarch64", "arm64")


@intrinsic(prefer_literal=True)  # type: ignore[misc,unused-ignore]
def _apply(_typing: Any, numbers: Any, operand: Any, instruction: Any) -> Any:
    """Return each number of a tuple after an instruction of LLVM, named by its place in a list."""
    name = _INSTRUCTIONS[instruction.literal_value]

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[1].type
        register = "r" if isinstance(kind, ir.IntType) else "w" if IS_ARM else "x"
        kept = ir.FunctionType(kind, [kind])
        apply = getattr(builder, name.removeprefix(LINKED))
        results, chains = [], cgutils.unpack_tuple(builder, arguments[0])
        before = chains[-1]
        for each in chains:
            result = apply(each, before if name.startswith(LINKED) else arguments[1])
            before = builder.asm(kept, "", f"={register},0", [result], True)
            results.append(before)
        return context.make_tuple(builder, signature.return_type, results)

    return numbers(numbers, operand, instruction), generate


def _chains(name: str, number: Any) -> Any:
    """Compile `steps` of an instruction in each chain, for each number of chains."""
    signatures = [
        types.UniTuple(number, n)(types.int64, types.UniTuple(number, n), number) for n in COUNTS
    ]
    # A number, because numba's disk cache knows a closure by the value of what it holds.
    instruction = _INSTRUCTIONS.index(name)

    def walk(steps: int, now: tuple[Any, ...], operand: Any) -> tuple[Any, ...]:
        for _ in range((steps + STEPS - 1) // STEPS):
            now = _apply(now, operand, instruction)
            now = _apply(now, operand, instruction)
            now = _apply(now, operand, instruction)
            now = _apply(now, operand, instruction)
        return now

    return njit(signatures, nogil=True, cache=True)(walk)


_NUMBERS: dict[str, tuple[str, Any, float]] = {  # instruction, type, operand
    "add": ("fadd", types.float64, 1e-9),
    "multiply": ("fmul", types.float64, 1.0000001),
    "divide": ("fdiv", types.float64, 1.0000001),
    "integer_add": ("add", types.int64, 3),
    "integer_multiply": ("mul", types.int64, 3),
    "linked_add": (LINKED + "fadd", types.float64, 0.0),
}
COMPILED = {
    name: _chains(instruction, number) for name, (instruction, number, _) in _NUMBERS.items()
}


def in_chains(operation: str, chains: int) -> Callable[[int], tuple[Any, ...]]:
    """Return a function of the steps in each chain that gives the last numbers.

    Steps are rounded up to a multiple of `STEPS`.
    """
    _, number, operand = _NUMBERS[operation]
    kind = float if number is types.float64 else int
    first = tuple(kind(1 + n) for n in range(chains))
    return lambda steps: COMPILED[operation](steps, first, operand)
