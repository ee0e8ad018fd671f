"""Laws of a run's rows, and of what `analyse` makes of all, of the first, of some."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from experiments.core.declare import Experiment, Finding, Frame, Note, Progress, Tables, specs
from experiments.core.laws.declared import needs_words
from experiments.core.laws.texts import ALWAYS
from experiments.core.problems import Problem
from experiments.core.processes.own_errors import problem_at
from experiments.core.rules import broken_finding, lacking_words
from experiments.core.words import Words, asked
from machine.model import Machine
from machine.record import Record

NAMING = ("label", "series", "group", "row", "column")  # columns that name the marks of a view
LEAST_STEPS = 4  # of the progress of a smallest run
NEVER_NEGATIVE = ("_s", "_bytes", "_bytes_per_s")
MOST_BEGINNINGS = 30
PARTS = (0.2, 0.5, 0.9)  # of the rows, each some times by chance
TIMES = 5


class Ran(Record):
    """A run of an experiment: what it was given, and all that `measure` yielded, in order."""

    experiment: Experiment[Any]
    params: Any
    machine: Machine
    items: Sequence[object]

    @property
    def rows(self) -> list[Any]:
        """The rows of all tables."""
        return [each for each in self.items if not isinstance(each, Progress | Note | Frame)]

    def tables(self, count: int | None = None) -> dict[str, list[Any]]:
        """Return the first `count` rows, each in its table."""
        rows = self.rows[:count]
        tables = self.experiment.tables.items()
        return {name: [row for row in rows if type(row) is kind] for name, kind in tables}


def broken(ran: Ran, words: Words, *, held: str) -> Iterator[Problem]:
    """Yield what is wrong with a whole run; `held` is the note of a first turn that waits."""
    if not ran.rows:
        yield Problem("own_no_rows")
        return
    yield from cells(ran)
    yield from progress(ran)
    yield from rounds(ran)
    yield from waiting(ran, held)
    yield from worded(ran, words)
    yield from conclusion(ran, words)


def cells(ran: Ran) -> Iterator[Problem]:
    """Yield the columns with a cell that no file or axis can take, each once."""
    found: dict[str, Any] = {}
    for row in ran.rows:
        for name, cell in msgspec.to_builtins(row).items():
            is_number = isinstance(cell, float | int)
            is_finite = not isinstance(cell, float) or math.isfinite(cell)
            is_below = is_number and name.endswith(NEVER_NEGATIVE) and cell < 0
            if not (is_number or isinstance(cell, str)) or not is_finite or is_below:
                found.setdefault(name, cell)
    for name, cell in found.items():
        yield Problem("own_cell", {"column": name, "cell": str(cell)})


def progress(ran: Ran) -> Iterator[Problem]:
    """Yield a problem for a run that does not report its progress, or reports it wrongly."""
    fractions = [item.fraction for item in ran.items if isinstance(item, Progress)]
    if len(fractions) < LEAST_STEPS:
        yield Problem("own_no_progress")
    elif fractions != sorted(fractions) or not 0 <= fractions[0] <= fractions[-1] <= 1:
        yield Problem("own_odd_progress")


def rounds(ran: Ran) -> Iterator[Problem]:
    """Yield that the rows are not of the rounds that the parameters ask for."""
    wanted = getattr(ran.params, "rounds", None)
    found = {row.repeat for row in ran.rows if hasattr(row, "repeat")}
    if wanted is not None and found != set(range(wanted)):
        yield Problem("own_rounds", {"rounds": wanted, "found": len(found)})


def waiting(ran: Ran, held: str) -> Iterator[Problem]:
    """Yield that the first turn cannot wait though the declaration says so, or the other way."""
    headline = ran.experiment.tables[ran.experiment.plots[0].table]
    holds = [n for n, item in enumerate(ran.items) if isinstance(item, Note) and item.key == held]
    shown = [n for n, item in enumerate(ran.items) if type(item) is headline]
    if len(holds) != ran.experiment.can_wait:
        yield Problem("own_can_wait" if ran.experiment.can_wait else "own_cannot_wait")
    elif holds and shown and holds[0] > shown[0]:
        yield Problem("own_shown_before")


def worded(ran: Ran, words: Words) -> Iterator[Problem]:
    """Yield the marks and notes of a run that have no words, and frames of no table."""
    experiment, tables = ran.experiment, ran.tables()
    lacking = [f"choices.{n}" for n in sorted(marks(experiment, tables)) if needs_words(n)]
    for note in (item for item in ran.items if isinstance(item, Note)):
        key = f"notes.{note.key}"
        lacking.append(key)
        for name in {*asked(words.text(f"{experiment.id}.{key}"))} - ALWAYS - {*note.values}:
            known = ", ".join(note.values) or "-"
            yield Problem("own_placeholder", {"key": key, "name": name, "known": known})
    for name in {item.table for item in ran.items if isinstance(item, Frame)} - tables.keys():
        values = {"where": "measure", "what": "table", "name": name, "known": ", ".join(tables)}
        yield Problem("own_unknown", values)
    yield from lacking_words(experiment, words, lacking)


def marks(experiment: Experiment[Any], tables: Tables, *views: str) -> set[str]:
    """Return the names of the marks in the views of these keys; in all where none is named."""
    shown = [view for view in experiment.plots if view.key in views or not views]
    return {
        str(getattr(row, column))
        for view in shown
        for column in (getattr(view, name, None) for name in NAMING)
        if column
        for row in tables[view.table]
    }


def conclusion(ran: Ran, words: Words) -> Iterator[Problem]:
    """Yield what is wrong with what `analyse` says of all rows. Raises what that raises."""
    experiment, tables = ran.experiment, ran.tables()
    finding: object = experiment.analyse(ran.params, tables, ran.machine)
    yield from of_finding(experiment, words, finding)
    if not isinstance(finding, Finding):
        return
    if not finding.values:
        yield Problem("own_no_values", {"finding": finding.message})
    if finding != experiment.analyse(ran.params, tables, ran.machine):
        yield Problem("own_two_findings")


def of_parts(ran: Ran, words: Words, machines: Iterable[Machine]) -> Iterator[Problem]:
    """Yield what is wrong with what `analyse` says of some of the rows. Raises what that raises.

    A run may be stopped at any row, then be looked at on another machine; and what was disturbed
    is left out: all of one kind, or one round, or any sample.
    """
    analyse, params = ran.experiment.analyse, ran.params
    for tables in beginnings(ran):
        for machine in (ran.machine, *machines):
            yield from of_finding(ran.experiment, words, analyse(params, tables, machine))
    for tables in without_some(ran):
        yield from of_finding(ran.experiment, words, analyse(params, tables, ran.machine))


def beginnings(ran: Ran) -> Iterator[dict[str, list[Any]]]:
    """Yield the tables of runs that were stopped early: after each of the first rows, or later."""
    count = len(ran.rows)
    step = max(1, count // MOST_BEGINNINGS)
    for each in sorted({*range(min(count, MOST_BEGINNINGS // 2)), *range(0, count, step)}):
        yield ran.tables(each)


def without_some(ran: Ran) -> Iterator[dict[str, list[Any]]]:
    """Yield the tables without the rows of one kind or round, and with some rows by chance."""
    whole, chance = ran.tables(), random.Random(0)
    kinds = {
        (table, name, getattr(row, name))
        for table, rows in whole.items()
        for row in rows
        for name in specs(type(row))
        if isinstance(getattr(row, name), str | int)
    }
    for table, name, value in kinds:
        yield {**whole, table: [row for row in whole[table] if getattr(row, name) != value]}
    for share in PARTS * TIMES:
        yield {table: [row for row in rows if chance.random() < share]
               for table, rows in whole.items()}  # fmt: skip


def of_finding(experiment: Experiment[Any], words: Words, finding: object) -> Iterator[Problem]:
    """Yield what is wrong with a finding."""
    if not isinstance(finding, Finding):
        what, found = "what analyse returns", type(finding).__name__
        yield _in_analyse(experiment, f"analyse returns {found}, which is no Finding") or Problem(
            "own_wrong_type", {"what": what, "wanted": "x.Finding", "found": found}
        )
        return
    yield from broken_finding(experiment, words, finding)
    for key in {key for key in finding.limits if finding.limits.count(key) > 1}:
        yield Problem("own_twice", {"name": key})
    for name, value in finding.values.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value):
            said = f"analyse says that {name} is {value!r}, which is no number"
            yield _in_analyse(experiment, said) or Problem(
                "own_no_number", {"name": name, "found": str(value)}
            )
    yield from _said(experiment, words, finding)


def _in_analyse(experiment: Experiment[Any], said: str) -> Problem | None:
    """Return the sentence with the line of a user's own `analyse`, as a run says it; else None."""
    return problem_at(experiment.analyse, TypeError(said))


