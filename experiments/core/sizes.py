"""Sizes of memory, and how parameters are cut until a run fits into memory and time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from msgspec.structs import replace

from machine.memory.host import available_bytes
from machine.model import Machine, last_level_cache_bytes
from machine.record import Record
from machine.system.moment import for_a_moment

R = TypeVar("R", bound=Record)

KIB, MIB, GIB = 2**10, 2**20, 2**30
BEYOND_CACHE = 4  # times the last-level caches: a working set of which nearly nothing is cached
free_bytes_now = for_a_moment(available_bytes)


def fits(wanted_bytes: int, share: float) -> int:
    """Return the size wanted, or that share of the free memory where it is less."""
    free_bytes = free_bytes_now()
    return wanted_bytes if free_bytes is None else min(wanted_bytes, int(free_bytes * share))


def beyond_cache(
    machine: Machine, least_bytes: int, share: float, times: int = BEYOND_CACHE
) -> int:
    """Return the bytes of `times` last-level caches, at least `least_bytes`, within that share."""
    wanted = max(times * (last_level_cache_bytes(machine) or 0), least_bytes)
    return max(fits(wanted, share), MIB)


def shrink(params: R, cost: Callable[[R], float], limit: float, **least: float) -> R:
    """Return the parameters, cut one after another until a run costs the limit at most.

    The cost is the seconds or the bytes that a run takes.

    `least` names the fields in the order in which they are cut, each with its least value. Counts
    below 64 go down by one, sizes by half; so do fields on a logarithmic scale. A float is a time
    to which the cost is proportional, beside what is fixed: it is cut to what is left. A switch
    goes off.
    """
    declared: Any = type(params)
    for name, least_value in least.items():
        while cost(params) > limit and (value := getattr(params, name)) > least_value:
            if isinstance(value, float):
                fixed = cost(replace(params, **{name: 0.0}))
                fraction = (limit - fixed) / (cost(params) - fixed)
                less: float = int(value * fraction * 1000) / 1000
            else:
                is_count = value < 64 and declared.__specs__[name].scale == "linear"
                less = value - 1 if is_count else value // 2
            params = replace(params, **{name: type(value)(max(least_value, less))})
    return params


def ladder(first: int, most: int, step: int) -> list[int]:
    """Return `first`, `first` times `step` and so on, up to `most`; at least `first`."""
    found = [first]
    while found[-1] * step <= most:
        found.append(found[-1] * step)
    return found


def change(*, at_most: Mapping[str, float] | None = None, **values: Any) -> Callable[[R], R]:
    """Return what sets these parameters, and lowers those that are above their `at_most`.

    A function makes a parameter from what it was.
    """

    def changed(params: R) -> R:
        now = {n: getattr(params, n) for n in (*values, *(at_most or ()))}
        new = {n: value(now[n]) if callable(value) else value for n, value in values.items()}
        return replace(params, **new, **{n: min(now[n], m) for n, m in (at_most or {}).items()})

    return changed
