"""The values at which a slider stops: powers of two, 1-2-5 or even steps, by its scale."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from experiments.core.declare import Spec

MOST = 100  # steps on a linear scale; finer values can be typed


@dataclass(frozen=True, slots=True)
class Stops:
    """Values in ascending order, and the place of each on the slider, from 0 to 1."""

    values: tuple[float, ...]
    places: tuple[float, ...]

    def nearest(self, place: float) -> int:
        """Return the index of the stop nearest to a place on the slider."""
        return min(range(len(self.places)), key=lambda index: abs(self.places[index] - place))

    def beside(self, value: float, direction: int) -> float:
        """Return the next stop above `value`, or below it where `direction` is negative."""
        if direction > 0:
            return next((stop for stop in self.values if stop > value), self.values[-1])
        return next((stop for stop in self.values[::-1] if stop < value), self.values[0])


def stops(spec: Spec, value: float, *, whole: bool) -> Stops:
    """Return the stops from `spec.minimum` to `spec.maximum`; `value` is one of them."""
    assert spec.minimum is not None
    assert spec.maximum is not None
    least, most = spec.minimum, spec.maximum
    scale = spec.scale if least > 0 else "linear"
    match scale:
        case "log2":
            found = _powers_of_two(least, most)
        case "log10":
            found = _one_two_five(least, most)
        case _:
            found = _even(least, most, whole=whole)
    values = sorted({least, most, value, *(stop for stop in found if least <= stop <= most)})
    if whole:
        values = sorted({round(stop) for stop in values})
    measure = math.log if scale != "linear" else float
    low, high = measure(least), measure(most)
    span = (high - low) or 1.0
    return Stops(tuple(values), tuple((measure(stop) - low) / span for stop in values))


def _powers_of_two(least: float, most: float) -> Iterator[float]:
    for exponent in range(math.floor(math.log2(least)), math.ceil(math.log2(most)) + 1):
        yield 2**exponent if exponent >= 0 else 2.0**exponent


def _one_two_five(least: float, most: float) -> Iterator[float]:
    for exponent in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1):
        for digit in (1, 2, 5):
            yield float(f"{digit}e{exponent}")


def _even(least: float, most: float, *, whole: bool) -> Iterator[float]:
    finest = (most - least) / MOST
    if finest <= 0:
        return
    step = next(s for s in _one_two_five(finest, 10 * finest) if s >= finest * (1 - 1e-9))
    if whole:
        step = max(1.0, step)
    for number in range(math.ceil(least / step), math.floor(most / step) + 1):
        yield float(f"{number * step:.12g}")
