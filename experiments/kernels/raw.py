"""Loads from raw addresses, free of index arithmetic and bounds: what C's `*p` compiles to.

An index into an array costs one more cycle a step in the first-level cache (measured: 1.36 ns
against 1.09 ns), which a latency must not contain.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic


@intrinsic  # type: ignore[misc,unused-ignore]
def load(_typing: Any, _address: Any) -> Any:
    """Return the uint64 at an address: `*(uint64_t *)address`."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        return builder.load(builder.inttoptr(arguments[0], word.as_pointer()))

    return types.uint64(types.uint64), generate
