"""The recordings that stand in for a run, read in the background before they are needed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.lecture.fallbacks import StandIns
from app.loaded_run import LoadedRun, load
from app.window.core.session import Session
from app.window.lecture.items import Prepared, stand_ins_of
from experiments.core.problems import Problem
from experiments.engine import messages


class Recordings(QObject):
    """By place in the lecture. `came` tells that one is there, or that none can be read."""

    came = Signal(int)

    def __init__(
        self, session: Session, items: Sequence[Prepared], path: Path | None = None
    ) -> None:
        super().__init__()
        self._session, self._items, self._path = session, items, path
        self._found: dict[int, LoadedRun | None] = {}
        self._asked: set[int] = set()

    def want(self, place: int) -> None:
        """Read the recording of an item, unless that was done."""
        if place in self._asked or not 0 <= place < len(self._items):
            return
        self._asked.add(place)
        prepared = self._items[place]
        work = partial(_stand_in, stand_ins_of(self._session, self._path), prepared)
        take = partial(self._take, place)
        self._session.background.do_soon(work, take, failed=lambda _problem: take(None))

    def get(self, place: int) -> LoadedRun | None:
        """Return the recording of an item; None while it is read, or if there is none."""
        return self._found.get(place)

    def is_read(self, place: int) -> bool:
        """Is it known whether there is one?"""
        return place in self._found

    def _take(self, place: int, loaded: LoadedRun | Problem | None) -> None:
        self._found[place] = loaded if isinstance(loaded, LoadedRun) else None
        self.came.emit(place)


def pause_s(loaded: LoadedRun | None) -> float:
    """Return the longest silence between two rows of a recording, 0 without one."""
    events = loaded.recording.events if loaded is not None and loaded.recording else ()
    times = [event.t_s for event in events if isinstance(event, messages.Row | messages.Frame)]
    return max((now - before for before, now in itertools.pairwise(times)), default=0.0)


def _stand_in(stand_ins: StandIns, prepared: Prepared) -> LoadedRun | None:
    """Return the recording that stands in for the run of an item. Raises UserError."""
    item, experiment = prepared.item, prepared.experiment
    best = stand_ins.find(item, experiment).best if experiment is not None else None
    return None if best is None else load(best.path, stand_ins.catalogue, is_opened=True)
