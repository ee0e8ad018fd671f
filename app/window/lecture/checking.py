"""Runs preflight in the background, and knows how each item stood when it was last tried."""

from __future__ import annotations

import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.lecture.file import Item, Lecture
from app.lecture.preflight import Checked, Preflight, Step
from app.window.core.session import Session
from experiments.core.problems import Problem


class Checking(QObject):
    """One preflight at a time."""

    changed = Signal()
    _came = Signal(object)  # from the thread that tries

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._found: list[Checked] = []
        self._preflight: Preflight | None = None
        self._stop: threading.Event | None = None
        self.step: Step | None = None
        self._came.connect(self._take)
        session.closing.connect(self.stop)

    @property
    def is_on(self) -> bool:
        """Are items tried now?"""
        return self._preflight is not None

    def begin(self, lecture: Lecture, path: Path) -> None:
        """Try every item of a lecture; `path` is where its file is, or would be."""
        session, machine = self._session, self._session.machine
        if self.is_on or machine is None:
            return
        preflight = self._preflight = Preflight(
            lecture,
            path,
            catalogue=session.catalogue,
            machine=machine,
            data=session.context.folder,
            runs=session.runs,
        )
        self._stop = session.background.do_long(
            partial(self._try, preflight), lambda _none: self._end(), failed=self._fail
        )
        self.changed.emit()

    def stop(self) -> None:
        """Stop it; what was found stays."""
        preflight, self._preflight = self._preflight, None
        if preflight is not None and self._stop is not None:
            self._stop.set()
            preflight.stop()
            self.step = None
            self.changed.emit()

    def of(self, item: Item) -> Checked | None:
        """Return how an item stood, None where it has not been tried with these settings."""
        wanted = _tried(item)
        return next((each for each in self._found if _tried(each.item) == wanted), None)

    def _try(self, preflight: Preflight, stop: threading.Event) -> None:
        for event in preflight.events():
            if stop.is_set():
                return
            self._came.emit(event)

    def _take(self, event: Step | Checked) -> None:
        if not self.is_on:
            return
        if isinstance(event, Checked):
            wanted = _tried(event.item)
            self._found = [each for each in self._found if _tried(each.item) != wanted]
            self._found.append(event)
        else:
            self.step = event
        self.changed.emit()

    def _end(self) -> None:
        self._preflight = self.step = None
        self.changed.emit()

    def _fail(self, problem: Problem) -> None:
        self._end()
        self._session.troubled.emit(problem)


def _tried(item: Item) -> Item:
    """Return what of an item counts when it is tried."""
    return replace(item, title="", notes="")
