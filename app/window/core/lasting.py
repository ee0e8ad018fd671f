"""Keeps the garbage collector from what is made in bulk and lives on, such as ten thousand runs.

A full collection looks at every object and stops every thread meanwhile, the window's too.
"""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

MANY = 50_000  # objects; below that nothing is gained


@contextlib.contextmanager
def lasting() -> Iterator[None]:
    """Let the collector rest, and never look at what was made meanwhile if that is much.

    It is still freed when nobody refers to it any more, unless it refers to itself.
    """
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MANY:
            gc.freeze()
        gc.enable()
