"""Finds what a user's own experiment leaves behind in the process that imports it.

The window and the terminal import the experiment as well. There a thread would keep them from
ending, and a fork would run them twice. Without `sys.path` they could import nothing more.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator

import psutil

from experiments.core.problems import Problem


class LeftBehind:
    """Compares this process with what it was when this was made."""

    def __init__(self) -> None:
        self._pid, self._has_forked = os.getpid(), False
        self._threads, self._children = set(threading.enumerate()), _children()
        self._lists, self._states = _lists(), _states()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(before=self._note_fork)

    def problems(self) -> Iterator[Problem]:
        """Yield what is no longer as it was. A copy of this process, made by a fork, ends here."""
        if os.getpid() != self._pid:
            os._exit(0)
        if self._has_forked:
            yield Problem("own_forks")
            return
        threads = set(threading.enumerate()) - self._threads
        left = [f"a thread ({name})" for name in sorted(each.name for each in threads)]
        new = _children().items() - self._children.items()
        left += [f"a process ({name})" for _, name in sorted(new)]
        yield from (Problem("own_leaves_running", {"what": what}) for what in left)
        lists, states = _lists(), _states()
        changed = [name for name, before in self._lists.items() if before - lists[name]]
        changed += [name for name, before in self._states.items() if before != states[name]]
        yield from (Problem("own_changes", {"what": what}) for what in changed)

    def _note_fork(self) -> None:
        self._has_forked = True


def _children() -> dict[int, str]:
    """Return the children by their process ids, also those that ended and wait for their parent."""
    found = {}
    for child in psutil.Process().children():
        try:
            found[child.pid] = child.name()
        except psutil.Error:
            found[child.pid] = "?"
    return found


def _lists() -> dict[str, set[object]]:
    """Return what may grow, but must lose nothing."""
    finders: set[object] = {id(finder) for finder in sys.meta_path}
    return {"sys.path": {*sys.path}, "sys.meta_path": finders, "os.environ": {*os.environ}}


def _states() -> dict[str, object]:
    """Return what must stay as it is."""
    try:
        folder = os.getcwd()
    except OSError:  # it is gone
        folder = ""
    return {
        "the working folder": folder,
        "sys.stdout": sys.stdout,
        "sys.stderr": sys.stderr,
        "the handler of SIGINT": signal.getsignal(signal.SIGINT),
        "the handler of SIGTERM": signal.getsignal(signal.SIGTERM),
    }
