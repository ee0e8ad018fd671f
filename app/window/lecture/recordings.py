"""The recordings that stand in for a run, read in the background before they are needed."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.window.core.session import Session
from app.window.experiment.loaded_run import LoadedRun, load
from app.window.lecture.items import Prepared, recordings_of
from experiments.core.catalogue import Catalogue
from experiments.core.problems import Problem, UserError
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
        paths = recordings_of(self._session, prepared, self._path)
        work = partial(_first, paths, self._session.catalogue, prepared.item.experiment)
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


def _first(paths: Sequence[Path], catalogue: Catalogue, experiment: str) -> LoadedRun | None:
    """Return the first file that can be read and is of this experiment."""
    for path in paths:
        try:
            loaded = load(path, catalogue, is_opened=True)
        except UserError:  # the next one may be better
            continue
        run_state = loaded.run_state
        if run_state.experiment.id == experiment and (run_state.rows or run_state.frames):
            return loaded
    return None
