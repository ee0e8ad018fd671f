"""An experiment as a Jupyter notebook (nbformat 4.5): it runs on its own and plots its rows.

A cell for each part: what is installed, the settings, the files (folded), the loop that is
measured, the run, and the plot. It is only written here, never run.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any

from app.markdown import unmarked
from app.source import ALONE, Whole, sources, stored, whole
from experiments.core.declare import Experiment, specs
from experiments.core.measured_loop import measured_loop
from experiments.core.tables import csv_name
from experiments.core.views import Axis, Bars, Field, Heatmap, Lines, Ruler, Timeline
from experiments.core.words import Words
from experiments.engine.environment import program_version

INSTALL = "%pip install --quiet {packages}\n"

SET_UP = """\
# All files that the experiment needs, and where they are put.
FILES = {{}}
{files}

import os
import sys
import tempfile
import textwrap
from pathlib import Path

folder = Path(tempfile.mkdtemp(prefix="{name}-"))
for name, text in FILES.items():
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
sys.path.insert(0, str(folder))
os.environ["PYTHONPATH"] = str(folder)  # for the processes that it starts
os.environ["COREOPSIS_EXPERIMENTS"] = str(folder / "experiments" / "yours")


def measured(place, text):
    \"\"\"Put the lines of a cell into their place, a file with its first and last line.\"\"\"
    name, first, last = place.split()
    lines = FILES[name].splitlines()
    old = lines[int(first) - 1]
    indent = old[: len(old) - len(old.lstrip())]
    lines[int(first) - 1 : int(last)] = textwrap.indent(text.rstrip(), indent).splitlines()
    (folder / name).write_text("\\n".join(lines) + "\\n", encoding="utf-8")


try:
    get_ipython().register_magic_function(measured, "cell")
except NameError:  # another Python than that of a notebook
    pass
"""

LOOP = "%%measured {file} {first} {last}\n{text}\n"

RUN = """\
for name in [name for name in sys.modules if name.split(".")[0] in ("experiments", "machine")]:
    del sys.modules[name]  # so that a changed loop counts
from {alone} import main

rows = folder / "rows"
arguments = [f"{{name}}={{value}}" for name, value in SETTINGS.items()]
arguments += ["--quick"] * QUICK + ["--csv", str(rows)]
assert main("{module}", arguments) == 0, "It measured nothing; the lines above say why."
"""

PLOT = """\
import csv
from collections import defaultdict
from statistics import median

import matplotlib.pyplot as plt

from experiments.core.units import show

{facts}


def called(*names):
    shown = [NAMES.get(name, name) for name in names]
    return ", ".join([*shown[:1], *(DETAIL.format(name) for name in shown[1:])])


def in_order(names):
    return sorted(names, key=lambda name: [*ORDER, name].index(name))


def with_unit(unit):
    return lambda value, _place: show(value, unit)


with open(rows / FILE, newline="", encoding="utf-8") as file:
    measured_rows = list(csv.DictReader(file))
table = [row for row in measured_rows if not row.get("lost_fraction")]
table = table or measured_rows  # all were disturbed: the run says so, and they are drawn
figure, axes = plt.subplots(layout="constrained")
{drawing}
axes.set_title(TITLE)
plt.show()
"""

LINES = """\
lines = defaultdict(lambda: defaultdict(list))
for row in table:
    name = row[SERIES] if SERIES else ""
    if row[X] and row[Y] and (not ONLY or name in ONLY):
        lines[name][float(row[X])].append(float(row[Y]))
for name in in_order(lines):
    places = sorted(lines[name])
    heights = [best(lines[name][place]) for place in places]
    axes.plot(places, heights, marker=".", label=called(name))
axes.set_xscale(**X_SCALE)
axes.set_yscale(**Y_SCALE)
axes.set_xlabel(X_LABEL)
axes.set_ylabel(Y_LABEL)
axes.xaxis.set_major_formatter(with_unit(X_UNIT))
axes.yaxis.set_major_formatter(with_unit(Y_UNIT))
if SERIES:
    axes.legend()
