"""Sizes of memory, and how parameters are cut until a run fits into memory and time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from machine.memory.host import available_bytes

KIB, MIB, GIB = 2**10, 2**20, 2**30
BEYOND_CACHE = 4  # times the last-level caches: a working set of which nearly nothing is cached

P = TypeVar("P")


def fits(wanted_bytes: int, share: float) -> int:
    """Return the size wanted, or that share of the free memory where it is less."""
    free_bytes = available_bytes()
    return wanted_bytes if free_bytes is None else min(wanted_bytes, int(free_bytes * share))


def shrink(params: P, seconds: Callable[[P], float], limit_s: float, **least: float) -> P:
    """Return the parameters, cut one after another until a run takes `limit_s` at most.

    `least` names the fields in the order in which they are cut, each with its least value. `rounds`
    and other counts below 64 go down by one, sizes by half.
    """
    for name, least_value in least.items():
        while seconds(params) > limit_s and (value := getattr(params, name)) > least_value:
            changed: dict[str, Any] = {name: value - 1 if value < 64 else value // 2}
            params = replace(params, **changed)  # type: ignore[type-var]
    return params
