"""Runs a command in its own process and returns its output, even if it crashes or hangs.

A broken driver can crash its caller, or block it forever in a state that even a kill cannot end.
So a separate process asks the driver and prints its answers line by line.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from typing import IO

from machine.record import Record
from machine.system import scratch
from machine.system.kill import kill, kill_group
from machine.system.processes import family

_GRACE_S = 2.0  # for a killed process to end; after that it is abandoned
_MOST_BYTES = 2**20  # of output that is kept, the newest; also of one line
_LOOK_EVERY_S = 0.1  # whether the answer is still wanted


class Stopped(Exception):
    """The caller no longer wants the answer."""


class Answer(Record):
    """The output. `status` is None after a timeout, negative for a signal."""

    lines: tuple[str, ...]
    status: int | None
    last_error: str


def ask(
    command: Sequence[str],
    *,
    within_s: float,
    mark: str = "",
    stop: threading.Event | None = None,
) -> Answer:
    """Run `command` and return the lines that begin with `mark`, even if it did not finish.

    Other output is read and dropped, so that megabytes of it neither hide an answer nor fill
    memory. The process has this environment and an empty working folder. May block for `within_s`.
    Raises OSError if it cannot be started, and Stopped soon after `stop` is set.
    """
    stop = stop or threading.Event()
    if stop.is_set():
        raise Stopped
    with _empty_folder() as folder:
        end_s = time.monotonic() + within_s
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONIOENCODING": "utf-8"},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert process.stdout is not None
        assert process.stderr is not None
        answers, errors = _Listener(process.stdout, mark), _Listener(process.stderr, "")
        try:
            status = _wait(process, end_s, stop)
        finally:
            _end(process)
        lines = answers.heard()
        said = [line.strip() for line in errors.heard() if line.strip()]
        return Answer(lines=lines, status=status, last_error=said[-1] if said else "")


def output(*command: str, within_s: float) -> str:
    """Return what a command prints, "" if it fails or takes longer."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=within_s,
            check=True,
            encoding="utf-8",
            errors="replace",
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


class _Listener:
    """Reads a pipe to its end in a thread of its own, and keeps what begins with `mark`."""

    def __init__(self, pipe: IO[bytes], mark: str) -> None:
        self._pipe, self._mark = pipe, mark.encode()
        self._kept: deque[bytes] = deque()
        # A grandchild may keep the pipe open for ever, so nobody waits for this thread for long.
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def heard(self) -> tuple[str, ...]:
        """Return the lines, after the process has ended."""
        self._thread.join(_GRACE_S)
        return tuple(line.decode("utf-8", "replace").rstrip("\r\n") for line in list(self._kept))

    def _read(self) -> None:
        kept_bytes, is_start = 0, True
        with self._pipe, contextlib.suppress(OSError, ValueError):
            while piece := self._pipe.readline(_MOST_BYTES):
                if is_start and piece.startswith(self._mark):  # not the rest of a long line
                    self._kept.append(piece)
                    kept_bytes += len(piece)
                    while kept_bytes > _MOST_BYTES:
                        kept_bytes -= len(self._kept.popleft())
                is_start = piece.endswith(b"\n")


@contextlib.contextmanager
def _empty_folder() -> Iterator[str]:
    """Yield a new folder, or the root where no disk has room for one.

    Those of programs that were killed while they asked are removed.
    """
    scratch.sweep()
    folder, lock = scratch.make() or ("", -1)
    try:
        yield folder or os.path.abspath(os.sep)
    finally:
        if folder:
            scratch.remove(folder)
            os.close(lock)


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
    """Kill the process with its children, of which one could hold its pipes open."""
    if os.name == "posix":
        kill_group(process.pid)
    else:
        for pid in family(process.pid):
            kill(pid)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_S)
