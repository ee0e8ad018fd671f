"""Collects Python's garbage in the window's main thread alone.

Python collects in whichever thread happens to allocate. In the thread that reads the library, it
would destroy widgets outside the window's thread. The window may wait for that very thread, and the
program would hang.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

OLDEST = 2
MANY = 1000

_making: list[None] = []  # one for each thread that makes many things
Things = TypeVar("Things", bound=Sequence[Any])


def leave_to_us() -> None:
    """Stop automatic collection; the caller calls `collect_due` from now on."""
    gc.disable()


def collect_due() -> None:
    """Collect the oldest generation that is due, by Python's own counts and thresholds.

    While a thread makes many things, which may take seconds, the next call does it.
    """
    if _making:
        return
    due = zip(gc.get_count(), gc.get_threshold(), range(OLDEST + 1), strict=True)
    generations = [generation for count, threshold, generation in due if count > threshold]
    if generations:
        gc.collect(max(generations))


def spared(make: Callable[[], Things], before: Sequence[object]) -> Things:
    """Return what `make` makes, in any thread; nothing is collected meanwhile.

    If many of the things are not among `before`, what exists by then is never looked at again. A
    collection would look at all that belongs to ten thousand runs, and stop the window meanwhile.
    They are still freed when nobody refers to them any more.
    LIMIT: garbage that refers to itself and was not collected by then stays.
    """
    _making.append(None)
    try:
        made = make()
        known = set(map(id, before))
        if sum(id(each) not in known for each in made) > MANY:
            gc.freeze()
        return made
    finally:
        _making.pop()
