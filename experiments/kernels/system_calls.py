"""A loop of the cheapest system call, `getppid`.

The C library's function is called directly, so only systems that have one can use this. No library
caches the answer, as some do for `getpid`: each call enters the kernel.
"""

from __future__ import annotations

from numba import njit, types

_getppid = types.ExternalFunction("getppid", types.int32())


@njit("int64(int64)", nogil=True, cache=True)
def ask_kernel(times: int) -> int:
    """Call it `times` times, and return the sum of the answers."""
    total = 0
    for _ in range(times):
        total += _getppid()
    return total
