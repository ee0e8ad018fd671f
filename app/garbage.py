"""Collects Python's garbage in the window's main thread alone.

Python collects in whichever thread happens to allocate. In the thread that reads the library, it
would destroy widgets outside the window's thread. The window may wait for that very thread, and the
program would hang.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence

OLDEST = 2
MANY = 1000


def leave_to_us() -> None:
    """Stop automatic collection; the caller calls `collect_due` from now on."""
    gc.disable()


def collect_due() -> None:
    """Collect the oldest generation that is due, by Python's own counts and thresholds."""
    due = zip(gc.get_count(), gc.get_threshold(), range(OLDEST + 1), strict=True)
    generations = [generation for count, threshold, generation in due if count > threshold]
    if generations:
        gc.collect(max(generations))


def spare(now: Sequence[object], before: Sequence[object]) -> None:
    """Never again look at what exists, if `now` has many things that are not among `before`.

    Each full collection would look at all that belongs to ten thousand runs, and stop the window
    meanwhile. They are still freed when nobody refers to them any more.
    LIMIT: garbage that refers to itself and was not collected by then stays.
    """
    known = set(map(id, before))
    if sum(id(each) not in known for each in now) > MANY:
        gc.freeze()
