"""A chain of dependent additions: one a cycle, on every core.

It is machine code, because a compiler would turn the chain into a single addition. If this module
has none for the processor, `COUNTS_CYCLES` is False and `count` must not be called.
Source: uarch-bench (T. Downs) calibrates its clock in the same way.
"""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import binding, ir
from numba import njit, types
from numba.extending import intrinsic

UNROLLED = 64
# $0 is the sum, $2 a register that holds 1: an addend in the instruction itself is added for
# nothing while registers are renamed, from Intel's Golden Cove on.
_ADDITION = {
    "x86_64": ("addq $2, $0", "~{flags}"),
    "amd64": ("addq $2, $0", "~{flags}"),
    "aarch64": ("add $0, $0, $2", ""),
    "arm64": ("add $0, $0, $2", ""),
}.get(platform.machine().lower())
COUNTS_CYCLES = _ADDITION is not None

binding.initialize_native_asmparser()  # without it LLVM ends the process at the first asm


@intrinsic  # type: ignore[misc,unused-ignore]
def _add_many(_typing: Any, _number: Any) -> Any:
    """Return a number with 1 added `UNROLLED` times."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        assert _ADDITION is not None
        word = ir.IntType(64)
        addition, clobbered = _ADDITION
        constraints = ",".join(filter(None, ("=r", "0", "r", clobbered)))
        return builder.asm(
            ir.FunctionType(word, [word, word]),
            "\n".join([addition] * UNROLLED),
            constraints,
            [arguments[0], word(1)],
            side_effect=True,
        )

    return types.int64(types.int64), generate


def _count(cycles: int) -> int:
    """Spend `cycles` (rounded up to a multiple of 64) and return how many they were."""
    number = 0
    for _ in range((cycles + UNROLLED - 1) // UNROLLED):
        number = _add_many(number)
    return number


count = njit("int64(int64)", nogil=True, cache=True)(_count) if COUNTS_CYCLES else _count
