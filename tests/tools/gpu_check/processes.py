"""A command in a process group of its own, which ends by its limit whatever it does."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests import ROOT

TOO_LONG, NOT_THERE = 124, 127
ENDING_S = 8.0  # to write down what was measured, after Ctrl-C

if sys.platform == "win32":
    raise ImportError("Groups of processes of POSIX.")


def run(
    command: Sequence[str], log: Path, limit_s: float, more: Mapping[str, str] | None = None
) -> int:
    """Return its exit status, minus a signal, TOO_LONG or NOT_THERE; it speaks to `log`."""
    with log.open("wb") as out:
        try:
            process = subprocess.Popen(
                command, cwd=ROOT, env={**os.environ, **(more or {})}, stdin=subprocess.DEVNULL,
                stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            out.write(str(error).encode())
            return NOT_THERE
        try:
            return process.wait(max(limit_s, 0.1))
        except subprocess.TimeoutExpired:
            _signal(process.pid, signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(ENDING_S)
            return TOO_LONG
        finally:  # also what it left behind, and after a Ctrl-C of ours
            _signal(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):  # a driver may hold it for ever
                process.wait(ENDING_S)


def text(log: Path) -> str:
    """Return what a command said."""
    return log.read_text(errors="replace").strip() if log.exists() else ""


def last(log: Path) -> str:
    """Return its last line, which mostly says what went wrong."""
    return (text(log).splitlines() or ["It said nothing."])[-1][:200]


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
