"""Does slow work in threads; results come back to the event loop.

There are three threads, because a person waits for some of the work. Opening a run must not wait
for a large library, which takes seconds, nor for work of minutes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot
from shiboken6 import isValid

from experiments.core.problems import Problem, UserError
from experiments.core.processes.own_errors import unexpected

log = logging.getLogger(__name__)
Result = TypeVar("Result")
Failed = Callable[[Problem], object]


class Background(QObject):
    """Does one piece of work after the other.

    `troubled` carries the Problem of work that failed, unless `failed` was given to take it.
    """

    troubled = Signal(object)
    _done = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._in_order = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._soon = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background soon")
        self._long = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background long")
        self._stops: set[threading.Event] = set()  # of long work under way
        self._closed = False
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def is_at_long_work(self) -> bool:
        """Is long work under way?"""
        return bool(self._stops)

    def do(
        self, work: Callable[[], Result], then: Callable[[Result], object] | None = None
    ) -> None:
        """Do `work` in order, and call `then` with its result in this thread."""
        if not self._closed:
            self._in_order.submit(self._work, work, then, self.troubled.emit)

    def do_soon(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], object],
        failed: Failed | None = None,
    ) -> None:
        """Do short `work` that changes nothing, besides other work."""
        if not self._closed:
            self._soon.submit(self._work, work, then, failed or self.troubled.emit)

    def do_long(
        self,
        work: Callable[[threading.Event], Result],
        then: Callable[[Result], object],
        failed: Failed | None = None,
    ) -> threading.Event:
        """Do `work` that may take minutes, and return the event that stops it.

        The work gets the same event, and must end soon after it is set. No result comes then.
        """
        stop = threading.Event()
        if self._closed:
            return stop
        self._stops.add(stop)
        tell: Failed = failed or self.troubled.emit
        self._long.submit(
            self._work, partial(work, stop), partial(self._end, stop, then),
            partial(self._end, stop, tell),
        )  # fmt: skip
        return stop

    def close(self) -> None:
        """Wait for the work under way and for all in order, which may write what people wrote.

        The rest is dropped, and nothing is delivered any more.
        """
        self._closed = True
        for stop in self._stops:
            stop.set()
        for thread in (self._in_order, self._soon, self._long):
            thread.shutdown(wait=True, cancel_futures=thread is not self._in_order)

    def _end(self, stop: threading.Event, then: Callable[[Any], object], result: object) -> None:
        """Hand on the result of long work unless it was stopped."""
        self._stops.discard(stop)
        if not stop.is_set():
            then(result)

    def _work(
        self, work: Callable[[], Any], then: Callable[[Any], object] | None, failed: Failed
    ) -> None:
        try:
            result = work()
        except UserError as trouble:
            self._done.emit(failed, trouble.problem)
        except Exception as error:  # the window tells it, and the thread lives on
            log.exception("in the background")
            problem = unexpected(error)
            self._done.emit(failed, problem)
        else:
            if then is not None:
                self._done.emit(then, result)

    @Slot(object, object)
    def _deliver(self, then: Callable[[Any], object], result: object) -> None:
        if not self._closed and not _is_gone(then):
            then(result)


def _is_gone(then: Callable[[Any], object]) -> bool:
    """Is it a method of what Qt has deleted, such as a page closed while its file was read?"""
    while isinstance(then, partial):
        then = then.func
    owner = getattr(then, "__self__", None)
    return isinstance(owner, QObject) and not isValid(owner)
