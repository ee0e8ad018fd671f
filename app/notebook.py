"""An experiment as a Jupyter notebook (nbformat 4.5): it runs on its own and plots its rows.

It is only written here, never run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.source import ALONE, stored, whole
from experiments.core.declare import Experiment, specs
from experiments.core.views import Axis, Bars, Field, Heatmap, Lines, Ruler, Timeline
from experiments.core.words import Words
from experiments.engine.environment import program_version

OWN = "# Its own files.\nFILES = {}\n"
SHARED = "# What it shares with other experiments.\n"

RUN = """\
import os
import sys
import tempfile
from pathlib import Path

folder = Path(tempfile.mkdtemp(prefix="{name}-"))
for name, text in FILES.items():
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
sys.path.insert(0, str(folder))
os.environ["PYTHONPATH"] = str(folder)  # for the processes that it starts
os.environ["COREOPSIS_EXPERIMENTS"] = str(folder / "experiments" / "yours")
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

{facts}

with open(rows / FILE, newline="", encoding="utf-8") as file:
    table = list(csv.DictReader(file))
try:
    import matplotlib.pyplot as plt
except ImportError:
    print("matplotlib is not installed here. The rows are in", rows)
else:
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
for name, points in lines.items():
    places = sorted(points)
    axes.plot(places, [best(points[place]) for place in places], marker=".", label=name)
axes.set_xscale(**X_SCALE)
axes.set_yscale(**Y_SCALE)
axes.set_xlabel(X_LABEL)
axes.set_ylabel(Y_LABEL)
if SERIES:
    axes.legend()
"""

BARS = """\
bars = defaultdict(list)
for row in table:
    if row[VALUE]:
        bars[", ".join(row[name] for name in LABELS)].append(float(row[VALUE]))
axes.barh(list(bars), [best(each) for each in bars.values()])
axes.invert_yaxis()
axes.set_xscale(**SCALE)
axes.set_xlabel(VALUE_LABEL)
"""

TIMELINE = """\
lanes = defaultdict(list)
for row in table:
    start, end = float(row[START]), float(row[END])
    lanes[", ".join(row[name] for name in LANES)].append((start, end - start))
for place, slices in enumerate(lanes.values()):
    axes.broken_barh(slices, (place - 0.4, 0.8))
axes.set_yticks(range(len(lanes)), list(lanes))
axes.invert_yaxis()
axes.set_xlabel("s")
"""

HEATMAP = """\
cells = defaultdict(list)
for row in table:
    if row[VALUE]:
        cells[row[DOWN], row[ACROSS]].append(float(row[VALUE]))
down, across = (sorted(set(names), key=lambda name: (len(name), name)) for names in zip(*cells))
numbers = [[best(cells.get((one, other)) or [float("nan")]) for other in across] for one in down]
figure.colorbar(axes.imshow(numbers), label=VALUE_LABEL)
axes.set_xticks(range(len(across)), across)
axes.set_yticks(range(len(down)), down)
"""

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
    inside = found.module.rpartition(".")[0].replace(".", "/") + "/"
    own = {name: path for name, path in found.files.items() if name.startswith(inside)}
    shared = {name: path for name, path in found.files.items() if name not in own}
    cells = [_markdown(experiment, words, head, found.packages)]
    cells.append(_code("settings", _settings(experiment, params, quick=quick)))
    for key, begin, files in (("own", OWN, own), ("shared", SHARED, shared)):
        cells.append(_code(key, begin + "\n".join(stored(*each) for each in files.items())))
    cells.append(_code("run", RUN.format(name=found.name, alone=ALONE, module=found.module)))
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
        f"# {words.say(f'{experiment.id}.question')}",
        words.say("page.notebook_head", facts),
        words.say("page.notebook_where", head),
        words.say("page.notebook_needs", {"packages": ", ".join(packages) or "Python"}),
    ]
    text = "\n\n".join(lines)
    return {"cell_type": "markdown", "id": "head", "metadata": {}, "source": _source(text)}


def _code(key: str, text: str) -> dict[str, Any]:
    is_long = key in ("own", "shared")
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": key,
        "metadata": {"jupyter": {"source_hidden": True}} if is_long else {},
        "outputs": [],
        "source": _source(text),
    }


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
        unit, name = known[column].unit, words.say(f"{experiment.id}.columns.{column}")
        return f"{name} ({unit})" if unit else name

    def scale(axis: Axis) -> dict[str, Any]:
        return SCALES[axis.scale]

    title = words.say(f"{experiment.id}.views.{view.key}")
    facts: dict[str, Any] = {"FILE": f"{folder}-{view.table}.csv", "TITLE": title}
    drawing = LINES
    match view:
        case Lines():
            facts |= {"X": view.x.column, "Y": view.y.column, "SERIES": view.series}
            facts |= {"ONLY": list(view.only), "X_SCALE": scale(view.x), "Y_SCALE": scale(view.y)}
            facts |= {"X_LABEL": called(view.x.column), "Y_LABEL": called(view.y.column)}
        case Bars() | Ruler():
            drawing = BARS
            detail = view.detail if isinstance(view, Bars) else None
            log = SCALES["log10" if isinstance(view, Ruler) else "linear"]
            facts |= {"LABELS": [name for name in (view.label, detail) if name], "SCALE": log}
            facts |= {"VALUE": view.value, "VALUE_LABEL": called(view.value)}
        case Timeline():
            drawing = TIMELINE
            facts |= {"LANES": [name for name in (view.group, view.lane) if name]}
            facts |= {"START": view.start, "END": view.end}
        case Heatmap():
            drawing = HEATMAP
            facts |= {"DOWN": view.row, "ACROSS": view.column}
            facts |= {"VALUE": view.value, "VALUE_LABEL": called(view.value)}
    lines = [f"{name} = {value!r}" for name, value in facts.items()]
    if not isinstance(view, Timeline):
        lines.append(f"best = {STATISTICS[view.statistic]}")
    inside = "".join(f"    {line}\n" if line else "\n" for line in drawing.splitlines())
    return PLOT.format(facts="\n".join(lines), drawing=inside.rstrip("\n"))
