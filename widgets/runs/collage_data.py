"""The words and numbers of a class collage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from experiments.core.declare import Experiment

Band = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Predictions of a number, and what was measured of it, in the SI unit `unit`.

    `band` goes from the least to the greatest measured number; `machines` counts the machines.
    """

    guesses: Sequence[float]
    yours: float | None
    band: Band | None
    machines: int
    unit: str
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer: how many chose it, and on how many machines it was the right one."""

    text: str
    count: int
    machines: int
    is_yours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One machine in SI units; `said` names its owner, as far as the owner wanted."""

    x: float
    y: float
    said: str
    is_here: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Cloud:
    """Machines by two numbers that each has measured."""

    points: Sequence[Point]
    titles: tuple[str, str]  # of x and y
    units: tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The collage of one experiment. Parts that cannot be drawn are empty or None."""

    experiment: Experiment[Any]
    question: str
    count: str  # such as "30 results"
    main: str
    rest: str
    guesses: Numbers | Sequence[Option]
    cloud: Cloud | None
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
