"""Four workers in one process or each in its own; one of them fails on command.

Standard library only. Started as `jobs.py WORKERS FIRST FAILING HOW`: it starts WORKERS threads,
numbered from FIRST. The thread FAILING fails HOW when the line "fail" comes in. Each thread says
every 20 ms that it is there. When the input ends, each survivor says so, and whether it sees the
value that worker 0 wrote.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
import threading

BEAT_S = 0.02
WRITTEN = 7
ABORT, NULL, EXCEPTION = "abort", "null_read", "exception"


class Shared:
    """The variable that worker 0 writes; every thread of this process has the same one."""

    value = 0


def fail(how: str) -> None:
    """Fail for good, in silence: no message, no dialogue and no core dump."""
    if how == EXCEPTION:
        raise RuntimeError("told to fail")
    try:
        _leave_no_dump()
        if how == NULL:
            ctypes.string_at(0)
    finally:  # a read of address 0 is only an exception on Windows
        os.abort()


def _leave_no_dump() -> None:
    if sys.platform != "win32":
        import resource

        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        # The limit does not hold where the kernel hands dumps to a program; this does.
        ctypes.CDLL(None).prctl(4, 0)  # PR_SET_DUMPABLE
    if sys.platform == "win32":
        ctypes.windll.kernel32.SetErrorMode(3)  # no dialogue


def _say(worker: int, **what: object) -> None:
    line = json.dumps({"worker": worker, **what}) + "\n"
    os.write(1, line.encode())  # one call, so that lines of two threads never mix


def work(worker: int, how: str | None, failing: threading.Event, called: threading.Event) -> None:
    """Report that the worker is there until it is called, or is to fail."""
    if worker == 0:
        Shared.value = WRITTEN
    while not called.wait(BEAT_S):
        if how is not None and failing.is_set():
            fail(how)
        _say(worker)
    _say(worker, left=True, sees=Shared.value == WRITTEN)


def main(workers: int, first: int, failing_one: int, how: str) -> None:
    """Run the threads until the input ends."""
    failing, called = threading.Event(), threading.Event()
    threading.excepthook = lambda _: None  # one is raised on purpose
    threads = [
        threading.Thread(
            target=work, args=(worker, how if worker == failing_one else None, failing, called)
        )
        for worker in range(first, first + workers)
    ]
    for thread in threads:
        thread.start()
    for _ in sys.stdin:
        failing.set()
    called.set()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
