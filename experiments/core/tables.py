"""The rows of a table: in words, and as CSV with all digits.

Numbers in files are in the SI units that the names of the columns end in. RFC 4180: commas, quotes
where needed, lines end in CR LF. A text that a spreadsheet would compute begins with an apostrophe.
"""

from __future__ import annotations

import csv
import io
import re
import typing
from collections.abc import Iterable, Sequence
from typing import Any

from experiments.core.declare import Row, specs
from experiments.core.judging.disturbed import counts_of, loss_of
from experiments.core.units import show
from experiments.core.words import Words
from machine.text import short_name

ROUND = "repeat"  # counted from 0 in files, shown from 1
LOST = "lost_fraction"  # the column of disturbed rows
COUNTED = "counted"  # begins the columns of what the processor counted
# How a text begins that a spreadsheet computes, after OWASP, "CSV Injection"; the last four are
# wide letters of Japanese keyboards. A number with or without its unit is none.
_COMPUTED = (*"=+-@\t\r\n", *"\uff1d\uff0b\uff0d\uff20")
_NUMBER = re.compile(r"[+-]\d[\d.]*(?:e[+-]?\d+)?(?:[%×]| [^\W\d]{1,4}(?:/s)?| [%°/][^\W\d]?)?")


def to_csv(rows: Iterable[Any], table: type[Row]) -> str:
    """Return the rows under a line of their columns' names.

    If rows were disturbed, a column `lost_fraction` gives the fraction that each lost; it is empty
    in the others. If the processor counted, each event has a column `counted_EVENT`. Two more
    columns give the number of operations, and the share of the time in which the counter ran.
    """
    rows, names = list(rows), list(specs(table))
    lines = [[getattr(row, name) for name in names] for row in rows]
    losses = [loss_of(row) for row in rows]
    if any(losses):
        names.append(LOST)
        for line, loss in zip(lines, losses, strict=True):
            line.append(loss.lost_fraction if loss else None)
    found = [counts_of(row) for row in rows]
    if events := dict.fromkeys(name for each in found if each for name in each.events):
        names += [f"{COUNTED}_{name}" for name in (*events, "operations", "running_fraction")]
        for line, counts in zip(lines, found, strict=True):
            line += [counts.events.get(name) if counts else None for name in events]
            line += [counts.operations, counts.running_fraction] if counts else [None, None]
    return _written("excel", [names, *lines])


def csv_name(experiment: str, table: str) -> str:
    """Return the name of a file with the rows of a table."""
    return f"{short_name(experiment)}-{short_name(table)}.csv"


def to_tabs(lines: Iterable[Sequence[object]]) -> str:
    """Return cells with tabs between them, as a spreadsheet takes them from the clipboard."""
    return _written("excel-tab", lines)


def number_columns(table: type[Row]) -> frozenset[str]:
    """Return the columns that hold numbers."""
    types = typing.get_type_hints(table)
    return frozenset(
        name for name in specs(table) if {int, float} & {types[name], *typing.get_args(types[name])}
    )


def in_words(words: Words, experiment_id: str, column: str, unit: str, value: Any) -> str:
    """Return a cell as people read it: a number with its unit, a choice with its name."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return words.say("data.yes" if value else "data.no")
    if column == ROUND:
        return str(value + 1)
    if isinstance(value, int | float):
        return show(value, unit)
    key = f"{experiment_id}.choices.{value}"
    return words.say(key) if words.has(key) else str(value)


def _written(dialect: str, lines: Iterable[Sequence[object]]) -> str:
    text = io.StringIO(newline="")  # the module csv writes floats with all digits, None as nothing
    csv.writer(text, dialect).writerows([_safe(cell) for cell in line] for line in lines)
    return text.getvalue()


def _safe(cell: object) -> object:
    """Return a cell as a file may have it: texts as texts, yes and no as in JSON."""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, str) and cell.startswith(_COMPUTED) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell
