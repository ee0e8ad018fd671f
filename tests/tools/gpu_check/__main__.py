"""Check the experiments of a GPU: `make gpu-check ARGS=STAGE`, where there are a GPU and PyTorch.

Stages, each within ten minutes: `quick` runs every experiment briefly, `full` as a user does, and
`checks` looks at the facts that they rest on and holds their rates against CUDA. 0: nothing is
wrong, 1: something is, 3: there is no GPU here. Outside an expected range means only "look".
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests import ROOT

STAGES = ("quick", "full", "checks")
LIMIT_S, LAST_S, LEAST_S = 560.0, 10.0, 15.0  # of a stage; for its end; to start anything
LIBRARIES = {  # and what pip calls them
    "torch": "torch", "numpy": "numpy", "numba": "numba", "scipy": "scipy", "psutil": "psutil",
    "pynvml": "nvidia-ml-py", "msgspec": "msgspec", "rich": "rich", "pygments": "Pygments",
    "platformdirs": "platformdirs",
}  # fmt: skip
GPU_STATE = (
    "name,driver_version,pcie.link.gen.current,pcie.link.width.current,clocks.sm,clocks.mem,"
    "temperature.gpu,power.draw,power.limit,clocks_throttle_reasons.active,mig.mode.current,"
    "ecc.errors.uncorrected.volatile.total"
)


def main(arguments: Sequence[str]) -> int:
    """Check this machine, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="make gpu-check", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("stage", nargs="?", choices=STAGES, default="quick")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "gpu-check")
    parser.add_argument("--only", nargs="*", default=[], metavar="ID", help="goes on with these")
    parser.add_argument("--limit-s", type=float, default=LIMIT_S, help="%(default)s")
    options = parser.parse_args(arguments)
    missing = [pip for name, pip in LIBRARIES.items() if importlib.util.find_spec(name) is None]
    if missing:
        sys.stderr.write(f"This check needs more modules: pip install {' '.join(missing)}\n")
        return 3
    from experiments.devices.device import CPU, default_device
    from machine.inspect import inspect

    machine = inspect()
    if default_device(machine) == CPU:
        sys.stderr.write(
            "There is no GPU here that PyTorch can use; `coreopsis doctor` says why.\n"
        )
        return 3
    return check(machine, options.stage, options.out, options.only, options.limit_s)


def check(machine: Any, stage: str, out: Path, only: Sequence[str], limit_s: float) -> int:
    """Go through one stage; return 1 where something is wrong, else 0."""
    from tests.tools.gpu_check import facts, verdicts
    from tests.tools.gpu_check.report import Report

    end_s = time.monotonic() + limit_s - LAST_S

    def left_s() -> float:
        return end_s - time.monotonic()

    report, expected = Report(out, stage, goes_on=bool(only)), verdicts.expected()
    card = machine.gpus[0].name or "GPU"
    report.say(f"{card}: {stage}, at most {limit_s:.0f} s; recordings go to {report.recordings}")
    look_at_machine(report)
    look_at_facts(report, facts.LIBRARIES, left_s)
    if stage == "checks":
        look_at_facts(report, facts.FACTS, left_s)
    run_experiments(report, machine, stage, only, expected, left_s)
    over = hold_against_cuda(report, machine, left_s) if stage == "checks" else []
    rows = list(verdicts.judged(report.values(), expected, card, report.before))
    for line in verdicts.lines(rows, expected.card):
        report.say(line)
    report.say(str(dict(Counter(row.verdict for row in rows if row.verdict))))
    nvidia_smi(report, "end")
    wrong = [ran.experiment for ran in report.runs.values() if ran.is_wrong]
    wrong += [f"{row.id}.{row.value}" for row in rows if row.verdict == verdicts.WRONG]
    wrong += over
    report.save(card=card, table=verdicts.as_json(rows), wrong=wrong)
    report.say(f"Wrong: {', '.join(wrong)}." if wrong else "Nothing is wrong.")
    return 1 if wrong else 0


def look_at_machine(report: Any) -> None:
    """Keep what the program and NVIDIA's tool say of this machine."""
    from importlib import metadata

    from tests.tools.gpu_check import processes

    found = {pip: _version(metadata, pip) for pip in ("triton", *LIBRARIES.values())}
    report.say(f"Python {sys.version.split()[0]}, {found}")
    nvidia_smi(report, "begin")
    for what in ("inspect", "doctor"):
        file = report.recordings / f"{what}.json"
        code = processes.run([sys.executable, "-m", "app", what, "--json"], file, 90.0)
        report.say(f"{what}: exit {code}{f', {processes.last(file)}' if code else ''}")


def _version(metadata: Any, name: str) -> str:
    try:
        return str(metadata.version(name))
    except metadata.PackageNotFoundError:
        return "missing"


def nvidia_smi(report: Any, when: str) -> None:
    """Say the GPU's state."""
    from tests.tools.gpu_check import processes

    log = report.recordings / f"nvidia-smi-{when}.txt"
    processes.run(["nvidia-smi", f"--query-gpu={GPU_STATE}", "--format=csv"], log, 20.0)
    report.say(processes.text(log))


def look_at_facts(
    report: Any, which: Sequence[Callable[..., Any]], left_s: Callable[[], float],
    module: str = "tests.tools.gpu_check.facts",
) -> None:  # fmt: skip
    """Look at each; one that ends its process or hangs is told, and a new process goes on."""
    from experiments.core.units import show, unit_of
    from tests.tools.gpu_check import processes

    names, log = [each.__name__ for each in which], report.recordings / "facts.log"
    while names:
        if left_s() < LEAST_S:
            report.say(f"No time was left for: {', '.join(names)}.")
            break
        command = [sys.executable, "-m", module, *names]
        code = processes.run(command, log, min(left_s(), 150.0))
        found = [json.loads(line) for line in processes.text(log).splitlines() if line[:2] == '{"']
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
    report: Any, machine: Any, stage: str, only: Sequence[str], expected: Any,
    left_s: Callable[[], float],
) -> None:  # fmt: skip
    """Run those of this stage, and say what no time was left for."""
    from tests.tools.gpu_check import runs

    chosen, left_out = runs.chosen(machine, only, expected.order())
    if stage == "checks" and not only:
        chosen = [each for each in chosen if each.held]
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


def _line(ran: Any) -> str:
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


def hold_against_cuda(report: Any, machine: Any, left_s: Callable[[], float]) -> list[str]:
    """Hold rates against CUDA and nvbandwidth; return the values outside their budgets."""
    from experiments.core.units import show, unit_of
    from tests.tools.gpu_check import outside

    if left_s() < 4 * LEAST_S:
        report.say("No time was left for CUDA's own figures.")
        return []
    node = machine.gpus[0].numa_node
    near = [] if node is None else [t.id for t in machine.threads if t.numa_node == node]
    found = (
        outside.twin(report.recordings, outside.Sizes.of(report.runs), near),
        outside.nvbandwidth(report.recordings),
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
