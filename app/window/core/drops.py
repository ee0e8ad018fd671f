"""Where files belong that are dropped or opened: lectures, checkups, or runs and all else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from app.lecture.file import SUFFIX
from app.window.core.session import Session
from app.window.core.target import CHECKUP, Target
from experiments.checkup.result import holds_checkup


def shown_elsewhere(files: Sequence[Path], session: Session) -> bool:
    """Show a lecture or checkups in their own place; False for files that belong to Runs."""
    lecture = next((path for path in files if path.name.endswith(SUFFIX)), None)
    if lecture is not None:
        session.asked_for_playlist.emit(lecture)
    elif files and all(map(holds_checkup, files)):
        session.went.emit(Target(CHECKUP, files=tuple(files)))
    else:
        return False
    return True
