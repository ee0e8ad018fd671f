"""How does work that takes a while stay off the event loop? In threads; results come back here.

There are three: what somebody waits for, such as a run to open, need not wait for what takes
seconds, such as reading a large library, nor for what may take minutes and can be stopped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from experiments.core.problems import Problem, UserError

log = logging.getLogger(__name__)
Result = TypeVar("Result")
Failed = Callable[[Problem], object]


class Background(QObject):
    """Does one piece of work after the other; `troubled` carries the Problem of one that failed.

    With `failed`, that is called with the Problem instead.
    """

    troubled = Signal(object)
    _done = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._in_order = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._soon = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background soon")
        self._long = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background long")
        self._stops: set[threading.Event] = set()  # of what is under way in there
        self._closed = False
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @property
    def is_at_long_work(self) -> bool:
        """Is something under way that may take minutes?"""
        return bool(self._stops)

    def do(
        self, work: Callable[[], Result], then: Callable[[Result], object] | None = None
    ) -> None:
        """Do `work` after what was asked for before, and call `then` with its result here."""
        if not self._closed:
            self._in_order.submit(self._work, work, then, self.troubled.emit)

    def do_soon(
        self,
        work: Callable[[], Result],
        then: Callable[[Result], object],
        failed: Failed | None = None,
    ) -> None:
        """Do `work` that takes a moment and changes nothing, whatever else is being done."""
        if not self._closed:
            self._soon.submit(self._work, work, then, failed or self.troubled.emit)

    def do_long(
        self,
        work: Callable[[threading.Event], Result],
        then: Callable[[Result], object],
        failed: Failed | None = None,
    ) -> threading.Event:
        """Do `work` that may take minutes, and return what stops it: no result comes after that.

        The work gets the same event, and has to end soon after it is set.
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
        """Wait for the work under way; what has not begun is left, no result comes any more."""
        self._closed = True
        for stop in self._stops:
            stop.set()
        for thread in (self._in_order, self._soon, self._long):
            thread.shutdown(wait=True, cancel_futures=True)

    def _end(self, stop: threading.Event, then: Callable[[Any], object], result: object) -> None:
        """Hand on the result of what took long, if it is still wanted."""
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
        except Exception as error:  # said in the window, and the thread lives on
            log.exception("in the background")
            problem = Problem("unexpected", {"error": f"{type(error).__name__}: {error}"})
            self._done.emit(failed, problem)
        else:
            if then is not None:
                self._done.emit(then, result)

    @Slot(object, object)
    def _deliver(self, then: Callable[[Any], object], result: object) -> None:
        if not self._closed:
            then(result)
