"""One experiment on its own, without engine, library or window: what a saved script runs."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.core import words as texts
from experiments.core.bench import Bench
from experiments.core.declare import Experiment, Finding, Frame, Note, Progress
from experiments.core.needs import check_needs
from experiments.core.parameters import check_memory, from_text
from experiments.core.problems import UserError
from experiments.core.shelves import Home
from experiments.core.tables import to_csv
from experiments.core.units import show
from experiments.core.words import Words
from machine.inspect import inspect
from machine.memory.host import available_bytes

DONE, FAILED, STOPPED = 0, 1, 130


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
        tables, finding = _measured(experiment, words, settings, quick=options.quick)
    except UserError as error:
        sys.stderr.write(_said(words, experiment, f"problems.{error.problem.key}", error) + "\n")
        return FAILED
    except KeyboardInterrupt:
        return STOPPED
    _tell(experiment, words, finding)
    if options.csv is not None:
        options.csv.mkdir(parents=True, exist_ok=True)
        for name, rows in tables.items():
            text = to_csv(rows, experiment.tables[name])
            (options.csv / f"{folder}-{name}.csv").write_text(text, encoding="utf-8", newline="")
    return DONE


def _measured(
    experiment: Experiment[Any], words: Words, settings: dict[str, str], *, quick: bool
) -> tuple[dict[str, list[Any]], Finding]:
    """Return the rows of every table, and what they mean. Raises UserError."""
    machine = inspect()
    check_needs(experiment, machine)
    params = from_text(experiment.params_for(machine, quick=quick), settings, machine)
    check_memory(experiment, params, available_bytes())
    tables: dict[str, list[Any]] = {name: [] for name in experiment.tables}
    table_of = {row: name for name, row in experiment.tables.items()}
    for item in experiment.measure(params, Bench(machine, quick=quick)):
        if isinstance(item, Progress):
            sys.stderr.write(f"\r{item.fraction:4.0%}")
        elif isinstance(item, Note):
            said = words.say(f"{experiment.id}.notes.{item.key}", item.values)
            sys.stderr.write(f"\r{said}\n")
        elif not isinstance(item, Frame):
            tables[table_of[type(item)]].append(item)
    sys.stderr.write("\r    \r")
    return tables, experiment.analyse(params, tables, machine)


def _tell(experiment: Experiment[Any], words: Words, finding: Finding) -> None:
    lines = [words.say(f"{experiment.id}.findings.{finding.message}", finding.values), ""]
    for value in experiment.values:
        if value.name in finding.values and value.name not in finding.unclear:
            called = words.say(f"{experiment.id}.values.{value.name}")
            lines.append(f"{called}: {show(finding.values[value.name], value.unit)}")
    lines += [words.say(f"{experiment.id}.limits.{key}", finding.values) for key in finding.limits]
    sys.stdout.write("\n".join(lines) + "\n")


def _said(words: Words, experiment: Experiment[Any], key: str, error: UserError) -> str:
    return words.say(f"{experiment.id}.{key}", error.problem.values)
