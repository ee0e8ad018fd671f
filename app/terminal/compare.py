"""`coreopsis compare`: two runs of one experiment, value by value, with a verdict beyond noise."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from rich.table import Table

from app.context import Context, ExitCode
from app.report import label
from app.runs.comparison import Compared, cautions, cells, compare, footnotes
from app.runs.library import machine_name, meant
from app.runs.run_notes import read_notes
from experiments.core.declare import Experiment
from experiments.engine.recording import Recording, read

NONE = "–"  # where a run has no such value, or there is no verdict


def run(options: SimpleNamespace, context: Context) -> ExitCode:
    """Compare two runs. Raises UserError where they cannot be compared."""
    paths = [
        meant(reference, context.library, context.catalogue) for reference in (options.a, options.b)
    ]
    a, b = (read(path) for path in paths)
    experiment = context.catalogue.load(a.started.experiment)
    compared = compare(experiment, a, b)
    if options.json:
        context.console.out(json.dumps(as_json(compared), indent=1), highlight=False)
        return ExitCode.DONE
    names = [_name(*each) for each in zip((a, b), paths, strict=True)]
    tell(context, experiment, compared, names)
    return ExitCode.DONE


def tell(
    context: Context, experiment: Experiment[Any], compared: Compared, names: Sequence[str]
) -> None:
    """Print a comparison of two runs, A and B, which have these names."""
    console, words = context.console, context.words
    console.print(words.say(f"{experiment.id}.question"), style="bold")
    for letter, name in zip("AB", names, strict=True):
        console.print(f"{letter}  {name}", markup=False)
    for caution in cautions(words, experiment, compared):
        console.print(caution, markup=False)
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("")
    for heading in ("A", "B", "B / A"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for value in compared.values:
        verdict = words.say(f"verdicts.{value.verdict}") if value.verdict else ""
        name = label(words, experiment, value.name)
        of_a, of_b, ratio = cells(words, experiment, value)
        undivided = words.say("terminal.no_ratio") if value.verdict else NONE
        table.add_row(name, of_a or NONE, of_b or NONE, ratio or undivided, verdict)
    console.print(table)
    for note in footnotes(words, compared):
        console.print(note, style="dim")
    if not compared.values:
        console.print(words.say("terminal.nothing_measured"))


def _name(recording: Recording, path: Path) -> str:
    """Return a name that distinguishes a run: its name, id, machine and time."""
    started = recording.started
    at = started.at[:19].replace("T", " ")
    parts = (read_notes(path).name, started.run[:8], machine_name(started), at)
    return " · ".join(part for part in parts if part)


def as_json(compared: Compared) -> dict[str, Any]:
    """Return a comparison as `--json` writes it."""
    return {
        "cut_short": list(compared.cut_short),
        "params_differ": {name: list(pair) for name, pair in compared.params.items()},
        "values": [
            {"name": v.name, "a": v.a, "b": v.b, "ratio": v.ratio, "verdict": v.verdict}
            for v in compared.values
        ],
    }
