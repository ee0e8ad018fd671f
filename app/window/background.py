"""How does work that takes a while stay off the event loop? One thread, results come back here."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from experiments.problems import Problem, Trouble

log = logging.getLogger(__name__)
Result = TypeVar("Result")


class Background(QObject):
    """Does one piece of work after the other; `troubled` carries the Problem of one that failed."""

    troubled = Signal(object)
    _done = Signal(object, object)

    def __init__(self) -> None:
        super().__init__()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._closed = False
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def do(
        self, work: Callable[[], Result], then: Callable[[Result], object] | None = None
    ) -> None:
        """Do `work` in the thread, and call `then` with its result in this one."""
        if not self._closed:
            self._thread.submit(self._work, work, then)

    def close(self) -> None:
        """Wait for the work under way; what has not begun is left, no result comes any more."""
        self._closed = True
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _work(self, work: Callable[[], Any], then: Callable[[Any], object] | None) -> None:
        try:
            result = work()
        except Trouble as trouble:
            self._done.emit(self.troubled.emit, trouble.problem)
        except Exception as error:  # said in the window, and the thread lives on
            log.exception("in the background")
            problem = Problem("unexpected", {"error": f"{type(error).__name__}: {error}"})
            self._done.emit(self.troubled.emit, problem)
        else:
            if then is not None:
                self._done.emit(then, result)

    @Slot(object, object)
    def _deliver(self, then: Callable[[Any], object], result: object) -> None:
        if not self._closed:
            then(result)
