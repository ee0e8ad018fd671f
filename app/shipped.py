"""Which recordings come with the program? One an experiment at most, named after it."""

from __future__ import annotations

from pathlib import Path

from app.library import Library
from experiments.resources import FOLDER

SUFFIX = ".coreopsis.jsonl.gz"
RUNS = FOLDER / "runs"


def recording_of(experiment_id: str) -> Path | None:
    """Return the recording of an experiment that comes with the program, if there is one."""
    path = RUNS / f"{experiment_id}{SUFFIX}"
    return path if path.is_file() else None


def meant(reference: str, library: Library) -> Path:
    """Return the run file that is meant: a path, a run of the library, or an experiment's id.

    Raises Trouble if it may be one of several.
    """
    path = library.find(reference)
    return path if path.exists() else recording_of(reference) or path
