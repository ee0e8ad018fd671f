"""What is this machine, and what is it doing now? The light worker that inspects and watches."""

from __future__ import annotations

import threading

from PySide6.QtCore import QObject, Qt, Signal, Slot

from experiments.engine import messages as wire
from experiments.engine.jobs import Worker

QUIET_HZ = 2.0  # while nobody looks closer, and always while an experiment runs


class Watcher(QObject):
    """One plain worker that lives as long as the window."""

    inspected = Signal(object)  # dict, as of `machine.model.to_json`
    sampled = Signal(object)  # wire.Sample
    ended = Signal()  # the worker has gone, though nobody asked it to
    _heard = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._closing = False
        self._heard.connect(self._take, Qt.ConnectionType.QueuedConnection)

    def start(self, hz: float = QUIET_HZ) -> None:
        """Inspect the machine, then send samples."""
        self._worker = Worker(guarded=False)
        self._worker.send(wire.Watch(hz=hz))
        self._worker.send(wire.Inspect())
        self._thread = threading.Thread(target=self._read, args=(self._worker,), name="watcher")
        self._thread.start()

    def set_rate(self, hz: float) -> None:
        """Send samples at another rate from now on."""
        if self._worker is not None:
            self._worker.send(wire.Rate(hz=hz))

    @property
    def pid(self) -> int | None:
        """The worker's process, once it has said hello."""
        return self._worker.pid if self._worker is not None else None

    def close(self) -> None:
        """End the worker."""
        self._closing = True
        if self._worker is not None and self._thread is not None:
            self._worker.close()
            self._thread.join()
            self._worker = self._thread = None

    def _read(self, worker: Worker) -> None:
        while line := worker.readline():
            try:
                event = wire.decode_event(line)
            except wire.BadMessage:
                break
            if isinstance(event, wire.Hello):
                worker.pid = event.pid
            self._heard.emit(event)
        self._heard.emit(None)

    @Slot(object)
    def _take(self, event: wire.Event | None) -> None:
        if self._closing:
            return
        if isinstance(event, wire.Sample):
            self.sampled.emit(event)
        elif isinstance(event, wire.Whole):
            self.inspected.emit(event.value)
        elif event is None:
            self.ended.emit()
