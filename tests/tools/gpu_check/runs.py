"""The experiments that use a GPU: which of them, in which order, and how each run ended."""

from __future__ import annotations

import gzip
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment, specs
from experiments.core.needs import missing_need
from experiments.core.problems import UserError
from experiments.devices.device import CPU
from experiments.engine.recording import SUFFIXES, Recording, read
from machine.model import Machine
from tests.tools.gpu_check import processes

ABOVE = frozenset({"above_the_limit", "above_the_link"})  # an experiment's own word for "wrong"
IN_CACHE = "partly_in_cache"  # its word for: no limit of memory
CANNOT_RUN_HERE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """The end of the run of one experiment, and its finding."""

    experiment: str
    quick: bool
    code: int
    took_s: float
    said: str  # the finding's message, else the last line of what it printed
    outcome: str = "no recording"
    params: dict[str, Any] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    clock_hz: list[float] = field(default_factory=list)  # lowest and highest seen
    held_back: list[str] = field(default_factory=list)

    @property
    def is_wrong(self) -> bool:
        """Did it not end as it should, run on the processor, or measure more than is possible?"""
        is_done = self.code == 0 and self.outcome == "completed"
        is_done = is_done and self.params.get("device") != CPU
        return not (is_done or self.code == CANNOT_RUN_HERE) or bool(ABOVE & set(self.limits))


def chosen(
    machine: Machine, only: Sequence[str], first: Sequence[str]
) -> tuple[list[Experiment[Any]], list[str]]:
    """Return what is to be run, and the ids that use no GPU of this machine."""
    found, left_out = [], []
    for experiment in Catalogue():
        takes_device = "device" in specs(experiment.params)
        if not takes_device or (only and experiment.id not in only):
            continue
        has_needs = missing_need(experiment, machine) is None
        if has_needs and experiment.params_for(machine, quick=False).device != CPU:
            found.append(experiment)
        else:
            left_out.append(experiment.id)
    place = {name: number for number, name in enumerate(first)}
    found.sort(key=lambda experiment: place.get(experiment.id, len(place)))
    return found, left_out


def command(experiment: str, file: Path, data: Path, *, quick: bool) -> list[str]:
    """Return how an experiment is run, so that its recording is in `file` or else in `data`."""
    what = [sys.executable, "-m", "app", "--data", str(data), "run", experiment]
    return [*what, "--out", str(file), *(["--quick"] if quick else [])]


def run(experiment: str, folder: Path, *, quick: bool, limit_s: float) -> Ran:
    """Run one experiment, whatever it does; recording and log are left in `folder`."""
    file, log = folder / f"{experiment}{SUFFIXES[1]}", folder / f"{experiment}.log"
    file.unlink(missing_ok=True)
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as data:
        code = processes.run(command(experiment, file, Path(data), quick=quick), log, limit_s)
        took_s = time.monotonic() - start_s
        kept = [each for each in Path(data).rglob("*") if each.name.endswith(SUFFIXES)]
        if not file.exists() and kept:  # it was killed before it wrote its copy
            whole = kept[0].read_bytes()
            file.write_bytes(whole if kept[0].suffix == ".gz" else gzip.compress(whole))
    try:
        found = _told(read(file))
    except (OSError, UserError):
        found = {}
    found.setdefault("said", processes.last(log))
    return Ran(experiment=experiment, quick=quick, code=code, took_s=took_s, **found)


def _told(recording: Recording) -> dict[str, Any]:
    """Return what a recording says of its run."""
    finished, finding = recording.finished, recording.finished.finding
    seen = [row.row for row in recording.rows.get("conditions", ())]
    clocks = [hz for row in seen if isinstance(hz := row.get("sm_hz"), int | float)]
    found = {
        "outcome": str(finished.outcome),
        "params": dict(recording.started.params),
        "notes": [each.key for each in recording.events if hasattr(each, "key")],
        "clock_hz": [min(clocks), max(clocks)] if clocks else [],
        "held_back": sorted({str(row["held_back"]) for row in seen if row.get("held_back")}),
    }
    if finding is not None:
        found |= {"said": finding.message, "values": dict(finding.values)}
        found |= {"limits": list(finding.limits), "unclear": list(finding.unclear)}
    elif finished.problem is not None:
        found["said"] = f"{finished.problem.key} {finished.problem.detail or ''}".strip()
    return found
