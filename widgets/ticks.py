"""Where do the ticks of an axis stand? At 1-2-5 steps or powers, told in real units."""

from __future__ import annotations

import math

from experiments.units import show
from experiments.views import Scale

FACTORS = (1, 2, 5, 10)


def to_axis(value: float, scale: Scale) -> float:
    """Return where on the axis a value stands. Raises ValueError for 0 on a logarithmic one."""
    if scale == "log2":
        return math.log2(value)
    if scale == "log10":
        return math.log10(value)
    return value


def from_axis(place: float, scale: Scale) -> float:
    """Return the value that stands at a place on the axis."""
    if scale == "log2":
        return float(2**place)
    if scale == "log10":
        return float(10**place)
    return place


def ticks(low: float, high: float, scale: Scale, most: int) -> list[float]:
    """Return the values between `low` and `high` that get a tick, `most` of them at the most."""
    if not low < high or most < 1:
        return []
    if scale == "linear":
        step = _step((high - low) / most)
        first = math.ceil(low / step - 1e-9)
        return [count * step for count in range(first, math.floor(high / step + 1e-9) + 1)]
    base = 2 if scale == "log2" else 10
    first = math.ceil(math.log(low, base) - 1e-9)
    last = math.floor(math.log(high, base) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / most))
    if base == 2 and every > 1:
        every += every % 2  # 4 KiB, 16 KiB, 64 KiB rather than 4, 32, 256
    found = [float(base) ** power for power in range(first, last + 1) if power % every == 0]
    if base == 10 and len(found) < 2:
        return [value for value in _between(low, high) if low <= value <= high]
    return found


def label(value: float, unit: str) -> str:
    """Return what a tick says: "64 KiB", "1.5 s", never "1e6"."""
    return show(value, unit)


def _step(least: float) -> float:
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in FACTORS if factor * power >= least * (1 - 1e-9))


def _between(low: float, high: float) -> list[float]:
    """Return 1-2-5 values of the decades that `low` to `high` touches."""
    decades = range(math.floor(math.log10(low)), math.floor(math.log10(high)) + 1)
    return [factor * 10.0**decade for decade in decades for factor in (1, 2, 5)]
