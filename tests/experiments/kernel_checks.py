"""Checks of compiled loops: no work is optimised away, each lets go of the interpreter lock."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tests.experiments.doubling import takes_twice_as_long


def best_s(work: Callable[[int], object], count: int) -> float:
    """Return the least of several times, since all disturbance only adds."""
    times = []
    for _ in range(7):
        start_s = time.perf_counter()
        work(count)
        times.append(time.perf_counter() - start_s)
    return min(times)


def check_twice_takes_twice(work: Callable[[int], object], count: int) -> None:
    """Fail unless twice the count takes about twice as long."""

    def seconds(count: int) -> float:
        start_s = time.perf_counter()
        work(count)
        return time.perf_counter() - start_s

    assert takes_twice_as_long(seconds, count)


def kernels_of(module: ModuleType) -> list[Any]:
    """Return the compiled functions of a module."""
    from numba.core.registry import CPUDispatcher

    return [each for each in vars(module).values() if isinstance(each, CPUDispatcher)]


def check_kept(kernels: list[Any]) -> None:
    """Fail unless each lets go of the interpreter lock and is kept on disk."""
    assert kernels
    for kernel in kernels:
        assert kernel.targetoptions.get("nogil"), kernel
        assert kernel._cache is not None, kernel  # noqa: SLF001  (numba tells it nowhere else)
