"""Counters that threads raise: by an atomic addition, behind a lock, and each thread its own.

The lock is the system's own: `pthread_mutex_t`, on Windows SRWLOCK, on macOS `os_unfair_lock`.
Zeros are an open one of each.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import njit, types

from experiments.kernels.atomics import add, read, write

_LOCKS = {
    "win32": ("AcquireSRWLockExclusive", "ReleaseSRWLockExclusive"),
    "darwin": ("os_unfair_lock_lock", "os_unfair_lock_unlock"),
}
_lock, _unlock = (
    types.ExternalFunction(name, types.void(types.uint64))
    for name in _LOCKS.get(sys.platform, ("pthread_mutex_lock", "pthread_mutex_unlock"))
)


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
