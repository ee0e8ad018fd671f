"""Finds the processes left of those that a test started, and waits until they are gone."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

TOKEN = "COREOPSIS_TEST"  # in the environment of all that a test starts, at any remove
PATIENCE_S = 60.0  # the machine is shared: no test says how quickly, only that

POSIX_ONLY = pytest.mark.skipif(
    sys.platform == "win32",
    reason="Windows has no such file or signal, and keeps a folder in which a file is open",
)
# WORKAROUND: with PySide6 6.11.3, in a test of pytest, `from x import y` is a SystemError where the
# working folder is gone. The same import in a program, and on 3.12.1 and 3.14.10, works.
GONE_BREAKS_IMPORTS = pytest.mark.skipif(
    sys.version_info[:3] == (3, 13, 0),
    reason="on Python 3.13.0 tests cannot import where the folder is gone",
)


def living(token: str) -> dict[int, str]:
    """Return the processes with this token in their environment; zombies have none."""
    found = {}
    mark = f"{TOKEN}={token}\0".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as environment:
            if mark in environment.read():
                said = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
                found[int(pid)] = said.decode(errors="replace")
    return found


def niceness() -> int:
    """Return how far this process stands back behind others."""
    return int(psutil.Process().nice())


def until(condition: Callable[[], object], limit_s: float = PATIENCE_S) -> bool:
    """Wait for a condition; return whether it came true.

    It rests longer than it looks: a look at every process there is would keep a core busy.
    """
    end_s = time.monotonic() + limit_s
    while (begin_s := time.monotonic()) < end_s:
        if condition():
            return True
        time.sleep(max(0.01, 3 * (time.monotonic() - begin_s)))
    return bool(condition())
