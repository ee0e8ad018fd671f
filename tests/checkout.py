"""A copy of this checkout: what git tracks, and what it would."""

from __future__ import annotations

import shutil
import subprocess
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
