"""`coreopsis compare`: two runs of one experiment, value by value, with a verdict beyond noise."""

from __future__ import annotations

import argparse
import json
from typing import Any

from rich.table import Table

from app.comparison import Compared, compare
from app.context import Context, ExitCode
from app.library import machine_name
from experiments.engine.recording import Recording, read
from experiments.units import digits, show


def run(options: argparse.Namespace, context: Context) -> ExitCode:
    """Compare two runs. Raises Trouble where they cannot be compared."""
    a, b = (read(context.library.find(reference)) for reference in (options.a, options.b))
    experiment = context.catalogue.load(a.started.experiment)
    compared = compare(experiment, a, b)
    if options.json:
        context.console.out(json.dumps(_as_json(compared), indent=1), highlight=False)
        return ExitCode.DONE
    console, words = context.console, context.words
    console.print(words.say(f"{experiment.id}.question"), style="bold")
    console.print(f"A  {_name(a)}")
    console.print(f"B  {_name(b)}")
    if compared.params:
        names = ", ".join(f"{name} ({x} and {y})" for name, (x, y) in compared.params.items())
        console.print(words.say("terminal.not_comparable_params", {"names": names}))
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("", "A", "B", "B / A", ""):
        table.add_column(heading, justify="right" if heading else "left")
    units = {value.name: value.unit for value in experiment.values}
    for value in compared.values:
        key = f"{experiment.id}.values.{value.name}"
        unit = units.get(value.name, "")
        ratio = "" if value.ratio is None else digits(value.ratio)
        verdict = words.say(f"verdicts.{value.verdict}") if value.verdict else ""
        label = words.say(key) if words.has(key) else value.name
        table.add_row(label, show(value.a, unit), show(value.b, unit), ratio, verdict)
    console.print(table)
    if not compared.values:
        console.print(words.say("terminal.nothing_measured"))
    return ExitCode.DONE


def _name(recording: Recording) -> str:
    started = recording.started
    return f"{started.run[:8]} · {machine_name(recording)} · {started.at[:16].replace('T', ' ')}"


def _as_json(compared: Compared) -> dict[str, Any]:
    return {
        "params_differ": {name: list(pair) for name, pair in compared.params.items()},
        "values": [
            {"name": v.name, "a": v.a, "b": v.b, "ratio": v.ratio, "verdict": v.verdict}
            for v in compared.values
        ],
    }
