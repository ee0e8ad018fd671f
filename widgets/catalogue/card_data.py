"""Data on the card of an experiment, and the filter of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from experiments.core.declare import Part
from experiments.core.found_by import is_found
from widgets.catalogue.sketch import Sketch


class State(StrEnum):
    """State of an experiment on this machine."""

    UNKNOWN = "unknown"  # the machine is still being read
    NEW = "new"
    MEASURED = "measured"
    PARTIAL = "partial"
    FAILED = "failed"
    NOT_HERE = "not_here"  # the machine lacks something
    RECORDED = "recorded"  # it lacks something, and a recording comes along
    FROM_FILE = "from_file"  # the machine is not this one, so nothing can be measured on it
    RUNNING = "running"
    REFUSED = "refused"  # a user's own, in which something is wrong


WORDS = {
    State.NEW: "catalogue.new",
    State.MEASURED: "catalogue.measured",
    State.PARTIAL: "catalogue.partial",
    State.FAILED: "catalogue.failed",
    State.NOT_HERE: "catalogue.not_here",
    State.RECORDED: "catalogue.recorded",
    State.FROM_FILE: "catalogue.from_file",
    State.RUNNING: "catalogue.running",
    State.REFUSED: "catalogue.refused",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CardData:
    """One experiment as its card shows it."""

    id: str
    shelf: str
    parts: tuple[Part, ...]
    question: str
    topic: str
    note: str  # the result, why it cannot run, or the topic
    sketch: Sketch
    found_by: tuple[str, ...] = ()  # other names that people use for it
    is_lesson: bool = False
    is_tool: bool = False
    follows: str = ""  # the id of the lesson that it is a follow-up of
    lesson: str = ""  # the question of that lesson
    state: State = State.UNKNOWN
    is_measured: bool = False  # stays True while it runs again
    seconds: float | None = None  # duration of a run on this machine
    fraction: float = 0.0  # progress of the current run

    @property
    def is_own(self) -> bool:
        """Return whether it is a user's own."""
        return self.shelf == "yours"

    @property
    def runs_here(self) -> bool:
        """Return whether it can run here, as far as is known."""
        elsewhere = State.NOT_HERE, State.RECORDED, State.FROM_FILE
        return self.state not in (*elsewhere, State.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathData:
    """A path as the catalogue shows it."""

    id: str
    title: str
    about: str
    experiments: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Selects the experiments that are shown."""

    part: Part | None = None
    seconds: float | None = None
    only_here: bool = False
    text: str = ""
    path: PathData | None = None

    def passes(self, data: CardData) -> bool:
        """Return whether it is shown. Unknown facts exclude nothing."""
        if self.path is not None and data.id not in self.path.experiments:
            return False
        if self.part is not None and self.part not in data.parts:
            return False
        if self.seconds is not None and (data.seconds or 0.0) > self.seconds:
            return False
        if self.only_here and not data.runs_here:
            return False
        return is_found(self.text, (data.question, data.topic, data.id, *data.found_by))


def counted(cards: Iterable[CardData]) -> dict[str, int]:
    """Return how many were measured, can be, and cannot be; {} where nothing is or can be known."""
    known = list(cards)
    if any(data.state in (State.UNKNOWN, State.FROM_FILE) for data in known):
        return {}
    there = [data for data in known if data.is_measured or data.runs_here]
    return {
        "measured": sum(data.is_measured for data in known),
        "count": len(there),
        "lacking": len(known) - len(there),
    }
