"""Memory accesses that a compiler must not remove: read, write, add, compare-and-swap.

The compiler turns a plain `counter += 1` in a loop into one addition of the whole count (0.01 ns an
increment). These stay single accesses, as in a program whose compiler cannot know who else reads.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

_WORD = ir.IntType(64)


@intrinsic  # type: ignore[misc,unused-ignore]
def read(_typing: Any, _address: Any) -> Any:
    """Return the current int64 at an address."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_pointer(builder, arguments[0]), "monotonic", 8)

    return types.int64(types.uint64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def write(_typing: Any, _address: Any, _number: Any) -> Any:
    """Store an int64 at an address: a plain store."""

    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[1], _pointer(builder, arguments[0]), "monotonic", 8)
        return context.get_dummy_value()

    return types.void(types.uint64, types.int64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def add(_typing: Any, _address: Any, _number: Any) -> Any:
    """Add to the int64 at an address atomically; return its old value."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.atomic_rmw("add", _pointer(builder, arguments[0]), arguments[1], "monotonic")

    return types.int64(types.uint64, types.int64), generate


@intrinsic  # type: ignore[misc,unused-ignore]
def swap(_typing: Any, _address: Any, _old: Any, _new: Any) -> Any:
    """Store `new` at an address if it holds `old`; return whether it did (compare-and-swap)."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        address, old, new = arguments
        place = _pointer(builder, address)
        return builder.extract_value(builder.cmpxchg(place, old, new, "seq_cst", "seq_cst"), 1)

    return types.boolean(types.uint64, types.int64, types.int64), generate


def _pointer(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, _WORD.as_pointer())
