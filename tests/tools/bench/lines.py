"""One line of the benchmark: what was measured, the figure, its budget, and whether it is kept."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """A figure in words; `kept` is None where there is no budget, or nothing to compare with."""

    what: str
    figure: str
    budget: str = ""
    kept: bool | None = None
    why: str = ""  # it is over its budget, as far as that was measured too


def within(ratio: float, low: float, high: float) -> bool:
    """Is a ratio inside its budget?"""
    return low <= ratio <= high
