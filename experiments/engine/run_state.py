"""What is known of a run so far? Live and replayed alike: hand over each event as it comes."""

from __future__ import annotations

import logging
import time
from typing import Any

import msgspec

from experiments.core.declare import Experiment
from experiments.engine import messages as wire
from experiments.engine.recording import analysed

log = logging.getLogger(__name__)


class RunState:
    """The rows of every table, the newest frames, the progress, and in the end the outcome.

    `drawn_from` grows by one with each row or frame of a table, so that a plot knows if it is old.
    """

    def __init__(self, experiment: Experiment[Any]) -> None:
        self.experiment = experiment
        self.started: wire.Started | None = None
        self.tables: dict[str, list[Any]] = {name: [] for name in experiment.tables}
        self.frames: dict[str, wire.Frame] = {}
        self.drawn_from = dict.fromkeys(experiment.tables, 0)
        self.progress = wire.Progress(fraction=0.0)
        self._progress_s = 0.0  # when it came
        self.notes: list[wire.Note] = []
        self.finished: wire.Finished | None = None
        self._analysed_rows = 0
        self._finding: wire.FindingSent | None = None

    @property
    def rows(self) -> int:
        """The number of rows over all tables."""
        return sum(len(rows) for rows in self.tables.values())

    @property
    def left_s(self) -> float | None:
        """The seconds that are left, also while a long step tells nothing; None if unknown.

        Below zero the step takes longer than was thought.
        """
        if self.progress.left_s is None:
            return None
        return self.progress.left_s - (time.monotonic() - self._progress_s)

    def add(self, event: wire.Event) -> None:
        """Take the next event; rows of a table that the experiment does not know are left out.

        Raises msgspec.ValidationError for a row of another version.
        """
        if isinstance(event, wire.Row):
            if event.table not in self.tables:
                return
            row = msgspec.convert(event.row, self.experiment.tables[event.table])
            self.tables[event.table].append(row)
            self.drawn_from[event.table] += 1
        elif isinstance(event, wire.Frame):
            self.frames[event.table] = event
            self.drawn_from[event.table] = self.drawn_from.get(event.table, 0) + 1
        elif isinstance(event, wire.Progress):
            self.progress = event
            self._progress_s = time.monotonic()
        elif isinstance(event, wire.Note):
            self.notes.append(event)
        elif isinstance(event, wire.Started):
            self.started = event
        elif isinstance(event, wire.Finished):
            self.finished = event
            if event.finding is None:  # it was ended before it could say what it had found
                self.finished = msgspec.structs.replace(event, finding=self.finding())

    def finding(self) -> wire.FindingSent | None:
        """Return what can be said by now: that of the finished run, or of the rows so far."""
        if self.finished is not None and self.finished.finding is not None:
            return self.finished.finding
        if self.started is not None and self.rows != self._analysed_rows:
            self._analysed_rows = self.rows
            self._finding = analysed(self.experiment, self.started, self.tables)
        return self._finding