"""

BARS = """\
bars = defaultdict(lambda: defaultdict(list))
for row in table:
    if row[VALUE]:
        first, *rest = (row[name] for name in LABELS)
        bars[first][tuple(rest)].append(float(row[VALUE]))
places = [(first, rest) for first in in_order(bars) for rest in bars[first]]
if IS_RULER:
    places.sort(key=lambda place: best(bars[place[0]][place[1]]))
has_details = len({rest for _, rest in places}) > 1
names = [called(first, *rest * has_details) for first, rest in places]
axes.barh(names, [best(bars[first][rest]) for first, rest in places])
axes.invert_yaxis()
axes.set_xscale(**SCALE)
axes.set_xlabel(VALUE_LABEL)
axes.xaxis.set_major_formatter(with_unit(UNIT))
"""

TIMELINE = """\
lanes = defaultdict(lambda: defaultdict(list))
for row in table:
    start, end = float(row[START]), float(row[END])
    first, *rest = (row[name] for name in LANES)
    lanes[first][tuple(rest)].append((start, end - start))
places = [(first, rest) for first in in_order(lanes) for rest in lanes[first]]
has_details = len({rest for _, rest in places}) > 1
for place, (first, rest) in enumerate(places):
    axes.broken_barh(lanes[first][rest], (place - 0.4, 0.8))
axes.set_yticks(range(len(places)), [called(first, *rest * has_details) for first, rest in places])
axes.invert_yaxis()
axes.xaxis.set_major_formatter(with_unit("s"))
"""

HEATMAP = """\
cells = defaultdict(list)
for row in table:
    if row[VALUE]:
        cells[row[DOWN], row[ACROSS]].append(float(row[VALUE]))
down, across = (sorted(set(names), key=lambda name: (len(name), name)) for names in zip(*cells))
numbers = [[best(cells.get((one, other)) or [float("nan")]) for other in across] for one in down]
figure.colorbar(axes.imshow(numbers), label=VALUE_LABEL, format=with_unit(UNIT))
axes.set_xticks(range(len(across)), map(called, across))
axes.set_yticks(range(len(down)), map(called, down))
"""

DRAWS = "matplotlib"
STATISTICS = {"median": "median", "least": "min", "greatest": "max"}
SCALES: dict[str, dict[str, Any]] = {
    "linear": {"value": "linear"},
    "log2": {"value": "log", "base": 2},
    "log10": {"value": "log"},
}


def notebook(
    experiment: Experiment[Any],
    words: Words,
    head: Mapping[str, str],
    params: Mapping[str, Any],
    *,
    quick: bool,
) -> tuple[str, str]:
    """Return (file name, text) of a notebook; `head` has the `machine` and the date, `at`."""
    found = whole(experiment)
    wanted = [each.partition("==")[0] for each in found.packages]
    cells = [_markdown(experiment, words, head, found.packages)]
    cells.append(_code("install", INSTALL.format(packages=" ".join([*wanted, DRAWS]))))
    cells.append(_code("settings", _settings(experiment, params, quick=quick)))
    files = "\n".join(stored(*each) for each in found.files.items())
    cells.append(_code("set-up", SET_UP.format(files=files, name=found.name)))
    if loop := _loop(experiment, found):
        cells.append(_code("loop", loop))
    cells.append(_code("run", RUN.format(alone=ALONE, module=found.module)))
    if plot := _plot(experiment, words, found.module.split(".")[-2]):
        cells.append(_code("plot", plot))
    made = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return f"{found.name}.ipynb", json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _markdown(
    experiment: Experiment[Any], words: Words, head: Mapping[str, str], packages: Any
) -> dict[str, Any]:
    facts = {
        "program": program_version(), "id": experiment.id, "version": experiment.version
    }  # fmt: skip
    lines = [
        words.say("page.notebook_head", facts),
        words.say("page.notebook_where", head),
        words.say("page.notebook_needs", {"packages": ", ".join(packages) or "Python"}),
    ]
    question = unmarked(words.say(f"{experiment.id}.question"))
    text = "\n\n".join([f"# {question}", *map(unmarked, lines)])
    return {"cell_type": "markdown", "id": "head", "metadata": {}, "source": _source(text)}


def _code(key: str, text: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": key,
        "metadata": {"jupyter": {"source_hidden": True}} if key == "set-up" else {},
        "outputs": [],
        "source": _source(text),
    }


def _loop(experiment: Experiment[Any], found: Whole) -> str:
    """Return the measured lines as a cell that puts them back; "" where none are named."""
    loop = measured_loop(experiment.loop, sources(experiment))
    if loop is None:
        return ""
    own = f"{found.module.rpartition('.')[0].replace('.', '/')}/{loop.file}"
    file = own if own in found.files else f"experiments/{loop.file}"
    return LOOP.format(file=file, first=loop.first, last=loop.last, text=textwrap.dedent(loop.text))


def _source(text: str) -> list[str]:
    return text.strip("\n").splitlines(keepends=True)


def _settings(experiment: Experiment[Any], params: Mapping[str, Any], *, quick: bool) -> str:
    """Return the settings as a person may type them, with their units as comments."""
    lines = []
    for name, spec in specs(experiment.params).items():
        if name in params:
            unit = f"  # {spec.unit}" if spec.unit else ""
            lines.append(f"    {name!r}: {_typed(params[name])!r},{unit}")
    inside = "".join(f"{line}\n" for line in lines)
    return f"SETTINGS = {{\n{inside}}}\nQUICK = {quick}\n"


def _typed(value: object) -> str:
    """Return a parameter as text with all digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    return str(value)


def _plot(experiment: Experiment[Any], words: Words, folder: str) -> str:
    """Return code that draws the first view that is drawn from rows, "" where there is none."""
    view = next((view for view in experiment.plots if not isinstance(view, Field)), None)
    if view is None:
        return ""
    known = specs(experiment.tables[view.table])

    def called(column: str) -> str:
        return words.say(f"{experiment.id}.columns.{column}")

    def scale(axis: Axis) -> dict[str, Any]:
        return SCALES[axis.scale]

    title = words.say(f"{experiment.id}.views.{view.key}")
    choices = f"{experiment.id}.choices."
    facts: dict[str, Any] = {
        "FILE": csv_name(folder, view.table),
        "TITLE": title,
        "NAMES": {key.removeprefix(choices): words.say(key) for key in words.keys(choices)},
        "ORDER": list(getattr(view, "order", ())),
        "DETAIL": "{}",
    }
    drawing = LINES
    match view:
        case Lines():
            facts |= {"X": view.x.column, "Y": view.y.column, "SERIES": view.series}
            facts |= {"ONLY": list(view.only), "X_SCALE": scale(view.x), "Y_SCALE": scale(view.y)}
            facts |= {"X_LABEL": called(view.x.column), "Y_LABEL": called(view.y.column)}
            facts |= {"X_UNIT": known[view.x.column].unit, "Y_UNIT": known[view.y.column].unit}
        case Bars() | Ruler():
            drawing = BARS
            detail = view.detail if isinstance(view, Bars) else None
            log = SCALES["log10" if isinstance(view, Ruler) else "linear"]
            facts |= {"LABELS": [name for name in (view.label, detail) if name], "SCALE": log}
            facts |= {"VALUE": view.value, "VALUE_LABEL": called(view.value)}
            facts |= {"UNIT": known[view.value].unit, "IS_RULER": isinstance(view, Ruler)}
            if detail:
                of_column = {"column": called(detail), "value": "{}"}
                facts["DETAIL"] = words.say("plot.of_column", of_column)
        case Timeline():
            drawing = TIMELINE
            facts |= {"LANES": [name for name in (view.group, view.lane) if name]}
            facts |= {"START": view.start, "END": view.end}
        case Heatmap():
            drawing = HEATMAP
            facts |= {"DOWN": view.row, "ACROSS": view.column}
            facts |= {"VALUE": view.value, "VALUE_LABEL": called(view.value)}
            facts |= {"UNIT": known[view.value].unit}
    lines = [f"{name} = {value!r}" for name, value in facts.items()]
    if not isinstance(view, Timeline):
        lines.append(f"best = {STATISTICS[view.statistic]}")
    return PLOT.format(facts="\n".join(lines), drawing=drawing.rstrip("\n"))
