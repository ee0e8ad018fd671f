"""Starts a run and follows it: for the page of an experiment, and for the item of a lecture."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.window.core.session import Session
from experiments.core.declare import Experiment
from experiments.core.parameters import check_memory, to_json
from experiments.core.problems import UserError
from experiments.engine.run_state import RunState
from machine.memory.host import available_bytes


class RunFollower(QObject):
    """Tells what happens to `run_state`, and nothing of other runs."""

    moved = Signal()  # new events, or the time has gone on
    ended = Signal()

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        self.run_state: RunState | None = None
        if session.is_awake:
            self._wake()
        else:
            session.woke.connect(self._wake)

    @property
    def is_newest(self) -> bool:
        """Is it the run under way, or the last one?"""
        return self.run_state is not None and self.run_state is self._session.runner.run_state

    @property
    def is_under_way(self) -> bool:
        """Has it begun, and not ended?"""
        return self.is_newest and self._session.runner.is_running

    def start(
        self, experiment: Experiment[Any], params: Any, *, quick: bool = False, hold: bool = False
    ) -> RunState:
        """Start a run; with `hold` its first turn waits for the runner's `go`.

        Raises UserError where it cannot be made or kept.
        """
        if self._session.context.has_fake_machine:
            raise UserError("fake_machine_measured")
        check_memory(experiment, params, available_bytes())
        runner = self._session.runner
        self.run_state = runner.start(experiment, to_json(params), quick=quick, hold=hold)
        return self.run_state

    def drop(self) -> None:
        """Follow it no more, and end it."""
        if self.is_under_way:
            self._session.runner.stop()
        self.run_state = None

    def _wake(self) -> None:
        self._session.runner.moved.connect(self._move)
        self._session.runner.ended.connect(self._end)

    def _move(self) -> None:
        if self.is_newest:
            self.moved.emit()

    def _end(self) -> None:
        if self.is_newest:
            self.ended.emit()
