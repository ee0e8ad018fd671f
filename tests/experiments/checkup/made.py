"""Made-up evidence for the checks: machines that are not here, and runs from chosen numbers."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from msgspec.structs import replace

from experiments.checkup.checks import rows_of
from experiments.checkup.evidence import Evidence, Ran
from experiments.checkup.plan import SHELVES_HERE
from experiments.checkup.result import Result, Row, Word
from experiments.checkup.rules import Rule, rules
from experiments.core.catalogue import Catalogue
from experiments.core.declare import specs
from experiments.core.judging.disturbed import loss_of
from experiments.engine import messages
from machine.live.gpu_samples import GpuSample
from machine.live.heat import HeatSample
from machine.live.memory import MemorySample
from machine.live.sampler import Sample
from machine.model import Machine, from_json, to_json
from tests import ROOT

ROUNDS = (1.0, 1.01, 0.99, 1.005, 0.995)  # a calm machine, from round to round
CATALOGUE = Catalogue(SHELVES_HERE)
BUSY = messages.Note(key="machine_was_busy", values={"others_fraction": 0.4})


@functools.cache
def machine_file(name: str) -> Machine:
    """Return a machine of resources/machines."""
    path = ROOT / "resources/machines" / f"{name}.json"
    return from_json(json.loads(path.read_text(encoding="utf-8")))


def workstation() -> Machine:
    """Two equal GPUs, the second in a slot of eight lanes."""
    return machine_file("workstation")


def server() -> Machine:
    """Eight equal GPUs with NVLinks."""
    return machine_file("dual-socket-8-gpu")


def guest() -> Machine:
    """A virtual machine."""
    return machine_file("virtual-machine")


def in_a_guest(kind: Literal["vgpu", "passthrough"]) -> Callable[[], Machine]:
    """A virtual machine with a part of the GPUs of its host, or with whole ones."""
    gpus = tuple(replace(gpu, virtualization=kind) for gpu in workstation().gpus)
    return lambda: replace(workstation(), virtualization="kvm", gpus=gpus)


def rule(name: str) -> Rule:
    """Return one of the rules."""
    return next(each for each in rules().rule if each.id == name)


def ran(
    experiment: str,
    rows: Iterable[object],
    here: Machine,
    *,
    device: str = "",
    outcome: messages.Outcome = messages.Outcome.COMPLETED,
    notes: Sequence[messages.Note] = (),
    watched: Sequence[Sample] = (),
    problem: str = "",
    **params: Any,
) -> Ran:
    """Return a run of these rows, with the finding that its own `analyse` makes of them."""
    declared = CATALOGUE.load(experiment)
    names = {*specs(declared.params)}
    given = {"device": device} if device and "device" in names else {}
    tables: dict[str, list[Any]] = {name: [] for name in declared.tables}
    named = {kind: name for name, kind in declared.tables.items()}
    for row in rows:  # a disturbed one has a type below that of its table
        tables[named[type(row).__bases__[-1] if loss_of(row) else type(row)]].append(row)
    found = declared.analyse(declared.params(**given, **params), tables, here)
    finding = messages.FindingSent(
        message=found.message, values=dict(found.values), limits=list(found.limits)
    )
    is_whole = outcome is messages.Outcome.COMPLETED
    return Ran(
        experiment=declared,
        device=device,
        started=None,
        finished=messages.Finished(
            outcome=outcome,
            finding=finding if is_whole else None,
            problem=messages.ProblemSent(key=problem) if problem else None,
        ),
        tables=tables,
        notes=notes,
        watched=watched,
    )


def evidence(here: Machine, *runs: Ran, **known: Any) -> Evidence:
    """Return what is known of a machine: its runs, and what was read."""
    found = Evidence(machine=here, **known)
    for run in runs:
        found.add(run)
    return found


def refused(here: Machine, experiment: str, key: str, device: str = "") -> Evidence:
    """Return the evidence where an experiment could not be run."""
    return evidence(here, refused={(experiment, device): messages.ProblemSent(key=key)})


def broken(here: Machine, experiment: str, device: str = "") -> Evidence:
    """Return the evidence where the measurement failed."""
    failed = messages.Outcome.FAILED
    run = ran(experiment, (), here, device=device, outcome=failed, problem="out_of_memory")
    return evidence(here, run)


def baseline(*rows: Row, here: Machine | None = None) -> Result:
    """Return an earlier checkup of these rows."""
    return Result(
        id="baseline",
        kind="quick",
        at="2026-05-04T03:02:01+00:00",
        rules_version=1,
        rows=rows,
        machine={} if here is None else to_json(here),
    )


def sample(
    t_s: float = 0.0, *gpus: GpuSample, throttled: int | None = None, packages: int | None = None
) -> Sample:
    """Return a look at the machine while something was measured."""
    memory = MemorySample(
        total_bytes=1, available_bytes=1, used_bytes=0, swap_total_bytes=0, swap_used_bytes=0
    )
    heat = HeatSample(throttled_cores=throttled, throttled_packages=packages)
    return Sample(t_s=t_s, threads=(), memory=memory, gpus=gpus, heat=heat)


@dataclass(frozen=True)
class Case:
    """The word and the reason that a rule must give a part, of some evidence."""

    rule: str
    word: Word
    reason: str
    of: Callable[[], Evidence]
    part: str | None = None  # any, where the rule has one row

    def row(self) -> Row:
        """Return the row that is said."""
        rows = [
            row
            for row in rows_of(rule(self.rule), self.of())
            if self.part is None or row.part == self.part
        ]
        assert len(rows) == 1, [(row.part, row.word, row.reason) for row in rows]
        return rows[0]


def whole(*cases: Case) -> Result:
    """Return a checkup with the rows of these cases."""
    return Result(
        id="0c8a8b6e-6f0e-4b7c-9d49-000000000000",
        kind="check",
        at="2026-05-04T03:02:01+00:00",
        rules_version=rules().version,
        machine=to_json(workstation()),
        rows=tuple(case.row() for case in cases),
    )
