"""Processes that Ctrl-C in the terminal does not reach, and how they are heard while it comes."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
from typing import IO, Any

APART: dict[str, Any]  # for Popen
if sys.platform == "win32":
    APART = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
else:
    APART = {"process_group": 0}
LOOK_S = 0.05  # at signals, while nothing is heard


class Aside:
    """A pipe that is read in a thread, so that the caller hears signals while it waits.

    It is read only when it is asked, so that a full pipe still slows the other end down.
    """

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._asked = queue.SimpleQueue[int | None]()
        self._answers = queue.SimpleQueue[bytes]()
        self._thread = threading.Thread(
            target=_answer, args=(pipe, self._asked, self._answers), name="pipe", daemon=True
        )
        self._thread.start()

    def readline(self, most: int) -> bytes:
        """Return the next line, at most `most` bytes of it; b"" after the last."""
        self._asked.put(most)
        while self._thread.is_alive() or not self._answers.empty():
            with contextlib.suppress(queue.Empty):
                return self._answers.get(timeout=LOOK_S)
        return b""

    def close(self) -> None:
        """Close the pipe, whose other end has closed."""
        self._asked.put(None)
        self._pipe.close()


def heard(pipe: IO[bytes]) -> IO[bytes] | Aside:
    """Return the pipe to read lines from; Windows runs no handler of Ctrl-C during a read."""
    return Aside(pipe) if sys.platform == "win32" else pipe


def _answer(
    pipe: IO[bytes], asked: queue.SimpleQueue[int | None], answers: queue.SimpleQueue[bytes]
) -> None:
    while (most := asked.get()) is not None:
        try:
            line = pipe.readline(most)
        except (OSError, ValueError):  # closed meanwhile
            line = b""
        answers.put(line)
        if not line:
            return
