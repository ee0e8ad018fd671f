"""What is a way between two parts made of? Steps, each with what it carries at best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DataPath:
    """The boxes and lines that are passed, and the way in words."""

    lit: frozenset[str]
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """A part that data passes, and what it carries at best where that is known."""

    name: str
    peak: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A device at one end: its box, its name, its place in the PCI tree."""

    box: str
    name: str
    address: str | None
    gpu: int | None = None  # its index


def narrowest(steps: Sequence[Step]) -> Step:
    """Return the step that carries least; one of which nobody tells where that is all of them."""
    known = [step for step in steps if step.peak is not None]
    return min(known, key=lambda step: step.peak or 0.0) if known else steps[0]


def once(names: Sequence[str]) -> list[str]:
    """Return names without those that stand right after the same one."""
    return [name for n, name in enumerate(names) if n == 0 or names[n - 1] != name]
