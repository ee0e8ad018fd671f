"""The least that one can ask of the kernel: who is my parent?

`getppid` of the C library is called directly, so this is for systems that have one. The answer is
not kept anywhere, unlike that of `getpid` in some libraries: each call enters the kernel.
"""

from __future__ import annotations

from numba import njit, types

_getppid = types.ExternalFunction("getppid", types.int32())


@njit("int64(int64)", nogil=True, cache=True)
def ask_kernel(times: int) -> int:
    """Ask so often, and return the sum of the answers."""
    total = 0
    for _ in range(times):
        total += _getppid()
    return total
