"""The evidence of the checks: the machine, what the system says of itself, and the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments.checkup.order import Order
from experiments.checkup.result import Result, Row, Word
from experiments.core.declare import Experiment
from experiments.core.judging.trust import DOUBTS
from experiments.engine import messages
from machine.live.gpu_samples import GpuSample
from machine.live.sampler import Sample
from machine.model import Machine, to_json
from machine.record import Record

if TYPE_CHECKING:
    from experiments.checkup.rules import Rule
    from machine.doctor.diagnosis import Diagnosis
    from machine.live.surroundings import Surroundings
    from machine.memory.errors import MemoryErrors
    from machine.system.kernel_log import KernelLog

NOTED = (*DOUBTS, "gpu_is_shared")  # the notes of a run that was disturbed


class Ran(Record):
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
        return next((note for note in self.notes if note.key in NOTED), None)

    @property
    def is_whole(self) -> bool:
        """Did it come to its end?"""
        return self.finished.outcome is messages.Outcome.COMPLETED


@dataclass(kw_only=True)
class Evidence:
    """All that is known so far; what was not looked at is None, and runs grow."""

    machine: Machine
    baseline: Result | None = None
    order: Order | None = None
    references: Sequence[Result] = ()
    surroundings: Surroundings | None = None
    kernel_log: KernelLog | None = None
    memory_errors: MemoryErrors | None = None
    gpu_samples: Sequence[GpuSample] = ()
    diagnosis: Diagnosis | None = None
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

    def earlier(self, rule: Rule, part: str) -> Row | None:
        """Return the baseline's row of a part; None if disturbed, or if the rule has changed."""
        wanted = rule.id, rule.version, part
        return next(
            (
                row
                for row in (self.baseline.rows if self.baseline else ())
                if (row.rule, row.version, row.part) == wanted and row.disturbance is None
            ),
            None,
        )

    def elsewhere(self, rule: Rule, part: str) -> list[float]:
        """Return the samples of a rule on parts of the same model, of machines known to be good."""
        if not self.references:  # to write a large machine takes longer than to judge a row
            return []
        mine, what = _model(to_json(self.machine), part), part.partition(".")[2]
        return [
            sample
            for result in self.references
            for row in result.rows
            if (row.rule, row.version) == (rule.id, rule.version) and _is_sound(row)
            if row.part.partition(".")[2] == what and mine
            if _model(result.machine, row.part) == mine
            for sample in row.samples
        ]

    def trace(self) -> Iterator[dict[str, Any]]:
        """Yield what was watched during the sustained load: one entry a sample."""
        for run in (
            run for (name, _), runs in self.runs.items() if name == "sustained" for run in runs
        ):
            start_s = run.watched[0].t_s if run.watched else 0.0
            for sample in run.watched:
                yield traced(sample, sample.t_s - start_s)


def _is_sound(row: Row) -> bool:
    """May a row serve as a reference?"""
    is_good = row.word is Word.FINE or row.reason == "no_expectation"
    return is_good and row.disturbance is None


def _model(machine: Mapping[str, Any], part: str) -> str:
    """Return what a number depends on: the model of the GPU, else processor and memory."""
    number = part.partition(".")[0].removeprefix("gpu")
    try:
        if number.isdigit():
            return str(machine["gpus"][int(number)]["name"] or "")
        modules = [(m["size_bytes"], m["transfers_per_s"]) for m in machine["memory"]["modules"]]
        return f"{machine['cpu']['model']} {modules}" if machine["cpu"]["model"] else ""
    except (KeyError, IndexError, TypeError):  # a file by a stranger
        return ""


def traced(sample: Sample, t_s: float) -> dict[str, Any]:
    """Return the clocks, temperatures, watts and throttle reasons of a sample."""
    busy = [thread.busy for thread in sample.threads if thread.busy is not None]
    clocks = [thread.hz for thread in sample.threads if thread.hz is not None]
    found: dict[str, Any] = {
        "t_s": round(t_s, 3),
        "busy_fraction": round(sum(busy) / len(busy), 4) if busy else None,
        "core_hz": round(sum(clocks) / len(clocks)) if clocks else None,
    }
    if (heat := sample.heat) is not None:
        hottest = [each.now_celsius for each in heat.sensors if each.now_celsius is not None]
        found["cpu_celsius"] = max(hottest, default=None)
        found["cpu_watts"] = heat.watts
    for gpu in sample.gpus:
        found[f"gpu{gpu.index}_hz"] = gpu.sm_hz
        found[f"gpu{gpu.index}_celsius"] = gpu.temperature_celsius
        found[f"gpu{gpu.index}_watts"] = gpu.power_watts
        held = [r.key for r in gpu.clock_reasons or () if r.severity != "information"]
        found[f"gpu{gpu.index}_held_back"] = ", ".join(held)
    return {name: value for name, value in found.items() if value is not None}
