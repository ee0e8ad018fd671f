"""Where dropped files belong: checkups to the checkup, runs and all else to the runs."""

from __future__ import annotations

from pathlib import Path

from app.window.core.target import CHECKUP, RUNS, Target
from experiments.checkup.result import holds_checkup


def target_of(files: tuple[Path, ...]) -> Target:
    """Return the place that shows these files; one that cannot be read is told of in Runs."""
    return Target(CHECKUP if all(map(holds_checkup, files)) else RUNS, files=files)
