"""Follows a checkup; its result is on the disk before its end is announced."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.window.core.event_pump import EventPump, Wish
from experiments.core.problems import Problem, UserError

if TYPE_CHECKING:
    from experiments.checkup.result import Result
    from experiments.checkup.run_checkup import Checkup, Event

KEEP_S = 2.0  # at the end of the window, for what was found to be on the disk
CLOSE_S = 0.25  # for processes; those that are left die with this one


@dataclass(frozen=True, slots=True)
class _Over:
    """The last event: the result, and why it could not be kept."""

    result: Result
    problem: Problem | None


Make = Callable[[], "Checkup"]
Keep = Callable[["Result"], object]


class CheckupRunner(QObject):
    """One checkup at a time."""

    began = Signal()
    heard = Signal(object)  # run_checkup.Event, all but the last
    stopping = Signal()  # it has been asked to end
    ended = Signal(object, object)  # Result or None, Problem or None

    def __init__(self) -> None:
        super().__init__()
        self._pump = EventPump(self._take, self._end, parent=self)
        self._kept: threading.Event | None = None  # is there nothing left to be written?
        self._wanted: tuple[Make, Keep] | None = None  # while an experiment runs
        self.is_running = False
        self.left_s: float | None = None  # of the checkup under way, once that is known

    @property
    def is_waiting(self) -> bool:
        """Does a checkup wait for an experiment to end?"""
        return self._wanted is not None

    @property
    def is_stopping(self) -> bool:
        """Has the checkup under way been asked to end?"""
        return self.is_running and self._pump.is_stopping

    def wait(self, make: Make, keep: Keep) -> None:
        """Start when `go_on` is called."""
        self._wanted = make, keep

    def go_on(self) -> None:
        """Start what waits."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None:
            self.start(*wanted)

    def start(self, make: Make, keep: Keep) -> None:
        """Make a checkup in a thread and follow it; `keep` takes its result there.

        Both may raise UserError.
        """
        assert not self.is_running
        self.is_running, self.left_s = True, None
        kept = self._kept = threading.Event()
        self._pump.start(lambda wish: _events(wish, make, keep, kept))
        self.began.emit()

    def stop(self) -> None:
        """Ask the checkup to end; one that waits does not begin."""
        if self.is_waiting:
            self._wanted = None
            self.ended.emit(None, None)
        elif self.is_running and not self._pump.is_stopping:
            self._pump.stop()
            self.stopping.emit()

    def close(self) -> None:
        """End the checkup and its processes, and keep what it found."""
        self._pump.stop()
        if self._kept is not None:
            self._kept.wait(KEEP_S)
        self._pump.close(CLOSE_S)

    def _take(self, event: Event | _Over) -> None:
        if isinstance(event, _Over):
            self.is_running = False
            self.ended.emit(event.result, event.problem)
        else:
            self.left_s = getattr(event, "left_s", self.left_s)
            self.heard.emit(event)

    def _end(self, problem: Problem | None) -> None:
        if self.is_running:  # it came to no result
            self.is_running = False
            self.ended.emit(None, problem)


def _events(wish: Wish, make: Make, keep: Keep, kept: threading.Event) -> Iterator[Event | _Over]:
    from experiments.checkup.run_checkup import Ended  # half a second: not in the window's thread

    try:
        checkup = make()
        wish.calls(checkup.stop)
        for event in checkup.events():
            if isinstance(event, Ended):  # told at once: processes go after it
                over = _Over(event.result, _trouble(keep, event.result))
                kept.set()
                yield over
            else:
                yield event
    finally:
        kept.set()


def _trouble(keep: Keep, result: Result) -> Problem | None:
    """Keep a result; return why that did not succeed."""
    try:
        keep(result)
    except UserError as trouble:
        return trouble.problem
    return None
