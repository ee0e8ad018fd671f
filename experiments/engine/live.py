"""The application's side of single points: asks for one after the other, the newest counts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import msgspec

from experiments.core.declare import Experiment
from experiments.core.shelves import SHELVES
from experiments.engine import messages
from experiments.engine.jobs import LOADING_LIMIT_S, Job, Worker
from experiments.engine.recording import as_record

POINT_LIMIT_S = 5.0  # of silence: a point takes 50 ms, and may wait a second for the machine
SENTENCES = {"silent_too_long": "points_silent", "wire_broken": "points_unreadable"}


class Points(Job):
    """A worker that stays and measures points.

    Its events are `Ready`, the rows of each point with a `PointDone` behind them, and one
    `Finished` in the end. `ask` from one thread.
    """

    def __init__(self, experiment: Experiment[Any], shelves: tuple[str, ...] = SHELVES) -> None:
        """Start the worker. Raises OSError where there is no room for one."""
        self._is_ready = False
        self._asked = self._answered = self._rows = 0
        worker = Worker(guarded=True, imports=experiment.imports, shelves=shelves)
        super().__init__(worker, experiment, messages.Live(experiment=experiment.id))

    def ask(self, params: Mapping[str, Any]) -> None:
        """Ask for a point; one that was asked for before and has not begun is left out.

        Raises messages.BadMessage for parameters that cannot be sent.
        """
        if self._asked == self._answered:  # silent so far because nobody asked
            self._listening_since_s = time.monotonic()
        self._asked += 1  # first: the answer may be read before `send` returns
        try:
            self._worker.send(messages.Point(point=self._asked, params=dict(params)))
        except messages.BadMessage:
            self._asked -= 1
            raise

    def _check(self, event: messages.Event) -> None:
        if isinstance(event, messages.Finished):
            return
        if isinstance(event, messages.Ready):
            if self._is_ready:
                raise messages.BadMessage("ready twice")
            self._is_ready = True
        elif isinstance(event, messages.Row):
            self._check_row(event)
        elif isinstance(event, messages.PointDone):
            if not self._answered < event.point <= self._asked:
                raise messages.BadMessage(f"point {event.point} was not asked for")
            self._answered = event.point
        else:
            raise messages.BadMessage(f"{type(event).__name__} does not belong to a point")

    def _check_row(self, event: messages.Row) -> None:
        record = self.experiment.tables.get(event.table)
        if record is None or self._answered == self._asked or event.n != self._rows:
            raise messages.BadMessage(f"row {event.n} of {event.table!r} was not asked for")
        try:
            as_record(event, record)
        except msgspec.ValidationError as error:
            raise messages.BadMessage(str(error)) from None
        self._rows += 1

    def _limit_s(self) -> float:
        if not self._is_ready:
            return LOADING_LIMIT_S
        return POINT_LIMIT_S if self._answered < self._asked else float("inf")

    def _invented(
        self, outcome: messages.Outcome, key: str | None, **values: object
    ) -> tuple[bytes, messages.Event]:
        """Say it of points: no rows are kept, and the next point starts a worker anew."""
        told = key and SENTENCES.get(key, "points_ended")
        return super()._invented(outcome, told, **values)
