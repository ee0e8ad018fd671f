"""How is a run told in the terminal? Its views, its finding in a sentence, values and limits."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.terminal.draw import Draw
from experiments.declare import Experiment
from experiments.engine import messages as wire
from experiments.units import show, unit_of
from experiments.words import Words


def tell(
    console: Console,
    words: Words,
    experiment: Experiment[Any],
    tables: Mapping[str, Sequence[Any]],
    finished: wire.Finished,
    *,
    quick: bool,
) -> None:
    """Print a run that has ended, however it ended."""
    draw = Draw(console, words, experiment)
    finding = finished.finding
    values = finding.values if finding else {}
    for view in experiment.views:
        draw.view(view, tables, values)
    rows = sum(len(rows) for rows in tables.values())
    if finished.outcome is not wire.Outcome.COMPLETED:
        console.print()
        key = "stopped_empty" if finished.outcome is wire.Outcome.STOPPED and not rows else None
        console.print(words.say(f"outcomes.{key or finished.outcome}", {"rows": rows}))
    if finished.problem is not None:
        console.print(words.say(f"problems.{finished.problem.key}", finished.problem.values))
    if finding is None:
        return
    if finished.outcome is not wire.Outcome.COMPLETED:
        console.print(words.say("outcomes.partial"))
    console.print()
    console.print(
        Text(words.say(f"{experiment.id}.findings.{finding.message}", values), style="bold")
    )
    console.print()
    console.print(_values(words, experiment, values))
    remarks = [words.say("outcomes.quick")] if quick else []
    remarks += [words.say(f"{experiment.id}.limits.{key}", values) for key in finding.limits]
    console.print(_listed(remarks))


def label(words: Words, experiment: Experiment[Any], value: str) -> str:
    """Return what a value is called; one of another Python after that of ours."""
    key, of_python = f"{experiment.id}.values.{value}", _OF_PYTHON.fullmatch(value)
    if words.has(key) or not of_python:
        return words.say(key) if words.has(key) else value
    ours = label(words, experiment, f"{of_python['name']}_{of_python['unit']}")
    version = of_python["version"].replace("_", ".")
    return words.say("terminal.of_python", {"label": ours, "version": version})


_OF_PYTHON = re.compile(r"(?P<name>.+)_python_(?P<version>\d\w*)_(?P<unit>[a-z]+)")


def _listed(remarks: Sequence[str]) -> Table:
    """Return a list in which a long remark goes on below its own first word."""
    table = Table.grid(padding=(0, 1))
    for remark in remarks:
        table.add_row("·", remark, style="dim")
    return table


def _values(words: Words, experiment: Experiment[Any], values: Mapping[str, float]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    units = {value.name: value.unit for value in experiment.values}
    for name in (*units, *(name for name in values if name not in units)):
        if name in values:
            # Undeclared: a value of this machine alone, such as that of another Python.
            unit = units[name] if name in units else unit_of(name)
            table.add_row(label(words, experiment, name), show(values[name], unit))
    return table
