"""The guardian on Linux and macOS: it forks the measuring process, relays, reaps and purges.

Standard library only, and loaded by `engine/guardian.py` alone.
"""

import ctypes
import os
import select
import signal
import sys
import time

from experiments.core.processes.die_with_parent import die_with
from machine.system import scratch
from machine.system.kill import KILL, kill, kill_group

assert sys.platform != "win32"  # its guardian has a job object instead

NICENESS = 10  # the window stays smooth beside a run that fills every core
PURGE_S = 2.0

_PR_SET_CHILD_SUBREAPER = 36


def guard(arguments: list[str], first_bytes: bytes, environment: dict[str, str]) -> None:
    """Guard `arguments`, a measuring process; `first_bytes` were read from stdin already.

    `environment` is added to that of all that the run starts.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # What `nohup` said to ignore stays ignored, here and in the worker.
    ending = [
        number
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    ended = _wake_on(signal.SIGCHLD, *ending)
    commands, commands_in = os.pipe()
    guardian = os.getpid()
    folder, _lock = scratch.make() or (None, -1)
    if folder is not None:
        os.environ.update(scratch.environment(folder))
    worker = os.fork()
    if worker == 0:
        for number in (signal.SIGCHLD, *ending):
            signal.signal(number, signal.SIG_DFL)
        _become_worker(arguments, commands, guardian, environment)
    os.close(commands)
    os.set_blocking(commands_in, False)
    # Only the worker may hold standard output: its end is how the application sees that all ended.
    os.dup2(2, 1)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    status = 1
    try:
        status = _relay(worker, commands_in, ended, first_bytes)
    finally:  # also where this itself fails, in any way
        _purge(worker)
        if folder is not None:
            scratch.remove(folder)
        os._exit(status)


def _become_worker(
    arguments: list[str], commands: int, guardian: int, environment: dict[str, str]
) -> None:
    os.setpgid(0, 0)  # a group, not a session: niceness is ignored across sessions (autogroup)
    die_with(guardian)
    os.dup2(commands, 0)
    _prepare(environment)
    os.execv(arguments[0], arguments)


def _prepare(environment: dict[str, str]) -> None:
    """Set niceness and thread counts before anything heavy is imported: threads inherit them."""
    os.environ.update(environment)
    try:
        os.nice(max(0, NICENESS - os.nice(0)))
        with open("/proc/self/oom_score_adj", "w") as file:  # rather the run than the window
            file.write("1000")
    except OSError:
        pass  # another system, or a sandbox: the run is only less polite


def _wake_on(*signals: int) -> int:
    """Return a descriptor that becomes readable, with the number, at each of these signals."""
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    signal.set_wakeup_fd(writes)
    for number in signals:
        signal.signal(number, lambda *_: None)
    return reads


def _relay(worker: int, commands_in: int, ended: int, first_bytes: bytes) -> int:
    """Hand commands on until either end is gone; return the exit status to end with."""
    waiting = first_bytes  # for the worker, which may read late, or no more at all
    while True:
        ready, free, _ = select.select([0, ended], [commands_in] if waiting else [], [])
        if 0 in ready:
            data = os.read(0, 65536)
            if not data:
                return 128 + KILL
            waiting += data
        if free:
            waiting = _hand_on(commands_in, waiting)
        if ended in ready:
            if asked := [number for number in os.read(ended, 64) if number != signal.SIGCHLD]:
                return 128 + asked[0]
            status = _reap(worker)
            if status is not None:
                return status if status >= 0 else 128 - status


def _hand_on(commands_in: int, data: bytes) -> bytes:
    """Write what the pipe takes; return the rest."""
    try:
        return data[os.write(commands_in, data) :]
    except BlockingIOError:
        return data
    except OSError:
        return b""  # nobody reads any more: ended by the end of the lifeline, not by words


def _reap(worker: int) -> int | None:
    """Reap whatever ended; return the worker's exit code once it is among them."""
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return None
            if pid == worker:
                return os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return 0


def _purge(worker: int) -> None:
    """Kill the group, and then every process that was re-parented to here."""
    kill_group(worker)
    end_s = time.monotonic() + PURGE_S
    while time.monotonic() < end_s:
        for pid in _children():
            kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []
