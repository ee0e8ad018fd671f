"""Collects Python's garbage in the window's main thread alone.

Python collects in whichever thread happens to allocate. In the thread that reads the library, it
would destroy widgets outside the window's thread. The window may wait for that very thread, and the
program would hang.
"""

from __future__ import annotations

import gc

OLDEST = 2


def leave_to_us() -> None:
    """Stop automatic collection; the caller calls `collect_due` from now on."""
    gc.disable()


def collect_due() -> None:
    """Collect the oldest generation that is due, by Python's own counts and thresholds."""
    due = zip(gc.get_count(), gc.get_threshold(), range(OLDEST + 1), strict=True)
    generations = [generation for count, threshold, generation in due if count > threshold]
    if generations:
        gc.collect(max(generations))
