"""The wheel has everything, and works from an environment and a home of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import copied, environment, tracked
from tests.opened import check_window, own_home
from tests.tools import share

ROOMS = ("app", "widgets", "experiments", "machine", "resources")
PICTURES = "resources/screenshots/"  # of the README
FROZEN = ("app/shells/frozen.py", "resources/frozen/", "resources/text/frozen/")
SHARE = "resources/share/"


@pytest.fixture(scope="module")
def python(tmp_path_factory) -> Path:
    """Return the Python of an environment into which the wheel was built and installed."""
    python = environment(tmp_path_factory.mktemp("venv"))
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index"]
    source = copied(tmp_path_factory.mktemp("source"))
    subprocess.run(
        [*pip, "--no-deps", "--no-build-isolation", "--no-compile", source], check=True, timeout=300
    )
    return Path(python)


@pytest.fixture
def coreopsis(python, tmp_path):
    """Return what runs the installed program, from another folder, with a home of its own."""
    home = own_home(tmp_path / "home")

    def run(*arguments: str) -> str:
        return subprocess.run(
            [python.with_name("coreopsis"), *arguments], env=home, check=True, cwd=tmp_path,
            capture_output=True, text=True, timeout=120,
        ).stdout  # fmt: skip

    return run


def test_every_file_of_the_product_is_in_it(python):
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    ours = {
        name
        for name in tracked()
        if name.split("/")[0] in ROOMS and not name.startswith((PICTURES, SHARE, *FROZEN))
    }

    assert [name for name in sorted(ours) if not (site / name).is_file()] == []
    shared = [name.removeprefix(SHARE) for name in tracked() if name.startswith(SHARE)]
    assert shared
    at = python.parent.parent / "share"
    assert [name for name in shared if not (at / name).is_file()] == []


def test_the_manual_and_the_completions_are_those_of_this_program():
    """Else `python -m tests.tools.share` writes them anew."""
    stands = {name: (share.FOLDER / name).read_text(encoding="utf-8") for name in share.texts()}

    assert stands == share.texts()


def test_its_window_opens_with_the_fonts_that_come_along(python, tmp_path):
    check_window([python], own_home(tmp_path / "home"))


def test_it_shows_a_recording(coreopsis):
    assert "GB/s" in coreopsis("replay", "stream")


@pytest.mark.slow
def test_it_runs_an_experiment_of_each_shelf(coreopsis):
    known = json.loads(coreopsis("experiments", "--json"))
    shelves = {one["shelf"] for one in known if one["runnable"]}
    assert len(shelves) >= 3
    for shelf in shelves:
        quickest = min(
            (one for one in known if one["shelf"] == shelf and one["runnable"]),
            key=lambda one: one["seconds"],
        )
        last = coreopsis("run", quickest["id"], "--quick", "--json").splitlines()[-1]
        assert '"completed"' in last, quickest["id"]
