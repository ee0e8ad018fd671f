"""Plain data into records; for the first time of each class in one thread only."""

from __future__ import annotations

import threading
import weakref
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

# What msgspec raises over a stranger's bytes. ValueError: no UTF-8, or a number that is too long.
UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)

_FIRST = threading.Lock()
_known: weakref.WeakSet[Any] = weakref.WeakSet()  # an own experiment is loaded again and again


def convert(data: Any, kind: type[T]) -> T:
    """Return `data` as a record of `kind`. Raises msgspec.ValidationError.

    The process crashes if two threads at once let msgspec look at a class for the first time.
    """
    if kind in _known:
        return msgspec.convert(data, kind)
    with _FIRST:
        found = msgspec.convert(data, kind)
        _known.add(kind)
        return found
