"""Writes a run into the library line by line while it is measured.

If the disk fills up or the file goes meanwhile, the whole run is written elsewhere at its end.
"""

from __future__ import annotations

import contextlib

from app.runs.copies import elsewhere
from app.runs.library import Library
from experiments.core.problems import UserError
from experiments.engine import messages
from experiments.engine.recorder import Recorder

RESCUED = ("run_kept_elsewhere", "run_file_gone")  # problems of a run that is whole elsewhere


class RunWriter:
    """Writes the lines of one run, from its start on.

    A run that was stopped before there was anything to see leaves no file. Neither does a run that
    is not wanted, however it ends.
    """

    def __init__(self, library: Library, *, is_wanted: bool = True) -> None:
        self._library, self.is_wanted = library, is_wanted
        self.recorder: Recorder | None = None
        self.problem: UserError | None = None
        self._shows_something = self._is_stopped = False

    @property
    def is_lost(self) -> bool:
        """Is there no whole file of the run, neither in the library nor elsewhere?"""
        return self.problem is not None and self.problem.problem.key not in RESCUED

    def keep(self, event: messages.Event, line: bytes) -> None:
        """Append one line; never raises."""
        self._shows_something |= isinstance(event, messages.Row | messages.Frame)
        if isinstance(event, messages.Finished):
            self._is_stopped = event.outcome is messages.Outcome.STOPPED
        if isinstance(event, messages.Started) and self.problem is None:
            try:
                self.recorder = self._library.create(event)
            except UserError as trouble:
                self.problem = trouble
        if self.recorder is not None:
            self.recorder.keep(event, line)

    def close(self) -> None:
        """Close the file; `problem` says what could not be kept."""
        if self.recorder is not None:
            self.recorder.close()
            if not self.is_wanted or (self._is_stopped and not self._shows_something):
                with contextlib.suppress(OSError):  # the file may be gone already
                    self.recorder.path.unlink()
                self.recorder = self.problem = None
                return
            error = self.recorder.problem
            if error is not None:
                self.problem = self._rescued(self.recorder, error.strerror or "?")

    def _rescued(self, recorder: Recorder, reason: str) -> UserError:
        """Write the whole run elsewhere: the library's disk is full, or its file is gone."""
        key = "run_file_gone" if recorder.is_gone else "run_kept_elsewhere"
        for folder in elsewhere():
            with contextlib.suppress(OSError):
                recorder.rescue(path := folder / recorder.path.name)
                return UserError(key, reason=reason, path=str(path))
        return UserError("run_lost" if recorder.is_gone else "run_not_kept", reason=reason)
