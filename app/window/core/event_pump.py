"""Reads events from an iterator in a thread, and hands them to the window's thread in turns."""

from __future__ import annotations

import collections
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from experiments.core.problems import Problem, UserError
from experiments.core.processes.own_errors import unexpected

log = logging.getLogger(__name__)

TURN_MS = 33
BUDGET_S = 0.004  # of one turn


class Wish:
    """The wish that an iterator ends, from any thread."""

    def __init__(self) -> None:
        self.is_asked = False
        self._act: Callable[[], object] | None = None

    def ask(self) -> None:
        """Ask the iterator to end."""
        self.is_asked = True
        if self._act is not None:
            self._act()

    def calls(self, act: Callable[[], object]) -> None:
        """Say what ends the iterator; it is done at once where it was asked for before."""
        self._act = act
        if self.is_asked:
            act()


Make = Callable[[Wish], Iterator[Any]]
Submit = Callable[[Callable[[], None]], object]


@dataclass(frozen=True, slots=True)
class _End:
    problem: Problem | None


class EventPump(QObject):
    """One iterator at a time; the next is made when the previous has ended.

    `take` gets each event. After the last event, `end` gets a Problem or None. Both are called in
    the thread that made the pump. No event is left out, unless `forget` is called.
    """

    turned = Signal()  # events were taken
    _came = Signal()

    def __init__(
        self,
        take: Callable[[Any], object],
        end: Callable[[Problem | None], object],
        *,
        submit: Submit | None = None,
        failure: str = "unexpected",
        parent: QObject | None = None,
    ) -> None:
        """`submit` does the reading in a thread; `failure` is the key of an unexpected error."""
        super().__init__(parent)
        self._take, self._end, self._failure = take, end, failure
        self._submit = submit or self._begin_thread
        self._thread: threading.Thread | None = None
        self._wish: Wish | None = None  # of the iterator of now
        self._queue: collections.deque[tuple[Wish, Any]] = collections.deque()
        self._is_called = False  # is a turn to come?
        self._turned_s = 0.0
        self._timer = QTimer(self, singleShot=True, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._turn)
        self._came.connect(self._call, Qt.ConnectionType.QueuedConnection)

    @property
    def is_running(self) -> bool:
        """Are there events to come?"""
        return self._wish is not None

    @property
    def is_stopping(self) -> bool:
        """Was the iterator asked to end?"""
        return self._wish is not None and self._wish.is_asked

    def start(self, make: Make) -> None:
        """Read the iterator that `make` returns; both run in a thread.

        It gets the wish that it ends, and says to it what does that.
        """
        wish = self._wish = Wish()
        self._submit(lambda: self._read(make, wish))

    def stop(self) -> None:
        """Ask the iterator to end; its last events still come."""
        if self._wish is not None:
            self._wish.ask()

    def forget(self) -> None:
        """Ask the iterator to end, and hand on nothing more of it."""
        wish, self._wish = self._wish, None
        if wish is not None:
            wish.ask()

    def close(self, limit_s: float | None = None) -> None:
        """End as `forget` does, and wait for the pump's own thread, at most so long."""
        self.forget()
        self._timer.stop()
        if self._thread is not None:
            self._thread.join(limit_s)

    def _begin_thread(self, work: Callable[[], None]) -> None:
        before = self._thread

        def after() -> None:
            if before is not None:
                before.join()
            work()

        self._thread = threading.Thread(target=after, name="events", daemon=True)
        self._thread.start()

    def _read(self, make: Make, wish: Wish) -> None:
        problem = None
        try:
            for event in make(wish):
                self._put(wish, event)
        except UserError as trouble:
            problem = trouble.problem
        except Exception as error:  # it ends in a sentence, and the window goes on
            log.exception("events could not be followed")
            problem = unexpected(error, self._failure)
        self._put(wish, _End(problem))

    def _put(self, wish: Wish, event: Any) -> None:
        if wish is not self._wish:  # the window may be gone
            return
        self._queue.append((wish, event))
        if not self._is_called:
            self._is_called = True
            self._came.emit()

    def _call(self) -> None:
        """Have a turn as soon as one may be."""
        if not self._timer.isActive():
            since_ms = 1000 * (time.perf_counter() - self._turned_s)
            self._timer.start(max(0, round(TURN_MS - since_ms)))

    def _turn(self) -> None:
        """Take events for BUDGET_S; the rest waits for the next turn."""
        self._is_called = False  # first: what comes from now on calls anew
        self._turned_s = time.perf_counter()
        until_s, has_taken, end = self._turned_s + BUDGET_S, False, None
        try:
            while self._queue and end is None and time.perf_counter() < until_s:
                wish, event = self._queue.popleft()
                if wish is not self._wish:
                    continue
                if isinstance(event, _End):
                    self._wish, end = None, event
                else:
                    has_taken = True
                    self._take(event)
        finally:
            if self._queue:
                self._call()
        if has_taken:
            self.turned.emit()
        if end is not None:
            self._end(end.problem)
