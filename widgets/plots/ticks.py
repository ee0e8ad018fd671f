"""Ticks of an axis at 1-2-5 steps or powers, with labels in real units."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from experiments.core.units import show
from experiments.core.views import Axis, Scale

FACTORS = (1, 2, 5, 10)
FEW_POWERS = 3  # of ten; fewer get 1-2-5 ticks between them
_MIN_S, _HOUR_S, _DAY_S, _YEAR_S = 60.0, 3600.0, 86400.0, 365.25 * 86400
_LONG_TIMES_S = (
    *(_MIN_S, 10 * _MIN_S, _HOUR_S, 10 * _HOUR_S, _DAY_S, 10 * _DAY_S, 100 * _DAY_S),
    *(_YEAR_S * 10.0**power for power in range(7)),
)
_FEW_MIN_S = 2 * _MIN_S  # up to here a linear axis counts seconds
_MIN_STEPS_S = (30.0, 60.0, 120.0, 300.0, 600.0, 1200.0)
_HOUR_STEPS_S = (900.0, 1800.0, 3600.0, 7200.0, 14400.0, 43200.0, 86400.0)
LEAST, MOST = 1e-30, 1e30  # beyond all our units, and safe from overflow


def has_place(value: float, scale: Scale) -> bool:
    """Return whether a value fits on an axis: finite, and above 0 on a logarithmic one."""
    return (LEAST if scale != "linear" else -MOST) <= value <= MOST


def placed(rows: Sequence[Any], *axes: Axis) -> list[Any]:
    """Return the rows whose values fit on all of these axes."""
    return [row for row in rows if all(has_place(getattr(row, a.column), a.scale) for a in axes)]


def to_axis(value: float, scale: Scale) -> float:
    """Return the place of a value on an axis. Raises ValueError for 0 on a logarithmic one."""
    if scale == "log2":
        return math.log2(value)
    if scale == "log10":
        return math.log10(value)
    return value


def from_axis(place: float, scale: Scale) -> float:
    """Return the value at a place on an axis."""
    if scale == "log2":
        return float(2**place)
    if scale == "log10":
        return float(10**place)
    return place


def ticks(low: float, high: float, scale: Scale, most: int, unit: str = "") -> list[float]:
    """Return the ticks from `low` to `high`, at most `most`."""
    if not low < high or most < 1:
        return []
    is_binary = scale == "log2" or unit == "bytes"
    if scale == "linear":
        if unit == "s" and high > _FEW_MIN_S:
            least_s = (high - low) / most
            steps_s = _MIN_STEPS_S if high < _HOUR_S else _HOUR_STEPS_S
            step_s = next((each for each in steps_s if each >= least_s), None)
            if step_s is not None:
                return _multiples_of(step_s, low, high)
        return _steps(low, high, most, is_binary=is_binary)
    if scale == "log10" and unit == "s" and high > 10 * _MIN_S:
        found = [step for step in ladder(low, high, unit) if low <= step <= high]
        if len(found) > 1:
            return found[:: math.ceil(len(found) / most)]
    base = 2 if scale == "log2" else 10
    first = math.ceil(math.log(low, base) - 1e-9)
    last = math.floor(math.log(high, base) + 1e-9)
    every = max(1, math.ceil((last - first + 1) / most))
    if base == 2 and every > 1:
        every += every % 2  # 4 KiB, 16 KiB, 64 KiB rather than 4, 32, 256
    found = [float(base) ** power for power in range(first, last + 1) if power % every == 0]
    if len(found) < 2 <= most:  # count from the first power instead of from 1
        found = [float(base) ** power for power in range(first, last + 1, every)]
    if base == 10 and len(found) < FEW_POWERS:
        between = _between(low, high)
        if 1 < len(between) <= most:
            return between
    if len(found) > 1 or most < 2:
        return found
    return _steps(low, high, most, is_binary=is_binary)  # so close that it is almost linear


def ladder(low: float, high: float, unit: str = "") -> list[float]:
    """Return powers of ten from below `low` to above `high`; minutes to years for long times."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [10.0**power for power in powers]
    if unit != "s" or high <= 10 * _MIN_S:
        return found
    steps = [*(step for step in found if step < _MIN_S), *_LONG_TIMES_S]
    first = max((place for place, step in enumerate(steps) if step <= low), default=0)
    last = min(place for place, step in enumerate(steps) if step >= high or step == steps[-1])
    return steps[first : last + 1]


def labels(values: Sequence[float], unit: str, scale: Scale) -> list[str]:
    """Return the labels of ticks, such as "64 KiB" or "1.5 s"; on a linear axis in one unit."""
    if scale != "linear" or not values:
        return [label(value, unit) for value in values]
    greatest = max(values, key=abs)
    number, rest = _split(show(greatest, unit))
    if unit == "s" and _MIN_S <= abs(greatest) <= _FEW_MIN_S:
        number, rest = greatest, " s"  # ticks at tens of seconds are no round minutes
    if not number or not greatest:
        return [label(value, unit) for value in values]
    one = greatest / number
    is_power = rest.startswith(" × ")  # of ten: 0 has none
    return ["0" if is_power and not value else f"{_plain(value / one)}{rest}" for value in values]


def label(value: float, unit: str) -> str:
    """Return the label of one tick, such as "64 KiB" or "1.5 s", never "1e6"."""
    number, rest = _split(show(_tidy(value), unit))
    return f"{_plain(number)}{rest}"


def _split(text: str) -> tuple[float, str]:
    """Return the number at the start of a text, and the rest."""
    found = re.match(r"-?\d+(\.\d+)?", text)
    return (float(found[0]), text[found.end() :]) if found else (0.0, text)


def _plain(number: float) -> str:
    """Return a number without trailing zeros: 0.5, not 0.500."""
    text = f"{number:.6f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _tidy(value: float) -> float:
    """Return a tick without the rounding error of logarithms: 100 ns, not 99.99999 ns."""
    return float(f"{value:.9g}")


def _steps(low: float, high: float, most: int, *, is_binary: bool) -> list[float]:
    """Return the multiples of the smallest round step that yields at most `most` or so.

    One tick alone shows no scale, so a finer step then replaces it.
    """
    found = _multiples(low, high, (high - low) / most, is_binary=is_binary)
    if len(found) > 1 or most < 2:
        return found
    found = _multiples(low, high, (high - low) / 5, is_binary=is_binary)
    return found[:: math.ceil(len(found) / (most + 1))]


def _multiples(low: float, high: float, least: float, *, is_binary: bool) -> list[float]:
    """Return the multiples of the smallest round step that is not below `least`."""
    if is_binary:
        step = 2.0 ** math.ceil(math.log2(least) - 1e-9)
    else:
        power = 10.0 ** math.floor(math.log10(least))
        step = next(factor * power for factor in FACTORS if factor * power >= least * (1 - 1e-9))
    return _multiples_of(step, low, high)


def _multiples_of(step: float, low: float, high: float) -> list[float]:
    first = math.ceil(low / step - 1e-9)
    return [count * step for count in range(first, math.floor(high / step + 1e-9) + 1)]


def _between(low: float, high: float) -> list[float]:
    """Return the 1-2-5 values from `low` to `high`."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = (factor * 10.0**decade for decade in decades for factor in (1, 2, 5))
    return [value for value in values if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
