from __future__ import annotations

import os
import subprocess
import sys

import pytest

from app.source import script, sources
from experiments.core import words
from experiments.core.catalogue import Catalogue
from experiments.core.measured_loop import MOST_LINES, measured_loop
from tests.cases import in_one
from tests.checkout import environment

CATALOGUE = Catalogue()
ENGLISH = words.load("en")


def names_of(experiment_id: str) -> list[str]:
    return [name for name, _ in sources(CATALOGUE.load(experiment_id))]


@in_one("experiment", list(CATALOGUE), ids=lambda e: e.id)
def test_its_folder_comes_first_and_whole_with_the_short_loop_that_it_measures(experiment):
    read = sources(experiment)
    folder = CATALOGUE.homes[experiment.id].folder
    own = {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")} - {"__init__.py"}

    assert read[0][0] == "experiment.py"
    assert {name for name, _ in read[: len(own)]} == own
    for name, text in read[: len(own)]:
        assert text == (folder / name).read_text(encoding="utf-8")

    files, loop = dict(read), measured_loop(experiment.loop, read)

    assert loop is not None
    lines = files[loop.file].splitlines()[loop.first - 1 : loop.last]
    assert loop.text.splitlines() == lines
    assert len(lines) <= MOST_LINES


def test_what_is_started_as_a_program_brings_what_it_imports():
    assert "tools/serving.py" in names_of("uneven")


def test_the_shared_modules_that_it_imports_follow():
    assert {"tools/chasing.py", "kernels/chains.py"} <= set(names_of("cache-ladder"))
    assert "tools/start_jobs.py" in names_of("start-cost")  # which runs in a process of its own
    assert not any("bench" in name for name in names_of("cache-ladder"))


def test_reading_the_code_of_kernels_loads_no_numba():
    code = (
        "import sys; from app.source import script, sources\n"
        "from experiments.core.catalogue import Catalogue\n"
        "each = Catalogue().load('stream'); sources(each); script(each, '')\n"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("experiment_id", "settings"),
    [
        ("race", ("workers=2", "times=20000", "rounds=2", "pythons=none")),
        ("counters", ("most_threads=2", "rounds=3")),  # kernels, its own and shared ones
    ],
)
def test_a_script_runs_on_its_own_with_the_packages_it_names(tmp_path, experiment_id, settings):
    name, text = script(CATALOGUE.load(experiment_id), "What?")
    (tmp_path / name).write_text(text, encoding="utf-8")
    python = environment(tmp_path / "venv")
    home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    told = subprocess.run(
        [python, name, "--quick", "--csv", "rows", *settings], cwd=tmp_path, env=home,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip

    assert told.returncode == 0, told.stderr
    keys = (*ENGLISH.keys(f"{experiment_id}.findings."), *ENGLISH.keys("shared.findings."))
    lines = told.stdout.splitlines()[:2]  # beside other programs the first tells of them
    said = [ENGLISH.text(key).partition("{")[0] for key in (*keys, "outcomes.was_disturbed")]
    assert any(line.startswith(each) for line in lines for each in said if each)
    assert list((tmp_path / "rows").glob("*.csv"))
    assert name in text.splitlines()[6]


@pytest.mark.parametrize(
    ("experiment_id", "needs", "not_needed"),
    [("race", {"msgspec"}, {"numpy", "torch"}), ("stream", {"numba", "numpy"}, {"torch"}),
     ("clinic", {"torch"}, set())],
)  # fmt: skip
def test_a_script_names_the_packages_that_it_imports(experiment_id, needs, not_needed):
    _, text = script(CATALOGUE.load(experiment_id), "What?")
    head = text.partition("\n# ///\n")[0]

    assert all(f'"{name}' in head for name in needs)
    assert not any(f'"{name}' in head for name in not_needed)


def test_the_method_explains_the_words_that_a_newcomer_does_not_know():
    for experiment in CATALOGUE:
        method = ENGLISH.say(f"{experiment.id}.method")
        assert method.endswith(".")
        if experiment.shelf in ("python-at-work", "memory"):  # elsewhere memory is pinned
            assert "pinned" not in method.replace("(pinned)", "")


def test_who_is_advised_to_try_huge_pages_is_told_how():
    said = [ENGLISH.say(key) for key in ENGLISH.keys("") if ".limits." in key]

    advised = [text for text in said if "huge pages" in text.lower()]
    assert advised
    assert all("(huge_pages)" in text for text in advised)  # as --set wants it
