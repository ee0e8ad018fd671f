"""The recordings that come with lessons, read once each in the background."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.evidence import shipped
from app.loaded_run import LoadedRun
from app.window.core.session import Session
from experiments.core.declare import Experiment


class Recorded(QObject):
    """Says what was recorded of an experiment, once it was read."""

    arrived = Signal(str)  # the id of an experiment whose recording was asked for

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._read: dict[str, LoadedRun | None] = {}  # None: none comes along, or it is on its way

    def of(self, experiment: Experiment[Any]) -> LoadedRun | None:
        """Return the recording; None where none comes along, or until it `arrived`."""
        if experiment.id not in self._read:
            self._read[experiment.id] = None
            work = partial(shipped, self._session.catalogue, experiment)
            self._session.background.do_soon(work, partial(self._take, experiment.id))
        return self._read[experiment.id]

    def _take(self, experiment_id: str, found: LoadedRun | None) -> None:
        self._read[experiment_id] = found
        if found is not None:
            self.arrived.emit(experiment_id)
