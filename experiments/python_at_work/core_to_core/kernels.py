"""A word that two threads hand to and fro by compare-and-swap.

Source: the default protocol of core-to-core-latency (N. Viennot).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from experiments.kernels.atomics import read, swap, write

_LOOK_AROUND = 2**12 - 1  # failed tries before it checks whether the other has gone
_GIVE_UP = 2**27  # about a second or two


@njit("boolean(uint64, uint64, int64, int64, int64)", nogil=True, cache=True)
def hand_over(word: np.uint64, gone: np.uint64, times: int, awaited: int, handed: int) -> bool:
    """Wait until the word is `awaited` and make it `handed`, `times` times.

    Returns False, and puts 1 at `gone`, if the other thread never came; also False if 1 was there.
    """
    for _ in range(times):
        vain = 0
        while not swap(word, awaited, handed):
            vain += 1
            if vain & _LOOK_AROUND == 0 and (vain > _GIVE_UP or read(gone) == 1):
                write(gone, 1)
                return False
    return True
