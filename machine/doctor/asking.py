"""Runs a command in its own process and returns its output, even if it crashes or hangs.

A broken driver can crash its caller, or block it forever in a state that even a kill cannot end.
So a separate process asks the driver and prints its answers line by line.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence

from machine.record import record

_GRACE_S = 2.0  # for a killed process to end; after that it is abandoned
_MOST_BYTES = 2**20
_LOOK_EVERY_S = 0.1  # whether the answer is still wanted


class Stopped(Exception):
    """The caller no longer wants the answer."""


@record
class Answer:
    """The output. `status` is None after a timeout, negative for a signal."""

    lines: tuple[str, ...]
    status: int | None
    last_error: str


def ask(command: Sequence[str], *, within_s: float, stop: threading.Event | None = None) -> Answer:
    """Run `command` and return what it printed, even if it did not finish.

    The process has this environment and an empty working folder. May block for `within_s`. Raises
    OSError if it cannot be started, and Stopped soon after `stop` is set.
    """
    stop = stop or threading.Event()
    if stop.is_set():
        raise Stopped
    with tempfile.TemporaryDirectory() as folder:
        # Files, because a pipe stays open as long as any grandchild runs.
        out, errors = os.path.join(folder, "out"), os.path.join(folder, "errors")
        empty = os.path.join(folder, "empty")
        os.mkdir(empty)
        end_s = time.monotonic() + within_s
        with open(out, "wb") as out_file, open(errors, "wb") as errors_file:
            process = subprocess.Popen(
                command,
                cwd=empty,
                stdin=subprocess.DEVNULL,
                stdout=out_file,
                stderr=errors_file,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        try:
            status = _wait(process, end_s, stop)
        finally:
            _end(process)
        said = [line.strip() for line in _read(errors).splitlines() if line.strip()]
        return Answer(
            lines=tuple(_read(out).splitlines()),
            status=status,
            last_error=said[-1] if said else "",
        )


def _wait(process: subprocess.Popen[bytes], end_s: float, stop: threading.Event) -> int | None:
    """Return the exit status, None after a timeout. Raises Stopped."""
    while not stop.is_set():
        left_s = end_s - time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(max(0.0, min(left_s, _LOOK_EVERY_S)))
        if left_s <= 0:
            return None
    raise Stopped


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process, on POSIX with its children."""
    if os.name == "posix":
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)


def _read(path: str) -> str:
    with open(path, "rb") as file:
        return file.read(_MOST_BYTES).decode("utf-8", "replace")
