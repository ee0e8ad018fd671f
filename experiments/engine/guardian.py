"""The small process between the application and a measurement: nothing outlives its run.

It owns a lifeline (its standard input), starts the measuring process in a process group of its
own, hands every command on, reaps, and kills the whole group and every orphan as soon as its
parent or its child is gone. Standard library only: started with `python -I -S`, up in 12 ms.

Where it is killed itself, the kernel ends the worker, and then all that is tied to the worker
(`die_with_parent`); what is not tied, and files, are swept at the next start.
"""

import ctypes
import os
import select
import signal
import sys
import time

from experiments.core.processes.die_with_parent import die_with
from machine.system import scratch

NICENESS = 10  # the window stays smooth beside a run that fills every core
MARK = "COREOPSIS_GUARDIAN"  # in the environment of all that a run starts: "PID:START"
PROGRAM = "COREOPSIS_PROGRAM"  # the id of the program that shows the run, there as well
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
PURGE_S = 2.0

_PR_SET_CHILD_SUBREAPER = 36
_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_START = f"""import sys
sys.path.append({_ROOT!r})
from experiments.engine import guardian
guardian.main(sys.argv[1:])"""


def command(arguments: list[str]) -> list[str]:
    """Return the command that guards `arguments`, a measuring process."""
    return [sys.executable, "-I", "-S", "-c", _START, *arguments]


def main(arguments: list[str], first_bytes: bytes = b"") -> None:
    """Guard `arguments`, a measuring process; `first_bytes` were read from stdin already."""
    (_guard_windows if os.name == "nt" else _guard)(arguments, first_bytes)


def _guard(arguments: list[str], first_bytes: bytes) -> None:
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
        _become_worker(arguments, commands, guardian)
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


def _become_worker(arguments: list[str], commands: int, guardian: int) -> None:
    os.setpgid(0, 0)  # a group, not a session: niceness is ignored across sessions (autogroup)
    die_with(guardian)
    os.dup2(commands, 0)
    _prepare(guardian)
    os.execv(arguments[0], arguments)


def _prepare(guardian: int) -> None:
    """Set niceness and thread counts before anything heavy is imported: threads inherit them."""
    os.environ.update(_environment(guardian))
    try:
        os.nice(max(0, NICENESS - os.nice(0)))
        with open("/proc/self/oom_score_adj", "w") as file:  # rather the run than the window
            file.write("1000")
    except OSError:
        pass  # another system, or a sandbox: the run is only less polite


def _environment(guardian: int) -> dict[str, str]:
    return {
        MARK: f"{guardian}:{start_of(guardian)}",
        "PYTHONFAULTHANDLER": "1",
        **dict.fromkeys(THREAD_VARIABLES, "1"),
    }


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
                return 128 + signal.SIGKILL
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
    _kill_group(worker)
    end_s = time.monotonic() + PURGE_S
    while time.monotonic() < end_s:
        for pid in _children():
            _kill(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        pass


def _children() -> list[int]:
    me = os.getpid()
    try:
        with open(f"/proc/{me}/task/{me}/children") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def start_of(pid: int) -> str:
    """Return when a process started, in ticks since boot; "" where it is dead or not known.

    With it a process id is never mistaken for a later process of the same number.
    """
    facts = _facts(pid)
    return "" if not facts or facts[0] in "ZX" else facts[19]  # a zombie guards nobody


def is_stopped(pid: int) -> bool:
    """Is a process stopped, by Ctrl-Z or a debugger?"""
    return _facts(pid)[:1] in (["T"], ["t"])


def _facts(pid: int) -> list[str]:
    """Return the fields that follow the name, from the state on; none where there is no process."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def _guard_windows(arguments: list[str], first_bytes: bytes) -> None:
    """Put guardian and worker into one job object that dies with the guardian."""
    import subprocess
    import threading

    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    handle = ctypes.c_void_p  # ctypes takes results for 32 bits wide unless told
    kernel.CreateJobObjectW.restype = kernel.GetCurrentProcess.restype = handle
    job = handle(kernel.CreateJobObjectW(None, None))
    limits = (ctypes.c_ulonglong * 18)()  # JOBOBJECT_EXTENDED_LIMIT_INFORMATION, 144 bytes
    limits[2] = 0x2000  # LimitFlags: JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
    kernel.SetInformationJobObject(job, 9, ctypes.byref(limits), ctypes.sizeof(limits))
    kernel.AssignProcessToJobObject(job, handle(kernel.GetCurrentProcess()))
    below_normal = 0x4000
    os.environ.update(_environment(os.getpid()))
    worker = subprocess.Popen(arguments, stdin=subprocess.PIPE, creationflags=below_normal)

    def relay() -> None:
        data = first_bytes
        while worker.stdin:
            worker.stdin.write(data)
            worker.stdin.flush()
            data = os.read(0, 65536)
            if not data:
                os._exit(1)

    threading.Thread(target=relay, daemon=True).start()
    status = worker.wait()
    os._exit(status - (status >> 31 << 32))  # which takes a crash's code, 0xC0000005, as a minus
