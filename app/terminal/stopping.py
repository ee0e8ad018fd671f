"""Turns Ctrl-C, a closed terminal and a kill into a request to stop.

KeyboardInterrupt does not suffice: raised in an import or a callback, it can get lost.
"""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Callable, Iterator

from app.ending_signals import ending_signals


@contextlib.contextmanager
def asked_to_stop(then: Callable[[], object] = lambda: None) -> Iterator[Callable[[], bool]]:
    """Call `then` at each signal; yield a function that returns whether any has come."""
    came = []

    def note(*_: object) -> None:
        came.append(True)
        then()

    before = {number: signal.signal(number, note) for number in ending_signals()}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
