"""A notebook is valid, has the settings of its run, and its cells run on their own and plot."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import venv
from pathlib import Path
from typing import Any

import pytest

from app.notebook import notebook
from app.source import sources
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.measured_loop import measured_loop
from experiments.core.parameters import from_text, to_json
from experiments.core.units import About, show
from machine.inspect import inspect
from tests.experiments.machines import machine
from tests.hostile import EVIL, OBEYED
from widgets.plots.terms import Terms

CATALOGUE = Catalogue()
ENGLISH = words.load("en")
HEAD = {"machine": "a processor", "at": "2026-11-25"}
# One of each kind of headline, as small as it can be.
SETTINGS = {
    "race": {
        "workers": "2",
        "times": "20000",
        "rounds": "2",
        "pythons": "none",
        "switch_interval_s": "1 ms",
    },
    "uneven": {"workers": "2", "rows": "16", "columns": "4", "iterations": "50", "rounds": "2"},
    "start-cost": {"rounds": "1", "methods": "thread,call"},
    "python-objects": {"most_numbers": "4096", "rounds": "2"},
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
SAYS = """
print(json.dumps({"names": names, "tick": with_unit(UNIT)(1e-6, 0)}))
"""
DRAWS = {"race": "axes.barh", "uneven": "axes.broken_barh", "start-cost": "axes.barh",
         "python-objects": "axes.plot"}  # fmt: skip


def cells_of(experiment_id: str, settings: dict[str, str]) -> list[dict[str, Any]]:
    experiment = CATALOGUE.load(experiment_id)
    params = from_text(experiment.params_for(inspect(), quick=True), settings)
    name, text = notebook(experiment, ENGLISH, HEAD, to_json(params), quick=True)
    assert name == f"{experiment_id.replace('-', '_')}.ipynb"
    cells: list[dict[str, Any]] = json.loads(text)["cells"]
    return cells


def as_python(cell: dict[str, Any]) -> str:
    """Return a cell as a kernel without magics takes it; nothing is installed."""
    text = "".join(cell["source"])
    first, _, rest = text.partition("\n")
    if first.startswith("%%measured "):
        return f"measured({first.removeprefix('%%measured ')!r}, {rest!r})"
    return "" if first.startswith("%pip ") else text


def by_key(cells: list[dict[str, Any]], key: str) -> dict[str, Any]:
    (found,) = (each for each in cells if each["id"] == key)
    return found


def run(cells: list[dict[str, Any]], folder: Path, before: str, after: str = "") -> Any:
    """Run the code cells one after the other, as a kernel does."""
    code = "\n".join(as_python(each) for each in cells if each["cell_type"] == "code")
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
    keys = ["head", "install", "settings", "set-up", "loop", "run", "plot"]
    assert [each["id"] for each in made["cells"]] == keys
    assert [each["cell_type"] for each in made["cells"]] == ["markdown", *["code"] * 6]
    folded = [each["id"] for each in made["cells"] if each["metadata"]]
    assert folded == ["set-up"]
    for each in made["cells"]:
        assert all(line.endswith("\n") for line in each["source"][:-1])
        assert isinstance(each["metadata"], dict)
        if each["cell_type"] == "code":
            assert (each["outputs"], each["execution_count"]) == ([], None)
            compile(as_python(each), each["id"], "exec")
    told = "".join(made["cells"][0]["source"]).replace("\\", "")
    for said in (ENGLISH.say(f"{experiment.id}.question"), *HEAD.values()):
        assert said in told
    found: dict[str, Any] = {}
    exec("".join(by_key(made["cells"], "settings")["source"]), found)
    typed = from_text(experiment.params_for(machine(gpus=2), quick=True), found["SETTINGS"])
    assert to_json(typed) == params
    assert found["QUICK"] is False


def test_what_a_stranger_wrote_is_neither_markup_nor_code():
    experiment, evil = CATALOGUE.load("race"), f"{EVIL[:-1]} ![x](http://x) `a` $x$ &lt; **b**\n# c"
    params = {"workers": evil, "pythons": [evil]}
    _, text = notebook(experiment, ENGLISH, {"machine": evil, "at": evil}, params, quick=False)
    head, *others = json.loads(text)["cells"]

    said = "".join(head["source"])
    assert said.splitlines()[0] == f"# {ENGLISH.say('race.question')}"
    assert not re.search(r"[`*_{}\[\]<>#|~$&]", re.sub(r"\\.", "", said.partition("\n")[2]))
    assert not OBEYED.search(said.replace("\n", ""))
    found: dict[str, Any] = {}
    exec("".join(by_key(others, "settings")["source"]), found)
    assert found["SETTINGS"] == {"workers": evil, "pythons": evil}


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


def test_the_first_cell_installs_all_that_the_others_import():
    cells = cells_of("burst-random", {})
    first, *_ = (each for each in cells if each["cell_type"] == "code")

    line = "".join(first["source"])
    assert line.startswith("%pip install ")
    assert {"numpy", "numba", "msgspec", "psutil", "matplotlib"} <= set(line.split())


def test_the_loop_is_the_one_that_the_window_shows_and_a_changed_one_runs(tmp_path):
    cells = cells_of("race", SETTINGS["race"])
    loop = by_key(cells, "loop")
    experiment = CATALOGUE.load("race")
    shown = measured_loop(experiment.loop, sources(experiment))
    assert shown is not None
    assert "".join(loop["source"][1:]) == textwrap.dedent(shown.text)

    loop["source"][1:1] = ["# changed\n", "# twice\n"]
    told = run(
        cells, tmp_path, PLOTTED,
        "print((folder / 'experiments/python_at_work/race/jobs.py').read_text())",
    )  # fmt: skip

    assert told.returncode == 0, told.stderr
    original = dict(sources(experiment))[shown.file]
    changed = told.stdout[told.stdout.index(original[:40]) :]
    indent = shown.text[: len(shown.text) - len(shown.text.lstrip())]
    added = f"{indent}# changed\n{indent}# twice\n{shown.text}"
    assert changed.strip() == original.replace(shown.text, added, 1).strip()


def test_the_plot_is_sorted_and_worded_as_in_the_window(tmp_path):
    """Bars in the order of the view, by the names of its choices, with the units of the window."""
    cells = cells_of("start-cost", SETTINGS["start-cost"])
    experiment = CATALOGUE.load("start-cost")
    told = run(cells, tmp_path, PLOTTED, SAYS)

    assert told.returncode == 0, told.stderr
    said = json.loads(told.stdout.splitlines()[-1])
    rows = Terms(experiment, experiment.plots[0], ENGLISH)
    assert said["names"] == [rows.choice(name) for name in ("call", "thread")]
    assert said["tick"] == show(1e-6, "s")


def test_it_says_whether_the_run_was_disturbed(tmp_path):
    cells = cells_of("start-cost", SETTINGS["start-cost"])
    for others, key in ((0.5, "stands.machine_was_busy"), (0.0, "badges.solid_why")):
        made = f"""
