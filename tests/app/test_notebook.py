"""A notebook is valid, has the settings of its run, and its cells run on their own and plot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.notebook import notebook
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.parameters import from_text, to_json
from machine.inspect import inspect
from tests.experiments.machines import machine

CATALOGUE = Catalogue()
ENGLISH = words.load("en")
HEAD = {"machine": "a processor", "at": "2026-11-25"}
# One of each kind of headline, as small as it can be.
SETTINGS = {
    "race": {"workers": "2", "times": "20000", "rounds": "2", "pythons": "none"},
    "uneven": {"workers": "2", "rows": "16", "columns": "4", "iterations": "50", "rounds": "2"},
    "start-cost": {"rounds": "1", "methods": "call,thread"},
    "burst-random": {"largest_bytes": "1 MiB", "rounds": "2"},
}

# Stands for matplotlib, which is not there: it says what was drawn.
PLOTTED = """
import json
import sys
import types

class Drawn:
    def __init__(self, name):
        self.name = name

    def __call__(self, *given, **more):
        seen.append(self.name)
        if self.name == "plt.subplots":
            return Drawn("figure"), Drawn("axes")
        return Drawn(self.name + "()")

    def __getattr__(self, name):
        return Drawn(f"{self.name}.{name}")

seen = []
pyplot = types.ModuleType("matplotlib.pyplot")
pyplot.__getattr__ = lambda name: Drawn(f"plt.{name}")
package = types.ModuleType("matplotlib")
package.pyplot = pyplot
sys.modules |= {"matplotlib": package, "matplotlib.pyplot": pyplot}
"""
HIDDEN = """
import sys

sys.modules["matplotlib"] = None
"""
DRAWS = {"race": "axes.barh", "uneven": "axes.broken_barh", "start-cost": "axes.barh",
         "burst-random": "axes.plot"}  # fmt: skip


def cells_of(experiment_id: str, settings: dict[str, str]) -> list[dict[str, Any]]:
    experiment = CATALOGUE.load(experiment_id)
    params = from_text(experiment.params_for(inspect(), quick=True), settings)
    name, text = notebook(experiment, ENGLISH, HEAD, to_json(params), quick=True)
    assert name == f"{experiment_id.replace('-', '_')}.ipynb"
    cells: list[dict[str, Any]] = json.loads(text)["cells"]
    return cells


def run(cells: list[dict[str, Any]], folder: Path, before: str, after: str = "") -> Any:
    """Run the code cells one after the other, as a kernel does."""
    code = "\n".join("".join(each["source"]) for each in cells if each["cell_type"] == "code")
    (folder / "cells.py").write_text(f"{before}\n{code}\n{after}\n", encoding="utf-8")
    return subprocess.run(
        [sys.executable, "cells.py"], cwd=folder, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip


@pytest.mark.parametrize("experiment", list(CATALOGUE), ids=lambda e: e.id)
def test_it_is_a_notebook_of_version_4_whose_code_is_python(experiment):
    params = to_json(experiment.params_for(machine(gpus=2), quick=False))
    _, text = notebook(experiment, ENGLISH, HEAD, params, quick=False)
    made = json.loads(text)

    assert made.keys() == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert [each["cell_type"] for each in made["cells"]] == ["markdown", *["code"] * 5]
    assert len({each["id"] for each in made["cells"]}) == len(made["cells"])
    for each in made["cells"]:
        assert all(line.endswith("\n") for line in each["source"][:-1])
        assert isinstance(each["metadata"], dict)
        if each["cell_type"] == "code":
            assert (each["outputs"], each["execution_count"]) == ([], None)
            compile("".join(each["source"]), each["id"], "exec")
    told = "".join(made["cells"][0]["source"])
    for said in (ENGLISH.say(f"{experiment.id}.question"), *HEAD.values()):
        assert said in told
    found: dict[str, Any] = {}
    exec("".join(made["cells"][1]["source"]), found)
    typed = from_text(experiment.params_for(machine(gpus=2), quick=True), found["SETTINGS"])
    assert to_json(typed) == params
    assert found["QUICK"] is False


@pytest.mark.parametrize("experiment_id", SETTINGS)
def test_its_cells_run_on_their_own_and_draw_the_headline(tmp_path, experiment_id):
    told = run(
        cells_of(experiment_id, SETTINGS[experiment_id]), tmp_path, PLOTTED,
        "print(json.dumps(seen))",
    )  # fmt: skip

    assert told.returncode == 0, told.stderr
    seen = json.loads(told.stdout.splitlines()[-1])
    assert DRAWS[experiment_id] in seen
    assert seen[-1] == "plt.show"
    assert len(told.stdout.splitlines()) > 1  # what it found


def test_without_matplotlib_it_says_where_the_rows_are(tmp_path):
    told = run(cells_of("race", SETTINGS["race"]), tmp_path, HIDDEN)

    assert told.returncode == 0, told.stderr
    folder = Path(told.stdout.splitlines()[-1].rpartition(" ")[2])
    assert list(folder.glob("*.csv"))


def test_where_nothing_was_measured_it_stops_before_the_plot(tmp_path):
    cells = cells_of("race", SETTINGS["race"])
    cells[1]["source"] = ["SETTINGS = {'workers': 'many'}\n", "QUICK = True"]
    told = run(cells, tmp_path, PLOTTED)

    assert told.returncode != 0
    assert "workers" in told.stderr
