"""Keeps one window per data folder; starting it again brings that window to the front.

The first window holds a file lock in the data folder; the system releases it however that window
ends. A second window asks the first through a local socket to come to the front. QtNetwork is
loaded only after the first paint.
"""

from __future__ import annotations

import logging
import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from experiments.engine.lock import Lock

if TYPE_CHECKING:
    from PySide6.QtNetwork import QLocalServer, QLocalSocket

log = logging.getLogger(__name__)

LOCK_NAME = "window.lock"
PATH_BYTES = 4096
LISTEN_MS = 300  # after the claim: the window is painted by then
ASK_S, ASK_MS, PAUSE_S = 3.0, 500, 0.05  # the first window may still be starting


class Single(QObject):
    """The claim of this process to be the window of a data folder."""

    asked_to_front = Signal()
    asked_to_show = Signal(object)  # the Path of a file

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._lock: Lock | None = None
        self._server: QLocalServer | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.listen)

    def claim(self, file: Path | None = None) -> bool:
        """Return True for the first window; any other asks it to the front, and to show `file`."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock = Lock(self._folder / LOCK_NAME)
            is_first = self._lock.take({"pid": str(os.getpid())})
        except OSError as error:  # a read-only folder must not prevent the window
            log.info("no lock in the data folder: %s", error)
            return True
        if is_first:
            self._timer.start(LISTEN_MS)
        else:
            self.close()
            _ask(address(self._folder), os.fsencode(file) if file is not None else b"")
        return is_first

    def listen(self) -> None:
        """Listen for further starts of the program."""
        from PySide6.QtNetwork import QLocalServer

        self._timer.stop()
        name = address(self._folder)
        QLocalServer.removeServer(name)  # left by a killed window: the lock is ours
        server = QLocalServer(self)
        server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        server.newConnection.connect(self._hear)
        if not server.listen(name):
            log.info("cannot be asked to the front: %s", server.errorString())
        self._server = server

    def close(self) -> None:
        """Release the claim."""
        self._timer.stop()
        if self._server is not None:
            self._server.close()
            self._server = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _hear(self) -> None:
        while self._server is not None and self._server.hasPendingConnections():
            asking = self._server.nextPendingConnection()
            asking.disconnected.connect(partial(self._read, asking))
            self.asked_to_front.emit()
            if asking.state() is asking.LocalSocketState.UnconnectedState:  # it was quicker
                self._read(asking)

    def _read(self, asking: QLocalSocket) -> None:
        """Read which file is to be shown: all that a second start sends, before it leaves."""
        said = bytes(asking.read(PATH_BYTES).data())
        asking.deleteLater()
        if said:
            self.asked_to_show.emit(Path(os.fsdecode(said)))


def address(folder: Path) -> str:
    """Return the socket of a data folder's window, distinct for each user."""
    import hashlib  # not before the first paint

    user = str(os.getuid()) if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    key = f"{user}\0{os.path.realpath(folder)}".encode(errors="surrogateescape")
    name = f"coreopsis-{hashlib.sha256(key).hexdigest()[:16]}"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    return os.path.join(runtime, name) if os.path.isdir(runtime) else name


def _ask(name: str, said: bytes) -> None:
    from PySide6.QtNetwork import QLocalSocket

    end_s = time.monotonic() + ASK_S
    while time.monotonic() < end_s:
        asking = QLocalSocket()
        asking.connectToServer(name)
        if asking.waitForConnected(ASK_MS):
            asking.write(said)
            asking.disconnectFromServer()  # once all is written
            if asking.state() is not asking.LocalSocketState.UnconnectedState:
                # On Windows it is there only once the first window has read it.
                asking.waitForDisconnected(max(1, round((end_s - time.monotonic()) * 1000)))
            return
        time.sleep(PAUSE_S)
    log.info("the other window does not answer")
