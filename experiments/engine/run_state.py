"""The state of a run so far, live or replayed."""

from __future__ import annotations

import logging
import time
from typing import Any

import msgspec

from experiments.core.declare import Experiment
from experiments.engine import messages
from experiments.engine.recording import analysed_later, as_record

log = logging.getLogger(__name__)


class RunState:
    """The rows of every table, the newest frames, the progress, and in the end the outcome.

    `drawn_from` counts the rows and frames of each table, so that a plot can see if it is outdated.
    """

    def __init__(self, experiment: Experiment[Any]) -> None:
        self.experiment = experiment
        self.started: messages.Started | None = None
        self.tables: dict[str, list[Any]] = {name: [] for name in experiment.tables}
        self.frames: dict[str, messages.Frame] = {}
        self.drawn_from = dict.fromkeys(experiment.tables, 0)
        self.progress = messages.Progress(fraction=0.0)
        self._progress_s = 0.0  # when it came
        self.notes: list[messages.Note] = []
        self.finished: messages.Finished | None = None
        self._analysed_rows = 0
        self._finding: messages.FindingSent | None = None

    @property
    def rows(self) -> int:
        """The number of rows over all tables."""
        return sum(len(rows) for rows in self.tables.values())

    @property
    def left_s(self) -> float | None:
        """The seconds that are left, also while a long step reports nothing; None if unknown.

        Below zero the step takes longer than was thought.
        """
        if self.progress.left_s is None:
            return None
        return self.progress.left_s - (time.monotonic() - self._progress_s)

    def add(self, event: messages.Event) -> None:
        """Take the next event; rows of a table that the experiment does not know are left out.

        Raises msgspec.ValidationError for a row of another version.
        """
        if isinstance(event, messages.Row):
            if event.table not in self.tables:
                return
            row = as_record(event, self.experiment.tables[event.table])
            self.tables[event.table].append(row)
            self.drawn_from[event.table] += 1
        elif isinstance(event, messages.Frame):
            self.frames[event.table] = event
            self.drawn_from[event.table] = self.drawn_from.get(event.table, 0) + 1
        elif isinstance(event, messages.Progress):
            self.progress = event
            self._progress_s = time.monotonic()
        elif isinstance(event, messages.Note):
            self.notes.append(event)
        elif isinstance(event, messages.Started):
            self.started = event
        elif isinstance(event, messages.Finished):
            self.finished = event
            if event.finding is None:  # it was ended before it could say what it had found
                self.finished = msgspec.structs.replace(event, finding=self.finding())

    def finding(self) -> messages.FindingSent | None:
        """Return what can be said by now: that of the finished run, or of the rows so far."""
        if self.finished is not None and self.finished.finding is not None:
            return self.finished.finding
        is_new = self.rows != self._analysed_rows
        if self.started is not None and is_new and not self.experiment.is_own:
            self._analysed_rows = self.rows
            self._finding = analysed_later(self.experiment, self.started, self.tables, self.notes)
        return self._finding