from experiments.core.declare import Note
from experiments.engine import standalone as alone
class Disturbance:
    def __init__(self, **_):
        pass
    def notes(self):
        yield Note("machine_was_busy" if {others} else "machine_was_quiet",
                   {{"others_fraction": {others}, "stolen_fraction": 0.0}})
alone.Disturbance = Disturbance
alone.watch = lambda: lambda: alone_loss
from experiments.core.judging.disturbed import Loss
alone_loss = Loss(0.0, 0)
"""
        run_cell = by_key(cells, "run")
        source = "".join(run_cell["source"])
        before, line, after = source.partition("from experiments.engine.standalone import main\n")
        changed = [{**each, "source": [before, made, line, after]} if each is run_cell else each
                   for each in cells]  # fmt: skip
        told = run(changed, tmp_path, PLOTTED)

        assert told.returncode == 0, told.stderr
        values = {"others_fraction": others, "most_slowdown": About(2.0)}
        assert ENGLISH.say(key, values) in told.stdout


def test_a_plot_of_disturbed_rows_alone_is_drawn_all_the_same(tmp_path):
    cells = cells_of("start-cost", SETTINGS["start-cost"])
    disturbed = """
for path in rows.glob("*.csv"):
    head, *lines = path.read_text().splitlines()
    path.write_text("\\n".join([f"{head},lost_fraction", *(f"{line},0.5" for line in lines)]))
"""
    by_key(cells, "run")["source"].append(disturbed)

    told = run(cells, tmp_path, PLOTTED, "print(json.dumps(names))")

    assert told.returncode == 0, told.stderr
    assert len(json.loads(told.stdout.splitlines()[-1])) == 2


@pytest.mark.slow
def test_it_runs_in_a_fresh_environment_under_jupyter(tmp_path):
    """As a person does: an environment with Jupyter alone, and all cells from above."""
    python = tmp_path / "venv" / "bin" / "python"
    venv.create(tmp_path / "venv", with_pip=True)
    pip = [python, "-m", "pip", "install", "-q", "nbconvert", "ipykernel"]
    installed = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=1200)
    if installed.returncode:
        pytest.skip(f"pip reaches no index here: {installed.stderr.splitlines()[-1:]}")
    experiment = CATALOGUE.load("race")
    params = from_text(experiment.params_for(inspect(), quick=True), SETTINGS["race"])
    name, text = notebook(experiment, ENGLISH, HEAD, to_json(params), quick=True)
    (tmp_path / name).write_text(text, encoding="utf-8")

    done = subprocess.run(
        [python, "-m", "nbconvert", "--to", "notebook", "--execute", "--output", "ran", name],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=1200,
        env={**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}", "PYTHONPATH": ""},
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    cells = json.loads((tmp_path / "ran.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = {each["id"]: each.get("outputs", []) for each in cells}
    told = "".join("".join(each["text"]) for each in outputs["run"] if "text" in each)
    keys = ("notes.machine_was_busy", "badges.solid_why", "outcomes.disturbed")
    said = [ENGLISH.text(key).partition("{")[0] or ENGLISH.text(key)[8:40] for key in keys]
    assert "×" in told or "%" in told
    assert any(each in told for each in said)
    assert any("image/png" in each.get("data", {}) for each in outputs["plot"])


def test_where_nothing_was_measured_it_stops_before_the_plot(tmp_path):
    cells = cells_of("race", SETTINGS["race"])
    by_key(cells, "settings")["source"] = ["SETTINGS = {'workers': 'many'}\n", "QUICK = True"]
    told = run(cells, tmp_path, PLOTTED)

    assert told.returncode != 0
    assert "workers" in told.stderr
