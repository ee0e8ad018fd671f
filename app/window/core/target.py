"""Targets: the places of the window, and what to open there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

MAP, LIVE, EXPERIMENTS, RUNS = "map", "live", "experiments", "runs"

Then = Literal["", "measure", "replay"]  # with an opened run: show it, run it again, or replay it


@dataclass(frozen=True, slots=True)
class Target:
    """Where to go: a place, and what to open there."""

    place: str
    experiment: str | None = None
    run: Path | None = None  # opened as it was
    then: Then = ""
    beside: Path | None = None  # another run on the same axes
    part: str | None = None  # of the map, as in experiments.core.declare.Part
    threads: frozenset[int] = frozenset()  # of it, where it is a core
    files: tuple[Path, ...] = ()  # dropped ones, to be looked into
