"""The work of a stage: it looks at the machine and at facts, runs and judges experiments.

Whatever a single one does, the next goes on, and all that was found so far is saved.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from experiments.core.units import show, unit_of
from machine.model import Machine, usable_threads
from tests.tools.gpu_check import facts, outside, processes, runs, verdicts
from tests.tools.gpu_check.report import Report

LAST_S, LEAST_S = 10.0, 15.0  # for the end of a stage, and to start anything
FACTS_S, MACHINE_S = 150.0, 90.0  # of one process
FACTS_MODULE = facts.__name__
GPU_STATE = (
    "name,driver_version,pcie.link.gen.current,pcie.link.width.current,clocks.sm,clocks.mem,"
    "temperature.gpu,power.draw,power.limit,mig.mode.current,"
    "ecc.errors.uncorrected.volatile.total"
)

Seconds = Callable[[], float]


def check(
    machine: Machine, stage: str, out: Path, only: Sequence[str], limit_s: float,
    libraries: Sequence[str], *, looks: bool = True,
) -> int:  # fmt: skip
    """Go through one stage; return 1 where something is wrong, else 0.

    `looks`: begin with the machine and with loading libraries, which takes half a minute.
    """
    end_s = time.monotonic() + limit_s - LAST_S

    def left_s() -> float:
        return end_s - time.monotonic()

    card = machine.gpus[0].name or "GPU"
    report, expected = Report(out, stage, goes_on=bool(only)), verdicts.expected(card)
    report.say(f"{card}: {stage}, at most {limit_s:.0f} s; recordings go to {report.recordings}")
    if looks:
        look_at_machine(report, libraries)
        look_at_facts(report, facts.LIBRARIES, left_s)
    if stage == "checks":
        look_at_facts(report, facts.FACTS, left_s)
    run_experiments(report, machine, stage, only, expected, left_s)
    over = hold_against_cuda(report, machine, left_s) if stage == "checks" else []
    in_cache = {name for name, ran in report.runs.items() if runs.IN_CACHE in ran.limits}
    rows = list(verdicts.judged(report.values(), expected, report.before, in_cache))
    for line in verdicts.lines(rows, expected.card):
        report.say(line)
    said = Counter(row.verdict for row in rows if row.verdict)
    nvidia_smi(report, "end")
    wrong = [ran.experiment for ran in report.runs.values() if ran.is_wrong]
    wrong += [f"{row.id}.{row.value}" for row in rows if row.verdict == verdicts.WRONG]
    wrong += over
    report.save(card=card, table=[asdict(row) for row in rows], wrong=wrong)
    failed = [each["fact"] for each in report.facts if "failed" in each]
    refused = [name for name, ran in report.runs.items() if ran.code == runs.CANNOT_RUN_HERE]
    report.say(f"Could not run here: {', '.join(refused) or 'none'}.")
    report.say(f"Facts that failed: {', '.join(failed) or 'none'}.")
    if expected.card:
        report.say(f"Verdicts: {', '.join(f'{n} {word}' for word, n in said.items()) or 'none'}.")
    else:
        report.say(f"There are no expectations of a {card}: only measured limits were judged.")
    report.say(f"Wrong: {', '.join(wrong) or 'nothing'}.")
    return 1 if wrong else 0


def look_at_machine(report: Report, libraries: Sequence[str]) -> None:
    """Keep what the program and NVIDIA's tool say of this machine."""
    found = {pip: _version(pip) for pip in ("triton", *libraries)}
    report.say(f"Python {sys.version.split()[0]}, {found}")
    nvidia_smi(report, "begin")
    for what in ("inspect", "doctor"):
        file = report.recordings / f"{what}.json"
        code = processes.run([sys.executable, "-m", "app", what, "--json"], file, MACHINE_S)
        report.say(f"{what}: exit {code}{f', {processes.last(file)}' if code else ''}")


def _version(name: str) -> str:
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError:
        return "missing"


def nvidia_smi(report: Report, when: str) -> None:
    """Say the GPU's state."""
    log = report.recordings / f"nvidia-smi-{when}.txt"
    processes.run(["nvidia-smi", f"--query-gpu={GPU_STATE}", "--format=csv"], log, 20.0)
    report.say(processes.text(log))


