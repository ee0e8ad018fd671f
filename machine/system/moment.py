"""Remembers an answer for a second: a list of all experiments asks for the same dozens of times."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Hashable
from typing import TypeVar

A = TypeVar("A")


def for_a_moment(ask: Callable[..., A]) -> Callable[..., A]:
    """Return `ask`, which takes what can be hashed, with its answers remembered for a second."""

    @functools.lru_cache(maxsize=16)
    def remembered(_second: int, *given: Hashable) -> A:
        return ask(*given)

    @functools.wraps(ask)
    def answer(*given: Hashable) -> A:
        return remembered(int(time.monotonic()), *given)

    return answer
