"""Run the lessons beside the load of an ordinary laptop, and say how each ended.

`python -m tests.tools.laptop [ID ...] [--runs 10] [--quiet]` runs, and keeps the recordings in
build/laptop. `--read` judges those anew. Each run gets one of four verdicts, beside quiet runs made
here and the recording that comes along. It is right if finding and explanation are the same. It is
open if the explanation is the same, but the finding leaves a part of it unclear. It is wrong if
they differ, and left if it explains nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path

from experiments.core.catalogue import Catalogue
from experiments.core.judging.trust import UNCLEAR, taken_fraction
from experiments.core.parameters import from_json
from experiments.core.teaching.lesson_run import LessonRun, lesson_run
from experiments.core.teaching.lessons import Taught, taught
from experiments.engine.recording import SUFFIXES, read
from machine.model import from_json as machine_from_json
from tests import ROOT
from tests.tools.laptop.noise import laptop

FOLDER = ROOT / "build" / "laptop"
LONG = ("gil-threads", "uneven", "amdahl", "clinic")
VERDICTS = ("right", "open", "wrong", "left")
LIMIT_S = 180.0


def lessons() -> list[str]:
    """Return the ids of the experiments that are lessons."""
    catalogue = Catalogue()
    homes = catalogue.homes
    return [each.id for each in catalogue if taught(each, homes[each.id]) is not None]


def run(experiment: str, file: Path, *, quick: bool) -> None:
    """Run one experiment, and keep its recording in `file`."""
    command = [sys.executable, "-m", "app", "run", experiment, "--no-keep", "--out", str(file)]
    command += ["--quick"] * quick
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=LIMIT_S, check=False)


def told(file: Path) -> tuple[str, str, float, float]:
    """Return the explanation of a recording ("" for none), its trust, the load, and seconds."""
    recording, catalogue = read(file), Catalogue()
    started = recording.started
    experiment = catalogue.load(started.experiment)
    lesson = taught(experiment, catalogue.homes[experiment.id])
    finding = recording.finding(experiment)
    assert lesson is not None
    if finding is None:
        return "", "none", 0.0, 0.0
    params = from_json(experiment.params, started.params, check_choices=False)
    here = machine_from_json(started.machine)
    seen = lesson_run(params, recording.tables(experiment), here, finding)
    rows = [row.t_s for of in recording.rows.values() for row in of]
    return (
        _which(lesson, seen),
        str(finding.trust),
        taken_fraction(recording.told),
        max(rows, default=0.0),
    )


def _which(lesson: Taught, seen: LessonRun) -> str:
    """Return which explanation a run gets, "" for none."""
    if lesson.explain(seen, None) is None:
        return ""
    branches = (each.when for each in lesson.words.explain.branches if each.instead)
    branch = next((when for when in branches if lesson.call(when, seen)), "usual")
    return f"{branch}: {seen.message}"  # many findings share the usual text


def _verdict(explanation: str, quiet: Collection[str]) -> str:
    """Return which of VERDICTS an explanation gets, by those of quiet runs."""
    if not explanation or explanation in quiet:
        return "right" if explanation else "left"
    branch, _, message = explanation.partition(": ")
    is_open = UNCLEAR in message.split("_") and any(of.startswith(f"{branch}: ") for of in quiet)
    return "open" if is_open else "wrong"


def judged(ids: Sequence[str], folder: Path) -> Iterator[str]:
    """Yield a line for each lesson: how often right, open, wrong, and left to the recording."""
    yield f"{'lesson':16} right  open wrong  left   taken  seconds  explanations"
    for name in ids:
        alone = [told(file)[0] for file in folder.glob(f"quiet-{name}-*")]
        shipped = [told(file)[0] for file in filter(None, [Catalogue().recording(name)])]
        quiet = {*alone, *shipped} - {""}
        seen = [told(file) for file in sorted(folder.glob(f"busy-{name}-*"))]
        verdicts = Counter(_verdict(each[0], quiet) for each in seen)
        number = "".join(f"{verdicts[kind]:6}" for kind in VERDICTS)
        counts = Counter(f"{each[0] or '-'}/{each[1]}" for each in seen)
        load = [f"{100 * of:.0f}" for of in (min((e[2] for e in seen), default=0.0),
                                             max((e[2] for e in seen), default=0.0))]  # fmt: skip
        seconds = max((each[3] for each in seen), default=0.0)
        yield (f"{name:16}{number}  {'-'.join(load):>5} %"
               f"  {seconds:7.1f}  quiet {sorted(quiet)}, {sum(map(bool, alone))} of {len(alone)}"
               f" runs; beside {dict(counts)}")  # fmt: skip


def main(arguments: Sequence[str]) -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.laptop", description=__doc__)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--quiet", action="store_true", help="without the load")
    parser.add_argument("--read", action="store_true", help="judges what was recorded")
    parser.add_argument("--all-quick", action="store_true", help="of the long ones too")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    ids = options.ids or lessons()
    options.folder.mkdir(parents=True, exist_ok=True)
    kind = "quiet" if options.quiet else "busy"
    if not options.read:
        with nullcontext() if options.quiet else laptop():
            for number in range(options.runs):
                for name in ids:
                    file = options.folder / f"{kind}-{name}-{number}{SUFFIXES[1]}"
                    file.unlink(missing_ok=True)
                    run(name, file, quick=options.all_quick or name not in LONG)
    for line in judged(ids, options.folder):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
