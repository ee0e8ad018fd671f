"""What does the catalogue know of an experiment? What stands on its card, as data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from experiments.core.declare import Part
from widgets.catalogue.sketch import Sketch


class State(StrEnum):
    """Where an experiment stands on this machine."""

    UNKNOWN = "unknown"  # the machine is still being read
    NEW = "new"
    MEASURED = "measured"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_HERE = "not_here"  # the machine lacks something
    RUNNING = "running"


WORDS = {
    State.NEW: "catalogue.new",
    State.MEASURED: "catalogue.measured",
    State.PARTIAL: "catalogue.partial",
    State.FAILED: "catalogue.failed",
    State.NOT_HERE: "catalogue.not_here",
    State.RUNNING: "catalogue.running",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CardData:
    """One experiment as its card shows it."""

    id: str
    shelf: str
    parts: tuple[Part, ...]
    question: str
    topic: str
    note: str  # the result, the reason, or else the topic
    sketch: Sketch
    state: State = State.UNKNOWN
    is_measured: bool = False  # also while it runs again
    seconds: float | None = None  # of a run on this machine
    fraction: float = 0.0  # of the run under way

    @property
    def runs_here(self) -> bool:
        """Can it be run, as far as is known?"""
        return self.state is not State.NOT_HERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which experiments are shown."""

    part: Part | None = None
    seconds: float | None = None
    only_here: bool = False
    text: str = ""

    def passes(self, data: CardData) -> bool:
        """Is it to be shown? What is not known yet keeps nothing away."""
        if self.part is not None and self.part not in data.parts:
            return False
        if self.seconds is not None and (data.seconds or 0.0) > self.seconds:
            return False
        if self.only_here and not data.runs_here:
            return False
        about = f"{data.question} {data.topic} {data.id}".lower()
        return all(word in about for word in self.text.lower().split())


def counted(cards: Iterable[CardData]) -> dict[str, int]:
    """Return how many were measured, how many can be, and how many cannot.

    Where one is not known yet, nothing.
    """
    known = list(cards)
    if any(data.state is State.UNKNOWN for data in known):
        return {}
    there = [data for data in known if data.is_measured or data.state is not State.NOT_HERE]
    return {
        "measured": sum(data.is_measured for data in known),
        "count": len(there),
        "lacking": len(known) - len(there),
    }