def _said(experiment: Experiment[Any], words: Words, finding: Finding) -> Iterator[Problem]:
    """Yield numbers that a verdict names and the finding lacks, and unclear ones that it has."""
    sections = ("findings", "because")
    texts = (words.text(f"{experiment.id}.{each}.{finding.message}") for each in sections)
    named = {name for text in texts for name in asked(text)} - ALWAYS
    wanted = {*finding.unclear, *(named if experiment.keys else ())}
    if lacking := ", ".join(sorted(wanted - finding.values.keys())):
        yield Problem("own_value_untold", {"finding": finding.message, "names": lacking})
    if both := ", ".join(sorted({*finding.unclear} & named)):
        yield Problem("own_unclear_said", {"finding": finding.message, "names": both})


def unmarked(experiment: Experiment[Any], finding: Finding, tables: Tables) -> Iterator[Problem]:
    """Yield the numbers to be read first whose mark no view has, in a run that found them.

    For a recording: a smallest run may leave out what a mark is named after.
    """
    for key in experiment.keys:
        if key.value not in finding.values:
            continue
        is_placed = not key.at or key.at in finding.values
        is_named = not key.names or marks(experiment, tables, key.view) & {*key.names}
        if not is_placed or not is_named:
            yield Problem("own_key_without_mark", {"value": key.value, "view": key.view})
