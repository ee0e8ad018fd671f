"""Where dropped files belong: lectures and their records, checkups, or runs and all else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.lecture.file import SUFFIX
from app.lecture.record import SUFFIX as RECORD
from app.window.core.session import Session
from app.window.core.target import CHECKUP, RUNS, Target
from experiments.checkup.result import holds_checkup


def take(files: Sequence[Path], session: Session) -> None:
    """Show dropped files where they belong; what cannot be read is told of in Runs."""
    for ending, asked in (
        (SUFFIX, session.asked_for_playlist),
        (RECORD, session.asked_for_handout),
    ):
        path = next((path for path in files if path.name.endswith(ending)), None)
        if path is not None:
            asked.emit(path)
            return
    place = CHECKUP if all(map(holds_checkup, files)) else RUNS
    session.went.emit(Target(place, files=tuple(files)))
