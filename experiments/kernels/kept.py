"""A number through an empty assembly: the compiler can neither leave it out nor look through it.

So a loop keeps its branches and its order, and no vectors are made.
"""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba.extending import intrinsic

_IS_ARM = platform.machine().lower() in ("aarch64", "arm64")


@intrinsic  # type: ignore[misc,unused-ignore]
def keep(_typing: Any, number: Any) -> Any:
    """Return the number, an integer or floating point."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        register = "r" if isinstance(kind, ir.IntType) else "w" if _IS_ARM else "x"
        same = ir.FunctionType(kind, [kind])
        return builder.asm(same, "", f"={register},0", arguments, True)

    return number(number), generate
