"""Inspects and watches the machine through a light worker process.

A worker that dies is replaced a few times. Then the signal `ended` is sent, and `start` begins
anew. For a machine from a file there is no worker: a recorded watch takes its place.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

from PySide6.QtCore import QObject, QTimer, Signal

from app.window.core.event_pump import EventPump
from app.window.core.watch_player import WatchPlayer
from experiments.core.problems import Problem
from experiments.engine import messages
from experiments.engine.jobs import Worker
from machine.live.recorded_watch import RecordedWatch

log = logging.getLogger(__name__)

QUIET_HZ = 2.0  # outside Live, and always during a run
PAUSE_MS = 1000  # before a dead worker is replaced
REPLACEMENTS = 3


class Watcher(QObject):
    """One plain worker at a time, as long as the window lives."""

    inspected = Signal(object)  # dict, as of `machine.model.to_json`
    not_inspected = Signal(object)  # Problem: why there is none
    sampled = Signal(object)  # messages.Sample
    ended = Signal()  # the workers died

    def __init__(self) -> None:
        super().__init__()
        self.player: WatchPlayer | None = None  # in place of a worker
        self._worker: Worker | None = None
        self._hz = QUIET_HZ
        self._replaced = 0
        self._is_inspected = self._closing = False
        self._pause = QTimer(self, interval=PAUSE_MS, singleShot=True)
        self._pause.timeout.connect(self._begin)
        self._pump = EventPump(self._take, self._end, parent=self)

    def start(self) -> None:
        """Inspect the machine, then send samples, unless that is under way."""
        if self._worker is None and not self._pause.isActive() and not self._closing:
            self._replaced = 0
            self._begin()

    def play(self, recorded: RecordedWatch | None) -> None:
        """Send the recorded samples, again and again."""
        if recorded is not None and not self._closing:
            self.player = WatchPlayer(recorded, repeats=True)
            self.player.sampled.connect(self.sampled)
            self.player.play()

    def inspect(self) -> None:
        """Inspect the machine again; `inspected` carries the result."""
        if self._worker is not None:
            self._worker.send(messages.Inspect())

    def set_rate(self, hz: float) -> None:
        """Send samples at another rate from now on."""
        self._hz = hz
        if self._worker is not None:
            self._worker.send(messages.Rate(hz=hz))

    @property
    def pid(self) -> int | None:
        """The worker's process, once it has said hello."""
        return self._worker.pid if self._worker is not None else None

    def close(self) -> None:
        """End the worker."""
        self._closing = True
        self._pause.stop()
        if self.player is not None:
            self.player.pause()
        if self._worker is not None:
            self._worker.end()
            self._pump.close()
            self._worker = None

    def _begin(self) -> None:
        try:
            worker = self._worker = Worker(guarded=False)
        except OSError as error:  # no room for another process
            log.info("no worker to watch: %s", error)
            self._replace()
            return
        worker.send(messages.Watch(hz=self._hz))
        if not self._is_inspected:
            worker.send(messages.Inspect())
        self._pump.start(lambda _wish: _said(worker))

    def _take(self, event: messages.Event) -> None:
        if isinstance(event, messages.Sample):
            self.sampled.emit(event)
        elif isinstance(event, messages.Whole):
            self._is_inspected = True
            self.inspected.emit(event.value)
        elif isinstance(event, messages.Finished) and event.problem is not None:
            self._give_up(Problem(event.problem.key, event.problem.values))

    def _end(self, _problem: Problem | None) -> None:
        self._worker = None
        self._replace()

    def _give_up(self, problem: Problem) -> None:
        """End a worker that has failed."""
        if not self._is_inspected:
            self._is_inspected = True  # another try would fail as well
            self.not_inspected.emit(problem)
        if self._worker is not None:
            self._worker.end()

    def _replace(self) -> None:
        """Begin again after a pause; after REPLACEMENTS tries, give up."""
        self._replaced += 1
        if self._replaced <= REPLACEMENTS:
            self._pause.start()
        else:
            self.ended.emit()


def _said(worker: Worker) -> Iterator[messages.Event]:
    """Yield what a worker says until it ends."""
    try:
        while line := worker.readline():
            event = messages.decode_event(line)
            if isinstance(event, messages.Hello):
                worker.pid = event.pid
            yield event
    except messages.BadMessage as error:
        log.info("the worker that watches cannot be understood: %s", error)
    finally:
        worker.close()  # in this thread: closing a pipe waits for the thread that reads it
