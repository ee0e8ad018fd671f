"""Where can one go in the window, and what can be opened there?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

MAP, LIVE, EXPERIMENTS, CHECKUP, RUNS = "map", "live", "experiments", "checkup", "runs"


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go: a place, and what to open there."""

    place: str
    experiment: str | None = None
    run: Path | None = None  # opened as it was
    again: bool = False  # and measured once more, with its settings
    beside: Path | None = None  # another run on the same axes
    part: str | None = None  # of the map, as in experiments.declare.Part
