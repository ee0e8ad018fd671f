"""Ends a process that holds GPU memory: the first request is polite, the second forces.

Number and start time identify a process, so that a later process with the same number is safe.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_SAME_START_S = 2.0  # the age is rounded to tenths, and a little old
_FIRST_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO of the kernel: sees every process


class Ended(Enum):
    """The outcome of ending a process."""

    ASKED = "asked"  # the signal was sent
    GONE = "gone"  # it had ended already
    OTHER = "other"  # its number belongs to another process now
    FORBIDDEN = "forbidden"


@dataclass(frozen=True, slots=True)
class Process:
    """One process; its start distinguishes it from later processes with the same number."""

    pid: int
    started_s: float


def identify(pid: int, age_s: float) -> Process | Ended:
    """Return the process that has had this number for `age_s`."""
    started_s = _started_s(pid)
    if started_s is None:
        return Ended.GONE
    if abs(time.time() - age_s - started_s) > _SAME_START_S:
        return Ended.OTHER
    return Process(pid, started_s)


def is_there(process: Process) -> bool:
    """Does it still run?"""
    return _started_s(process.pid) == process.started_s


def end(process: Process, *, by_force: bool = False) -> Ended:
    """Ask a process to end, or kill it; a killed one loses unsaved work."""
    import psutil

    try:
        known = psutil.Process(process.pid)
        if known.create_time() != process.started_s:
            return Ended.OTHER
        known.kill() if by_force else known.terminate()
    except psutil.NoSuchProcess:
        return Ended.GONE
    except psutil.AccessDenied:
        return Ended.FORBIDDEN
    return Ended.ASKED


def may_end(user: str | None) -> bool:
    """May we end a process of this user?"""
    return user is not None and (is_root() or user == own_name())


def is_root() -> bool:
    """Are we the superuser?"""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def own_name() -> str | None:
    """Return our user name as psutil spells it."""
    import psutil

    try:
        return str(psutil.Process().username())
    except (psutil.Error, KeyError):  # a user without a name
        return None


def has_gone(pid: int) -> bool:
    """Is it certain that there is no such process? False if some are invisible from here."""
    if sys.platform == "linux" and _sees_every_process():
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        except (PermissionError, OverflowError):
            pass
    return False


def _sees_every_process() -> bool:
    try:
        return str(Path("/proc/self/ns/pid").readlink()) == _FIRST_NAMESPACE
    except OSError:
        return False


def _started_s(pid: int) -> float | None:
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.Error:
        return None
