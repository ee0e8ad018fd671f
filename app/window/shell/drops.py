"""Run files that are dropped on the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData

from experiments.engine.recording import SUFFIXES
from widgets.runs.takes_files import files_of


def run_files(data: QMimeData) -> tuple[Path, ...]:
    """Return the dragged files whose names are those of runs."""
    return tuple(path for path in files_of(data) if path.name.endswith(SUFFIXES))
