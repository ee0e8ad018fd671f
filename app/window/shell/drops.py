"""Where dropped files belong: checkups to the checkup, runs and all else to the runs."""

from __future__ import annotations

from pathlib import Path

from app.window.core.target import RUNS, Target


def target_of(files: tuple[Path, ...]) -> Target:
    """Return the place that shows these files."""
    return Target(RUNS, files=files)
