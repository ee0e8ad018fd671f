"""A finished run in the terminal: its views, finding, values and limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.report import NamedValue, Report, report, system_of
from app.terminal.parts.draw import Draw
from experiments.core.declare import Experiment
from experiments.core.words import Words
from experiments.engine import messages


def tell(
    console: Console,
    words: Words,
    experiment: Experiment[Any],
    tables: Mapping[str, Sequence[Any]],
    finished: messages.Finished,
    *,
    quick: bool,
    notes: Sequence[messages.Note] = (),
    started: messages.Started | None = None,
) -> Report:
    """Print a run that has ended, in whatever way; return it in words."""
    draw = Draw(console, words, experiment)
    values = finished.finding.clear_values() if finished.finding else {}
    for view in experiment.views:
        draw.view(view, tables, values)
    system = system_of(started)
    told = report(
        words, experiment, finished, tables=tables, quick=quick, notes=notes, system=system
    )
    if told.ending:
        console.print()
        console.print(told.ending)
    if told.problem:
        console.print(told.problem)
    if not told.finding:
        return told
    if told.ending:
        console.print(words.say("outcomes.partial"))
    console.print()
    if told.lead:
        console.print(Text(told.lead))
    console.print(Text(told.finding, style="bold"))
    if told.because:
        console.print(Text(told.because))
    if (badge := told.badge) is not None:
        said = " · ".join(filter(None, (badge.name, badge.beside)))
        reason = badge.reason.removeprefix(told.lead)  # which stands above
        console.print(Text(f"{said}. {reason.strip()}".strip(), style="dim"))
    console.print()
    console.print(_table(told.values))
    console.print(_listed(told.remarks))
    return told


def _listed(remarks: Sequence[str]) -> Table:
    """Return a list with hanging indents."""
    table = Table.grid(padding=(0, 1))
    for remark in remarks:
        table.add_row("·", remark, style="dim")
    return table


def _table(values: Sequence[NamedValue]) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    for value in values:
        table.add_row(value.label, value.shown)
    return table
