"""A checkout that no install knows of: it runs, or it says in one sentence what is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import ROOT
from tests.checkout import environment
from tests.experiments.engine.test_entry import MEASURE

PACKAGES = ("app", "experiments", "machine", "resources")
SETTINGS = ("job=sleep", "job_s=0.005", "rounds=1", "switch_interval_s=0.0001", "workers=2",
            "methods=serial,processes")  # fmt: skip


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bare") / "checkout"
    for name in PACKAGES:
        skipped = shutil.ignore_patterns("*.coreopsis*", "*.nb[ci]", "window")
        shutil.copytree(ROOT / name, folder / name, ignore=skipped)
    return folder


def without_path() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def ran(
    python: str, bare: Path, *arguments: str, said: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, *arguments],
        cwd=bare,
        env=without_path(),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def python(bare, tmp_path_factory) -> str:
    """Return a Python with our libraries that does not know the checkout."""
    python = environment(tmp_path_factory.mktemp("libraries") / "python")
    unknown = ran(python, bare, "-P", "-c", "import experiments")
    assert unknown.returncode, "this would prove nothing: an install knows the packages"
    return python


def test_a_run_finds_the_packages_that_no_install_knows_of(bare, python):
    done = ran(python, bare, "-m", "app", "run", "gil-threads", "--quick", "--no-keep",
               *(f"--set={each}" for each in SETTINGS))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_guardian_spoken_to_by_hand_finds_them(bare, python):
    with subprocess.Popen(
        [python, "-m", "app", "worker"],
        cwd=bare,
        env=without_path(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        process.stdin.write(json.dumps(MEASURE).encode() + b"\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline() or "{}").get("type") == "hello"
        process.stdin.close()


def test_an_experiment_of_ones_own_is_examined_there(bare, python, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "experiment.py").write_text("1 +")
    code = (
        "from pathlib import Path; from types import SimpleNamespace as Home;"
        "from experiments.engine.examine import examine;"
        f"print(examine({{'mine': Home(folder=Path({str(tmp_path / 'mine')!r}))}})['mine'][0].key)"
    )
    done = ran(python, bare, "-c", code)
    assert done.stdout.strip() not in {"", "own_ended"}, done.stderr


def test_missing_libraries_are_named_with_the_line_that_installs_them(bare):
    code = "import sys, runpy; sys.path.insert(0, '.'); runpy.run_module('app', alter_sys=True)"
    done = ran(sys.executable, bare, "-I", "-S", "-c", code)
    assert done.returncode == 3
    (said,) = done.stderr.splitlines()
    for name in ("msgspec", "platformdirs", "psutil", "numpy"):
        assert name in said.partition("-m pip install ")[2].partition("`")[0].split()