def look_at_facts(report: Report, which: Sequence[Callable[..., Any]], left_s: Seconds) -> None:
    """Look at each fact; after one that ends its process or hangs, a new process goes on."""
    names, log = [each.__name__ for each in which], report.recordings / "facts.log"
    while names:
        if left_s() < LEAST_S:
            report.say(f"No time was left for: {', '.join(names)}.")
            break
        command = [sys.executable, "-m", FACTS_MODULE, *names]
        code = processes.run(command, log, min(left_s(), FACTS_S))
        found = facts.told(processes.text(log))
        names = names[len(found) :]
        if names:
            found.append({"fact": names.pop(0), "failed": f"exit {code}: {processes.last(log)}"})
        for each in found:
            said = [
                f"{name} {show(value, unit_of(name)) if isinstance(value, int | float) else value}"
                for name, value in each.get("said", {}).items()
            ]
            failed = f"FAILED {each['failed']}" if "failed" in each else ""
            took = f" [{each['took_s']:.1f} s]" if "took_s" in each else ""
            report.say(f"{each['fact']}: {'; '.join(said)}{failed}{took}")
        report.facts += found
        report.save()


def run_experiments(
    report: Report, machine: Machine, stage: str, only: Sequence[str], expected: verdicts.Expected,
    left_s: Seconds,
) -> None:  # fmt: skip
    """Run those of this stage, and say what no time was left for."""
    chosen, left_out = runs.chosen(machine, only, expected.order())
    if stage == "checks" and not only:
        chosen = [each for each in chosen if each.cuda_reference]
    if left_out:
        report.say(f"They use no GPU of this machine: {', '.join(left_out)}.")
    for place, experiment in enumerate(chosen):
        if left_s() < LEAST_S:
            names = [each.id for each in chosen[place:]]
            report.save(left_over=names)
            report.say(f"No time was left for: {', '.join(names)}. To go on: make gpu-check "
                       f"ARGS='{stage} --only {' '.join(names)}'")  # fmt: skip
            return
        quick = stage == "quick" and experiment.id not in expected.in_full
        usual_s = experiment.seconds(experiment.params_for(machine, quick=quick))
        ran = runs.run(
            experiment.id, report.recordings, quick=quick, limit_s=min(left_s(), 60 + 2 * usual_s)
        )
        report.runs[ran.experiment] = ran
        report.save(left_over=[])
        report.say(_line(ran))


def _line(ran: runs.Ran) -> str:
    """Return how a run ended."""
    clock = " to ".join(f"{hz / 1e6:.0f}" for hz in ran.clock_hz)
    more = {"limits": ran.limits, "unclear": ran.unclear, "notes": ran.notes,
            "clock": f"{clock} MHz" if clock else "", "held back": ran.held_back}  # fmt: skip
    said = "; ".join(f"{name}: {what}" for name, what in more.items() if what)
    kind = " (quick)" if ran.quick else ""
    return (
        f"{ran.experiment}{kind}: exit {ran.code}, {ran.took_s:.1f} s, {ran.outcome}. "
        f"{ran.said}{f' [{said}]' if said else ''}"
    )


def hold_against_cuda(report: Report, machine: Machine, left_s: Seconds) -> list[str]:
    """Hold rates against CUDA and nvbandwidth; return the values outside their budgets."""
    if left_s() < 4 * LEAST_S:
        report.say("No time was left for CUDA's own figures.")
        return []
    node = machine.gpus[0].numa_node
    near = [each.id for each in usable_threads(machine) if each.numa_node in (node, None)]
    found = (
        outside.twin(report.recordings, outside.Sizes.of(report.runs), near, left_s),
        outside.nvbandwidth(report.recordings, left_s),
    )
    over, saved = [], []
    for figures, said in found:
        report.say(said)
        for held in outside.compared(report.runs, figures):
            unit, budget = unit_of(held.value), held.budget
            verdict = {True: "kept", False: "OVER", None: ""}[held.is_kept]
            report.say(
                f"{held.experiment}.{held.value}: ours {show(held.ours, unit)}, theirs "
                f"{show(held.theirs, unit)}, ratio {held.ours / held.theirs:.3f}"
                f"{' of {:.2f} to {:.2f}'.format(*budget) if budget else ''} {verdict}"
            )
            saved.append(asdict(held))
            over += [f"{held.experiment}.{held.value}"] if held.is_kept is False else []
    report.save(against_cuda=saved, cuda={**found[1][0], **found[0][0]})
    return over
