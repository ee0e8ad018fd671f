"""Reads a recorded watch; a failure becomes one sentence."""

from __future__ import annotations

from pathlib import Path

from experiments.core.problems import UserError
from machine.live.recorded_watch import BadWatch, RecordedWatch, read


def read_watch(path: Path) -> RecordedWatch:
    """Read a recorded watch. Raises UserError."""
    try:
        return read(path)
    except OSError as error:
        reason = f"{error.strerror or type(error).__name__}."
    except BadWatch as error:
        reason = str(error)
    raise UserError("watch_unreadable", name=path.name, reason=reason)
