"""Targets: the places of the window, and what to open there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAP, LIVE, EXPERIMENTS, CHECKUP, RUNS = "map", "live", "experiments", "checkup", "runs"

# With an opened run: show it, run it again, run it again and compare the two, or replay it. With an
# experiment alone: ask for a prediction once more. In Runs without a run: the collage of many.
Then = Literal["", "measure", "compare", "replay", "ask", "collage"]


@dataclass(frozen=True, slots=True)
class Target:
    """A destination: a place, and what to open there."""

    place: str
    experiment: str | None = None
    run: Path | None = None  # opened as it was
    files: tuple[Path, ...] = ()  # dropped ones, to be looked into
    then: Then = ""
    beside: Path | None = None  # another run on the same axes
    part: str | None = None  # of the map, as in experiments.core.declare.Part
    threads: frozenset[int] = frozenset()  # of it, where it is a core
