"""One experiment on its own, without library or window: what a saved script or notebook runs."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from experiments.core import words as texts
from experiments.core.bench import Bench
from experiments.core.declare import Experiment, Frame, Note, Progress
from experiments.core.judging.disturbed import WATCH, counting, mark
from experiments.core.judging.trust import Trust, as_trusted, first_words
from experiments.core.needs import check_needs
from experiments.core.parameters import check_memory, from_text
from experiments.core.problems import UserError
from experiments.core.shelves import Home
from experiments.core.tables import csv_name, to_csv
from experiments.core.units import show
from experiments.core.words import Words
from experiments.engine.disturbance import Disturbance, Quietest
from experiments.engine.messages import FindingSent
from experiments.engine.recording import analysed
from machine.inspect import inspect
from machine.memory.host import available_bytes

DONE, FAILED, STOPPED = 0, 1, 130
STEP_FRACTION = 0.1  # of progress, where it stands in a notebook or a file


def main(module: str, arguments: Sequence[str]) -> int:
    """Measure, print the finding and its values, and return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("settings", nargs="*", metavar="NAME=VALUE", help="change a setting")
    parser.add_argument("--quick", action="store_true", help="end within 5 seconds, roughly")
    parser.add_argument("--csv", type=Path, metavar="FOLDER", help="write every table there")
    options = parser.parse_args(arguments)
    experiment: Experiment[Any] = importlib.import_module(module).EXPERIMENT
    shelf, folder, _ = module.rsplit(".", 2)
    place = Path(sys.modules[module].__file__ or "").parent
    words = texts.load(experiments={experiment.id: Home(shelf, place)})
    settings = dict(text.partition("=")[::2] for text in options.settings)
    try:
        told = _measured(experiment, words, settings, quick=options.quick)
    except UserError as error:
        problem = error.problem
        said = words.say(f"{experiment.id}.problems.{problem.key}", problem.values)
        sys.stderr.write(f"{said}\n")
        return FAILED
    except KeyboardInterrupt:
        return STOPPED
    _tell(experiment, words, told)
    if options.csv is not None:
        options.csv.mkdir(parents=True, exist_ok=True)
        for name, rows in told.tables.items():
            text = to_csv(rows, experiment.tables[name])
            path = options.csv / csv_name(folder, name)
            path.write_text(text, encoding="utf-8", newline="")
    return DONE


class _Told(NamedTuple):
    """The rows of every table, what they mean, and what disturbed them."""

    tables: dict[str, list[Any]]
    finding: FindingSent
    notes: list[Note]


def _measured(
    experiment: Experiment[Any], words: Words, settings: dict[str, str], *, quick: bool
) -> _Told:
    """Measure to the end. Raises UserError."""
    machine = inspect()
    check_needs(experiment, machine)
    params = from_text(experiment.params_for(machine, quick=quick), settings, machine)
    check_memory(experiment, params, available_bytes())
    tables: dict[str, list[Any]] = {name: [] for name in experiment.tables}
    table_of = {row: name for name, row in experiment.tables.items()}
    bench = Bench(machine, quick=quick, watch=WATCH, quietest=Quietest())
    disturbance = Disturbance(is_measured=experiment.measures_load)
    said_fraction = -STEP_FRACTION
    for item in experiment.measure(params, bench):
        if isinstance(item, Progress):
            if sys.stderr.isatty() or item.fraction >= said_fraction + STEP_FRACTION:
                said_fraction = item.fraction
                sys.stderr.write(f"\r{item.fraction:4.0%}")
        elif isinstance(item, Note):
            said = words.say(f"{experiment.id}.notes.{item.key}", item.values)
            sys.stderr.write(f"\r{said}\n")
        elif not isinstance(item, Frame):
            tables[table_of[type(item)]].append(mark(item, bench.disturbed))
    sys.stderr.write("\r    \r")
    notes = list(disturbance.notes())
    return _Told(tables, analysed(experiment, params, tables, machine, notes), notes)


def _tell(experiment: Experiment[Any], words: Words, told: _Told) -> None:
    """Say the finding and its cause, what disturbed it, its values, and what it cannot tell."""
    tables, finding, notes = told
    units = {value.name: value.unit for value in experiment.values}
    values = as_trusted(finding.values, finding.trust, units)
    because, first = f"{experiment.id}.because.{finding.message}", first_words(finding.trust, notes)
    lines = [words.say(*first)] if first is not None else []
    if finding.trust is Trust.DISTURBED:
        lines.append(words.say("outcomes.was_disturbed"))
    else:
        lines.append(words.say(f"{experiment.id}.findings.{finding.message}", values))
        lines += [words.say(because, values)] if words.has(because) else []
    if disturbed := sum(len(rows) - len(counting(rows)) for rows in tables.values()):
        lines.append(words.say("outcomes.disturbed", {"count": disturbed}))
    elif first is None:
        lines.append(words.say("badges.solid_why"))
    lines.append("")
    for value in experiment.values:
        if value.name in finding.values and value.name not in finding.unclear:
            called = words.say(f"{experiment.id}.values.{value.name}")
            lines.append(f"{called}: {show(values[value.name], value.unit)}")
    lines += [words.say(f"{experiment.id}.limits.{key}", values) for key in finding.limits]
    sys.stdout.write("\n".join(lines) + "\n")
