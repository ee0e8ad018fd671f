"""To delete an experiment is to delete its folder and its tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.core.catalogue import Catalogue
from tests import ROOT
from tests.checkout import copied

DELETED = ("waiting", "smt", "alignment")
TESTS = (
    "tests/experiments/core/test_catalogue.py",
    "tests/experiments/core/test_words.py",
    "tests/app/test_words_used.py",
)
LINT = (("ruff", "check", "-q"), ("ruff", "format", "--check", "-q"), ("mypy",), ("lint-imports",))


@pytest.mark.slow
def test_the_rest_stands_after_each_of_three(tmp_path):
    folder = copied(tmp_path / "checkout")
    if (cache := ROOT / ".mypy_cache").exists():  # only the files that changed are then read
        shutil.copytree(cache, folder / cache.name)
    homes = Catalogue().homes
    environment = {**os.environ, "PYTHONPATH": str(folder)}

    def do(*command: str) -> None:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"

    for name in DELETED:
        home = homes[name].folder
        shutil.rmtree(folder / home.relative_to(ROOT))
        for path in (folder / "tests/experiments" / home.parent.name).glob(f"*_{home.name}*.py"):
            path.unlink()
        do(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS)
    for tool, *more in LINT:
        do(str(Path(sys.executable).with_name(tool)), *more)
