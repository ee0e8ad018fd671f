"""What the checks judge: the machine, what the system says of itself, and the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments.checkup.result import Result, Row
from experiments.core.declare import Experiment
from experiments.engine import messages
from machine.live.sampler import Sample
from machine.model import Machine

if TYPE_CHECKING:
    from machine.doctor.diagnosis import Diagnosis

DISTURBANCES = ("machine_was_busy", "time_was_stolen", "gpu_is_shared")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run of an experiment on a device, with what was watched meanwhile."""

    experiment: Experiment[Any]
    device: str
    started: messages.Started | None
    finished: messages.Finished
    tables: Mapping[str, Sequence[Any]]
    notes: Sequence[messages.Note] = ()
    watched: Sequence[Sample] = ()
    seconds: float = 0.0

    @property
    def values(self) -> Mapping[str, float]:
        """The numbers of its finding."""
        return self.finished.finding.values if self.finished.finding else {}

    @property
    def disturbance(self) -> messages.Note | None:
        """The note of what disturbed it, if anything did."""
        return next((note for note in self.notes if note.key in DISTURBANCES), None)

    @property
    def is_whole(self) -> bool:
        """Did it come to its end?"""
        return self.finished.outcome is messages.Outcome.COMPLETED


@dataclass(kw_only=True)
class Evidence:
    """All that is known so far; what was not looked at is None, and runs grow."""

    machine: Machine
    diagnosis: Diagnosis | None = None
    baseline: Result | None = None
    runs: dict[tuple[str, str], list[Ran]] = field(default_factory=dict)
    # Why an experiment could not be run on a device: a problem in a sentence.
    refused: dict[tuple[str, str], messages.ProblemSent] = field(default_factory=dict)

    def add(self, run: Ran) -> None:
        """Keep a run."""
        self.runs.setdefault((run.experiment.id, run.device), []).append(run)

    def of(self, experiment: str, device: str = "") -> Sequence[Ran]:
        """Return the runs of an experiment on a device, in order."""
        return self.runs.get((experiment, device), ())

    def devices(self, experiment: str) -> tuple[str, ...]:
        """Return the devices that an experiment was run on, or should have been."""
        asked = (*self.runs, *self.refused)
        return tuple(dict.fromkeys(device for name, device in asked if name == experiment))

    def earlier(self, row_of: tuple[str, str]) -> Row | None:
        """Return the baseline's row of a rule and a part."""
        rows: Iterator[Row] = iter(self.baseline.rows if self.baseline else ())
        return next((row for row in rows if (row.rule, row.part) == row_of), None)
