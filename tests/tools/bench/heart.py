"""Lateness of an event loop: a timer that should fire every 10 ms.

`python -m tests.tools.bench.heart run gil-threads ...`: the worst turn in seconds of an event loop
that has nothing else to do, while the terminal runs this.
"""

from __future__ import annotations

import sys
import time

from PySide6.QtCore import QCoreApplication, QObject, QProcess, Qt, QTimer

BEAT_MS = 10


class Heart(QObject):
    """Beats every 10 ms; `gaps_s` are the times between two beats."""

    def __init__(self) -> None:
        super().__init__()
        self.gaps_s: list[float] = []
        self._last_s = time.perf_counter()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._beat)

    def start(self) -> None:
        self._last_s = time.perf_counter()
        self._timer.start(BEAT_MS)

    def stop(self) -> None:
        self._timer.stop()

    def _beat(self) -> None:
        now_s = time.perf_counter()
        self.gaps_s.append(now_s - self._last_s)
        self._last_s = now_s


def main(arguments: list[str]) -> int:
    """Beat beside a command of the terminal until it has ended; return its exit code."""
    application = QCoreApplication([])
    heart, command = Heart(), QProcess()
    command.finished.connect(lambda code, _status: application.exit(code))
    command.started.connect(heart.start)
    command.start(sys.executable, ["-m", "app", *arguments])
    code = application.exec()
    heart.stop()
    sys.stdout.write(f"{max(heart.gaps_s)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
