"""Check the figures of a GPU: `make gpu-check`, on any machine with a GPU, PyTorch and no Qt.

Runs every experiment that takes a device, keeps the recordings, and holds rates against CUDA.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tests import ROOT

WHOLE_S = 480.0
OUTSIDE_S = 75.0  # kept for the twin
START_S = 8.0  # of a process, torch and the driver
LIBRARIES = ("torch", "numpy", "numba", "psutil", "pynvml", "msgspec", "rich", "platformdirs")


@dataclass(frozen=True, slots=True)
class Held:
    """A value of an experiment beside the same figure of CUDA, and how far apart they may be."""

    experiment: str
    value: str
    outside: str
    budget: tuple[float, float] | None = None


@functools.cache
def all_held() -> tuple[Held, ...]:
    """Return what the experiments hold against CUDA."""
    from experiments.core.catalogue import Catalogue

    return tuple(
        Held(experiment.id, value, outside, budget)
        for experiment in Catalogue()
        for value, (outside, budget) in experiment.held.items()
    )


@dataclass(frozen=True, slots=True)
class Ran:
    """How the run of one experiment ended."""

    experiment: str
    code: int
    took_s: float
    quick: bool
    said: str
    values: Mapping[str, float]


def main(arguments: list[str]) -> int:
    """Check this machine; 0 where all went well, 1 where something is wrong, 3 without a GPU."""
    missing = [name for name in LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(f"This needs {', '.join(missing)}: pip install them first.\n")
        return 3
    from rich.console import Console

    from experiments.devices.device import CPU, default_device
    from machine.inspect import inspect

    parser = argparse.ArgumentParser(prog="make gpu-check", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu-check")
    parser.add_argument("--only", nargs="*", default=[], metavar="ID")
    options = parser.parse_args(arguments)
    console, machine = Console(highlight=False), inspect()
    device = default_device(machine)
    if device == CPU:
        console.print("There is no GPU here that PyTorch could use; `coreopsis doctor` says why.")
        return 3
    console.print(f"{machine.gpus[0].name or 'GPU'}, {device}; recordings go to {options.out}")
    options.out.mkdir(parents=True, exist_ok=True)
    end_s = time.monotonic() + WHOLE_S - OUTSIDE_S
    ran = []
    for each in runs(options.out, options.only, machine, end_s):
        ran.append(each)
        kind = " (quick)" if each.quick else ""
        console.print(
            f"{each.experiment}{kind}: exit {each.code}, {each.took_s:.1f} s. {each.said}"
        )
    rows, said = held_against(ran)
    console.print(_table(rows))
    for line in said:
        console.print(line, style="dim")
    wrong = [each.experiment for each in ran if each.code not in (0, 3)]
    over = [held.value for held, *_, kept in rows if kept is False]
    if wrong or over:
        console.print(f"Not as it should be: {', '.join([*wrong, *over])}")
    return 1 if wrong or over else 0


def runs(out: Path, only: list[str], machine: Any, end_s: float) -> Iterator[Ran]:
    """Run what takes a device, what is held against CUDA first; quickly when time runs short."""
    from experiments.core.catalogue import Catalogue

    first = [held.experiment for held in all_held()]
    chosen = [
        experiment
        for experiment in Catalogue()
        if "device" in {field.name for field in fields(experiment.params)}
        and (not only or experiment.id in only)
    ]
    chosen.sort(key=lambda experiment: experiment.id not in first)
    for place, experiment in enumerate(chosen):
        share_s = (end_s - time.monotonic()) / (len(chosen) - place)
        needed_s = START_S + 1.3 * experiment.seconds(experiment.params_for(machine, quick=False))
        yield _ran(experiment.id, out, quick=needed_s > share_s, limit_s=max(60.0, 3 * share_s))


def _ran(experiment: str, out: Path, *, quick: bool, limit_s: float) -> Ran:
    file = out / f"{experiment}.coreopsis.jsonl.gz"
    file.unlink(missing_ok=True)
    start_s = time.monotonic()
    with tempfile.TemporaryDirectory() as data:
        command = [
            sys.executable, "-m", "app", "--data", data, "run", experiment, "--no-keep",
            "--out", str(file), *(["--quick"] if quick else []),
        ]  # fmt: skip
        try:
            done = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, timeout=limit_s, check=False
            )
            code, errors = done.returncode, done.stderr
        except subprocess.TimeoutExpired:
            code, errors = 124, f"it took longer than {limit_s:.0f} s"
    finding = _finding(file)
    said = finding["message"] if finding else (errors.strip().splitlines() or ["?"])[-1]
    values = finding["values"] if finding else {}
    return Ran(experiment, code, time.monotonic() - start_s, quick, said, values)


def _finding(file: Path) -> Any:
    """Return message and values of a run that was written, None where it has none."""
    from experiments.core.problems import UserError
    from experiments.engine.recording import read

    try:
        finished = read(file).finished
    except (OSError, UserError):
        return None
    if finished is None or finished.finding is None:
        return None
    return {"message": finished.finding.message, "values": dict(finished.finding.values)}


def held_against(ran: list[Ran]) -> tuple[list[tuple[Held, float, float, bool | None]], list[str]]:
    """Return each value beside the figure of others, and what is to be said of the others."""
    from tests.tools.gpu_check import outside

    with tempfile.TemporaryDirectory() as folder:
        figures, why_not = outside.twin(Path(folder))
    more, why_no_more = outside.nvbandwidth()
    rows = compared(ran, figures) + compared(ran, more)
    return rows, [text for text in (why_not, why_no_more) if text]


def compared(
    ran: list[Ran], figures: Mapping[str, float]
) -> list[tuple[Held, float, float, bool | None]]:
    """Return (what, ours, theirs, is it within its budget) for all that both sides have."""
    values = {each.experiment: each.values for each in ran}
    rows = []
    for held in all_held():
        ours, theirs = values.get(held.experiment, {}).get(held.value), figures.get(held.outside)
        if ours is not None and theirs:
            low, high = held.budget or (0.0, 0.0)
            rows.append((held, ours, theirs, low <= ours / theirs <= high if held.budget else None))
    return rows


def _table(rows: list[tuple[Held, float, float, bool | None]]) -> Any:
    from rich.table import Table

    from experiments.core.units import show, unit_of

    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "ours", "CUDA", "ratio", "budget", ""):
        table.add_column(heading)
    for held, ours, theirs, kept in rows:
        unit = unit_of(held.value)
        budget = "{:.2f} to {:.2f}".format(*held.budget) if held.budget else ""
        verdict = {True: "kept", False: "OVER", None: ""}[kept]
        table.add_row(
            f"{held.experiment}: {held.value}", show(ours, unit), show(theirs, unit),
            f"{ours / theirs:.3f}", budget, verdict,
        )  # fmt: skip
    return table


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
