"""When Python's garbage is collected: in the window's main thread alone, in the terminal seldom.

Python collects in whichever thread happens to allocate. In the thread that reads the library, it
would destroy widgets outside the window's thread. The window may wait for that very thread, and the
program would hang.
"""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

OLDEST = 2
MANY = 1000
USUAL, SELDOM = gc.get_threshold(), 50_000  # new things until Python looks for garbage

_making: list[None] = []  # one for each thread that makes many things
Things = TypeVar("Things", bound=Sequence[Any])


def seldom() -> None:
    """Let a command of the terminal collect seldom, and not when it ends.

    Most commands leave hardly any garbage. Looking for it takes a fifth of the time of a command
    that only lists. Most of that falls at the end, where Python looks at all objects several times.
    """
    gc.set_threshold(SELDOM)
    atexit.register(gc.freeze)


def leave_to_us() -> None:
    """Stop automatic collection; the caller calls `collect_due` from now on."""
    gc.disable()
    gc.set_threshold(*USUAL)
    atexit.unregister(gc.freeze)


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

    If more than `MANY` of the things are not among `before`, no collection looks at existing
    objects again. A collection would look at all that belongs to ten thousand runs, and stop the
    window meanwhile. These objects are still freed when nothing refers to them any more.
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
