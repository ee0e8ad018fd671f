"""State of the map besides its structure: numbers, load, the chosen part, a data path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from experiments.core.declare import Part
from experiments.presentation.known import KnownValue
from widgets.map.live import Live


@dataclass(slots=True)
class State:
    """Mutable state; every repaint reads it."""

    values: Mapping[Part, Sequence[KnownValue]] = field(default_factory=dict)
    asked: frozenset[Part] = frozenset()  # parts that have an experiment
    busy: Mapping[int, int | None] = field(default_factory=dict)  # thread to step of load
    live: Mapping[str, Live] = field(default_factory=dict)  # by id of boxes and lines
    unusable: frozenset[int] = frozenset()
    chosen: str | None = None
    hovered: str | None = None
    pointed: str | None = None  # the other end of a data path, by keys
    lit: frozenset[str] = frozenset()  # boxes and lines on that path
    has_focus: bool = False
    shows_values: bool = True
    shows_load: bool = True

    def live_of(self, name: str) -> Live | None:
        """Return what a part does now, if the load is shown."""
        return self.live.get(name) if self.shows_load else None
