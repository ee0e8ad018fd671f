"""Steps of a data path between two parts, each with its peak bandwidth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataPath:
    """The boxes and lines that data passes, and the path in words."""

    lit: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A part that data passes, and its peak bandwidth if known."""

    name: str
    peak: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device at one end: its box, its name, its PCI address."""

    box: str
    name: str
    address: str | None
    gpu: int | None = None  # its index


def narrowest(steps: Sequence[Step]) -> Step:
    """Return the step with the least bandwidth; the first one if all are unknown."""
    known = [step for step in steps if step.peak is not None]
    return min(known, key=lambda step: step.peak or 0.0) if known else steps[0]


def once(names: Sequence[str]) -> list[str]:
    """Return names without immediate repetitions."""
    return [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]
