"""Sends dropped or opened files to their places: lectures, checkups, or runs and all else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.lecture.file import SUFFIX
from app.lecture.record import SUFFIX as RECORD
from app.window.core.session import Session
from app.window.core.target import CHECKUP, Target
from experiments.checkup.result import holds_checkup


def shown_elsewhere(files: Sequence[Path], session: Session) -> bool:
    """Show a lecture, its record or checkups in their place; False for what belongs to Runs."""
    for ending, asked in (
        (SUFFIX, session.asked_for_playlist),
        (RECORD, session.asked_for_handout),
    ):
        path = next((path for path in files if path.name.endswith(ending)), None)
        if path is not None:
            asked.emit(path)
            return True
    if files and all(map(holds_checkup, files)):
        session.went.emit(Target(CHECKUP, files=tuple(files)))
        return True
    return False
