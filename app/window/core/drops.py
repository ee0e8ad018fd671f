"""Where dropped files belong: lectures, checkups, or runs and all else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.lecture.file import SUFFIX
from app.window.core.session import Session
from app.window.core.target import CHECKUP, RUNS, Target
from experiments.checkup.result import holds_checkup


def take(files: Sequence[Path], session: Session) -> None:
    """Show dropped files where they belong; what cannot be read is told of in Runs."""
    lecture = next((path for path in files if path.name.endswith(SUFFIX)), None)
    if lecture is not None:
        session.asked_for_playlist.emit(lecture)
        return
    place = CHECKUP if all(map(holds_checkup, files)) else RUNS
    session.went.emit(Target(place, files=tuple(files)))
