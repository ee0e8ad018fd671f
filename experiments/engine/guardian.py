"""The small process between the application and a measurement: nothing outlives its run.

It owns a lifeline (its standard input), and starts the measuring process in a process group of its
own. It hands every command on, and reaps ended processes. When its parent or its child is gone, it
kills the whole group and every orphan. Standard library only: started with `python -I -S`; up in 12
ms.

If the guardian itself is killed, the kernel ends the worker, then all that is tied to the worker
(`die_with_parent`). The next start sweeps up files and processes that are not tied.
"""

import ctypes
import os
import sys

MARK = "COREOPSIS_GUARDIAN"  # in the environment of all that a run starts: "PID:START"
PROGRAM = "COREOPSIS_PROGRAM"  # the id of the program that shows the run, there as well
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

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
    if sys.platform == "win32":
        _guard_windows(arguments, first_bytes)
    else:
        from experiments.core.processes.posix_guardian import guard

        guard(arguments, first_bytes, _environment(os.getpid()))


def _environment(guardian: int) -> dict[str, str]:
    return {
        MARK: f"{guardian}:{start_of(guardian)}",
        "PYTHONFAULTHANDLER": "1",
        **dict.fromkeys(THREAD_VARIABLES, "1"),
    }


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
