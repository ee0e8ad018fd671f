"""Follows a checkup in a thread, and hands its events to the window's thread.

The thread only puts events into a queue, after the result is on the disk. A timer of the window's
thread takes them 30 times a second.
"""

from __future__ import annotations

import collections
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from experiments.core.own_errors import unexpected
from experiments.core.problems import Problem, UserError

if TYPE_CHECKING:
    from experiments.checkup.carry_out import Event
    from experiments.checkup.result import Result

log = logging.getLogger(__name__)

TICK_MS = 33
KEEP_S = 2.0  # at the end of the window, for what was found to be on the disk
CLOSE_S = 0.25  # for processes; those that are left die with this one


class Follows(Protocol):
    """What is asked of a checkup; experiments/checkup/carry_out.py has the real one."""

    def events(self) -> Iterator[Event]:
        """Yield what happens; the last is `Ended`. Raises UserError."""

    def stop(self) -> None:
        """Ask to end; from any thread."""


@dataclass(frozen=True, slots=True)
class _Over:
    """The last of the queue."""

    result: Result | None
    problem: Problem | None


Make = Callable[[], Follows]
Keep = Callable[["Result"], object]


class Following(QObject):
    """One checkup at a time."""

    began = Signal()
    heard = Signal(object)  # carry_out.Event, all but the last
    stopping = Signal()  # it has been asked to end
    ended = Signal(object, object)  # Result or None, Problem or None

    def __init__(self) -> None:
        super().__init__()
        self._events: collections.deque[Event | _Over] = collections.deque()
        self._thread: threading.Thread | None = None
        self._checkup: Follows | None = None
        self._stopping, self._kept = threading.Event(), threading.Event()
        self._timer = QTimer(self, interval=TICK_MS)
        self._timer.timeout.connect(self._take)
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
        return self.is_running and self._stopping.is_set()

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
        self._stopping.clear()
        self._kept.clear()
        self._events.clear()
        self.is_running, self.left_s = True, None
        before = self._thread
        self._thread = threading.Thread(
            target=self._follow, args=(make, keep, before), name="checkup", daemon=True
        )
        self._thread.start()
        self._timer.start()
        self.began.emit()

    def stop(self) -> None:
        """Ask the checkup to end; one that waits does not begin."""
        if self.is_waiting:
            self._wanted = None
            self.ended.emit(None, None)
        elif self.is_running and not self._stopping.is_set():
            self._ask_to_end()
            self.stopping.emit()

    def close(self) -> None:
        """End the checkup and its processes, and keep what it found."""
        self._timer.stop()
        self._ask_to_end()
        if self._thread is not None:
            self._kept.wait(KEEP_S)
            self._thread.join(CLOSE_S)

    def _ask_to_end(self) -> None:
        self._stopping.set()
        checkup = self._checkup
        if checkup is not None:
            checkup.stop()

    def _follow(self, make: Make, keep: Keep, before: threading.Thread | None) -> None:
        from experiments.checkup.carry_out import Ended  # half a second: not in the window's thread

        if before is not None:  # its processes may be on their way out
            before.join()
        problem: Problem | None = None
        has_ended = False
        try:
            self._checkup = make()
            if self._stopping.is_set():  # between the click and now
                self._checkup.stop()
            for event in self._checkup.events():
                if isinstance(event, Ended):  # told at once: processes go after it
                    has_ended = True
                    self._events.append(_Over(event.result, _trouble(keep, event.result)))
                    self._kept.set()
                else:
                    self._events.append(event)
        except UserError as trouble:
            problem = trouble.problem
        except Exception as error:  # the checkup ends in a sentence
            log.exception("a checkup could not be followed")
            problem = unexpected(error)
        finally:
            self._checkup = None
        if not has_ended:
            self._events.append(_Over(None, problem))
            self._kept.set()

    def _take(self) -> None:
        while self._events:
            event = self._events.popleft()
            if isinstance(event, _Over):
                self._timer.stop()
                self.is_running = False
                self.ended.emit(event.result, event.problem)
            else:
                self.left_s = getattr(event, "left_s", self.left_s)
                self.heard.emit(event)


def _trouble(keep: Keep, result: Result) -> Problem | None:
    """Keep a result; return why that did not succeed."""
    try:
        keep(result)
    except UserError as trouble:
        return trouble.problem
    return None
