"""Runs preflight in the background, and knows how each item stood when it was last tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from app.lecture.file import Item, Lecture
from app.lecture.preflight import Checked, Event, Preflight, Step
from app.window.core.event_pump import EventPump, Wish
from app.window.core.session import Session
from app.window.lecture.items import stand_ins_of
from experiments.core.problems import Problem


class Checking(QObject):
    """One preflight at a time."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._found: list[Checked] = []
        self._pump = EventPump(self._take, self._end, submit=self._submit, parent=self)
        self._pump.turned.connect(self.changed)
        self.step: Step | None = None
        session.closing.connect(self.stop)

    @property
    def is_on(self) -> bool:
        """Are items tried now?"""
        return self._pump.is_running

    def begin(self, lecture: Lecture, path: Path) -> None:
        """Try every item of a lecture; `path` is where its file is, or would be."""
        if self.is_on or self._session.machine is None:
            return
        preflight = Preflight(lecture, stand_ins_of(self._session, path))

        def events(wish: Wish) -> Iterator[Event]:
            wish.calls(preflight.stop)
            return preflight.events()

        self._pump.start(events)
        self.changed.emit()

    def stop(self) -> None:
        """Stop it; what was found stays."""
        if self.is_on:
            self._pump.forget()
            self.step = None
            self.changed.emit()

    def of(self, item: Item) -> Checked | None:
        """Return how an item stood, None where it has not been tried with these settings."""
        wanted = _tried(item)
        return next((each for each in self._found if _tried(each.item) == wanted), None)

    def _submit(self, work: Callable[[], None]) -> None:
        self._session.background.do_long(lambda _stop: work(), lambda _none: None)

    def _take(self, event: Event) -> None:
        if isinstance(event, Checked):
            wanted = _tried(event.item)
            self._found = [each for each in self._found if _tried(each.item) != wanted]
            self._found.append(event)
        else:
            self.step = event

    def _end(self, problem: Problem | None) -> None:
        self.step = None
        self.changed.emit()
        if problem is not None:
            self._session.troubled.emit(problem)


def _tried(item: Item) -> Item:
    """Return what of an item counts when it is tried."""
    return replace(item, title="", notes="")
