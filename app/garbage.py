"""Who collects Python's garbage? In the window's process, its main thread alone.

By itself Python collects in whichever thread happens to allocate. In one that reads the library of
runs, that would destroy parts of the window from outside the window's thread, while the window may
be waiting for just that thread: the program stands still.
"""

from __future__ import annotations

import gc

OLDEST = 2


def leave_to_us() -> None:
    """Keep Python from collecting by itself; from now on somebody calls `collect_due`."""
    gc.disable()


def collect_due() -> None:
    """Collect the oldest generation that is due, by Python's own counts and thresholds."""
    due = zip(gc.get_count(), gc.get_threshold(), range(OLDEST + 1), strict=True)
    generations = [generation for count, threshold, generation in due if count > threshold]
    if generations:
        gc.collect(max(generations))
