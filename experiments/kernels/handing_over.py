"""Two threads hand a turn to and fro through the kernel: by a futex, or through pipes.

A futex is a word on which a thread can sleep until another one wakes it; every lock that waits is
built on it. Each loop ends early where the other side has given up.
Source: futex(2), pipe(7).
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from experiments.core.processes.futex import FUTEX
from experiments.kernels.atomics import read as look
from experiments.kernels.atomics import write as put

_WORD = types.int64
_syscall = types.ExternalFunction("syscall", _WORD(*[_WORD] * 7))
_read = types.ExternalFunction("read", _WORD(types.int32, types.uint64, types.uint64))
_write = types.ExternalFunction("write", _WORD(types.int32, types.uint64, types.uint64))
_CALL = FUTEX
_WAIT, _WAKE = 128, 129  # within one process
_NEVER = 3  # what the word is not
GIVEN_UP = 2  # in the word: the other side has ended


@njit("int64(int64, uint64, int64, int64)", nogil=True, cache=True)
def over_futex(times: int, word: np.uint64, awaited: int, handed: int) -> int:
    """Wait `times` for the word to be `awaited`, then hand it over; return how often it was."""
    place = np.int64(word)
    for done in range(times):
        now = look(word)
        while now != awaited:
            if now == GIVEN_UP:
                return done
            _syscall(_CALL, place, _WAIT, now, 0, 0, 0)
            now = look(word)
        put(word, handed)
        _syscall(_CALL, place, _WAKE, 1, 0, 0, 0)
    return times


@njit("int64(int64, uint64)", nogil=True, cache=True)
def futex_alone(times: int, word: np.uint64) -> int:
    """Make the same calls with no thread asleep and no wait: no thread changes."""
    place = np.int64(word)
    for _ in range(times):
        _syscall(_CALL, place, _WAIT, _NEVER, 0, 0, 0)  # it returns at once
        _syscall(_CALL, place, _WAKE, 1, 0, 0, 0)
    return times


@njit("int64(int64, int32, int32, uint64, boolean)", nogil=True, cache=True)
def over_pipe(times: int, incoming: int, outgoing: int, byte: np.uint64, begins: bool) -> int:
    """Send a byte and await one `times`, or the other way round; return how often that went well.

    Through one pipe of its own a thread does the same calls and never has to wait.
    """
    one = np.uint64(1)
    for done in range(times):
        if begins and _write(outgoing, byte, one) != 1:
            return done
        if _read(incoming, byte, one) != 1:
            return done
        if not begins and _write(outgoing, byte, one) != 1:
            return done
    return times
