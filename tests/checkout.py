"""A copy of this checkout, what git tracks and would track, and environments to try it in."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests import ROOT


def tracked() -> list[str]:
    """Return the files of the checkout; skips the test where there is no git."""
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a checkout of git")
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in said.splitlines() if (ROOT / name).is_file()]


def copied(folder: Path) -> Path:
    """Copy the files of the checkout to a folder, and return it."""
    for name in tracked():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target)
    return folder


def environment(folder: Path, *paths: Path) -> str:
    """Make an environment that sees our dependencies and these paths; return its Python."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (site / "ours.pth").write_text("\n".join(map(str, (*paths, *ours))))
    return os.fspath(folder / "bin" / "python")
