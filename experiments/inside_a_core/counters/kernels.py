"""Counters that threads raise: by an atomic addition, behind a lock, and each thread its own.

The lock is that of the C library (`pthread_mutex_t`); zeros are an open one on Linux.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from experiments.kernels.atomics import add, read, write

_lock = types.ExternalFunction("pthread_mutex_lock", types.int32(types.uint64))
_unlock = types.ExternalFunction("pthread_mutex_unlock", types.int32(types.uint64))


@njit("void(uint64, int64)", nogil=True, cache=True)
def raise_atomic(counter: np.uint64, times: int) -> None:
    """Add 1 atomically, `times` times."""
    for _ in range(times):
        add(counter, 1)


@njit("void(uint64, uint64, int64)", nogil=True, cache=True)
def raise_locked(counter: np.uint64, lock: np.uint64, times: int) -> None:
    """Take the lock, read, add 1, write, and give the lock back, `times` times."""
    for _ in range(times):
        _lock(lock)
        write(counter, read(counter) + 1)
        _unlock(lock)
