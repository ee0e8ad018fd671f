"""Processes that end when the process that started them ends, however that ends.

Linux kills them (PR_SET_PDEATHSIG), macOS wakes a watcher (kqueue), and Windows ends them with the
guardian's job object. `tied(command)` is for programs, also of another Python; a forked function
calls `die_with(parent)` itself.

Linux means the *thread* that started the process: start it in one that lives as long as the run.
LIMIT: the way of macOS is written after the documentation; not yet seen on a real one.
"""

from __future__ import annotations

import ctypes
import os
import select
import sys
from collections.abc import Callable, Sequence

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9  # signal and typing would double the start of what is tied


def die_with(parent: int) -> None:
    """End this process when its parent, of that process id, ends; at once if it has ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    elif sys.platform == "darwin":
        _leave_watcher(parent)
    if os.name == "posix" and os.getppid() != parent:  # it ended before this process had asked
        os._exit(1)


def tied(command: Sequence[str]) -> list[str]:
    """Return the command of the same program, which ends with this process."""
    if os.name != "posix":
        return list(command)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def call_tied(parent: int, function: Callable[..., object], *arguments: object) -> None:
    """Call a function in a process of multiprocessing that ends with its parent."""
    die_with(parent)
    function(*arguments)


def _leave_watcher(parent: int) -> None:
    """Leave a process that waits for the end of the parent, and kills this one then.

    It is no thread, because this process may become another program.
    """
    if sys.platform == "darwin":
        me, first = os.getpid(), os.fork()
        if first:
            os.waitpid(first, 0)
            return
        if os.fork():
            os._exit(0)
        os.closerange(0, 256)  # else it would keep the pipes of the run open
        ends = [
            select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            for pid in (parent, me)
        ]
        try:
            gone = select.kqueue().control(ends, 1)[0].ident
        except OSError:  # one of them has ended already
            gone = parent
        if gone == parent:
            os.kill(me, _SIGKILL)
        os._exit(0)


if __name__ == "__main__":
    die_with(int(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
