from __future__ import annotations

import inspect
import sys

import pytest

from app.source import method, sources
from experiments.core import words
from experiments.core.catalogue import Catalogue


@pytest.mark.parametrize("experiment", list(Catalogue()), ids=lambda e: e.id)
def test_the_module_of_an_experiment_comes_first_and_whole(experiment):
    (name, text), *_ = sources(experiment)
    module = sys.modules[experiment.params.__module__]

    assert name == f"{experiment.id.replace('-', '_')}.py"
    assert text == inspect.getsource(module)


def test_kernels_and_helpers_of_the_shelf_follow():
    names = [name for name, _ in sources(Catalogue().load("cache-ladder"))]

    assert {"chasing.py", "chains.py"} <= set(names)
    assert "bench.py" not in names


def test_a_file_that_is_run_elsewhere_is_there_too():
    assert "gil_jobs.py" in [name for name, _ in sources(Catalogue().load("gil-threads"))]


def test_reading_the_code_of_kernels_loads_no_numba():
    import subprocess

    code = (
        "import sys; from app.source import sources\n"
        "from experiments.core.catalogue import Catalogue\n"
        "[sources(each) for each in Catalogue()]; sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("experiment", list(Catalogue()), ids=lambda e: e.id)
def test_every_experiment_says_how_it_measures(experiment):
    assert method(experiment).endswith(".")


@pytest.mark.parametrize("experiment", list(Catalogue()), ids=lambda e: e.id)
def test_the_method_explains_the_words_that_a_newcomer_does_not_know(experiment):
    if experiment.shelf in ("python-at-work", "memory"):  # elsewhere memory is pinned
        assert "pinned" not in method(experiment).replace("(pinned)", "")


def test_who_is_advised_to_try_huge_pages_is_told_how():
    english = words.load("en")
    said = [english.say(key) for key in english.keys("") if ".limits." in key]

    advised = [text for text in said if "huge pages" in text.lower()]
    assert advised
    assert all("(huge_pages)" in text for text in advised)  # as --set wants it
