"""What only a program of Windows can do to another: `inside.py WHAT`, under its own Python.

Standard library and psutil. Prints one line of JSON.
"""

import contextlib
import ctypes
import json
import signal
import subprocess
import sys
import time

import psutil

RUN = [sys.executable, "-m", "app", "run", "gil-threads"]
BEGUN_S, ENDED_S = 60.0, 20.0
GRANDCHILD = "print(1, flush=True); input()"
IN_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {GRANDCHILD!r}])"


def ctrl_c():
    """Press Ctrl-C in the console of a run; tell how it ended, and how soon."""
    kernel = ctypes.WinDLL("kernel32")
    kernel.AllocConsole()
    signal.signal(signal.SIGINT, lambda *_: None)  # this process has the same console
    program = subprocess.Popen(RUN, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    family = _family(program)
    start_s = time.monotonic()
    kernel.GenerateConsoleCtrlEvent(signal.CTRL_C_EVENT, 0)
    said, errors = program.communicate(timeout=ENDED_S)
    took_s = time.monotonic() - start_s
    return {
        "code": program.returncode,
        "took_s": took_s,
        "left": _left(family),
        "said": said.decode(errors="replace"),
        "trace": "Traceback" in errors.decode(errors="replace"),
    }


def kill(whom):
    """Kill the program, the guardian or the worker of a run; tell when all the others had gone."""
    program = subprocess.Popen(RUN, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    family = _family(program)
    start_s = time.monotonic()
    family[("program", "guardian", "worker").index(whom)].kill()
    while _left(family) and time.monotonic() < start_s + ENDED_S:
        time.sleep(0.01)
    took_s = time.monotonic() - start_s
    program.wait(ENDED_S)
    return {"code": program.returncode, "took_s": took_s, "left": _left(family)}


def children():
    """Tell how many processes the run's job counts when a child has started another, and after."""
    from experiments.core.processes.started_cpu_time import own_job

    job = own_job()
    before = job.counted()
    command = [sys.executable, "-c", IN_CHILD]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as child:
        child.stdout.readline()
        during = job.counted()
        child.stdin.write(b"\n")
        child.stdin.flush()
    after = job.counted()
    return {
        "processes": after.processes - before.processes,
        "living": [each.living - before.living for each in (during, after)],
    }


def _family(program):
    """Wait until the run measures, in a process of its own; return program, guardian, worker."""
    end_s, processes = time.monotonic() + BEGUN_S, []
    while len(processes) < 4:
        if time.monotonic() > end_s or program.poll() is not None:
            raise TimeoutError(f"no run began; it ended with {program.poll()}")
        processes = [psutil.Process(program.pid)]
        with contextlib.suppress(psutil.Error):  # some end while they are listed
            while found := processes[-1].children():
                processes.append(found[0])
        time.sleep(0.05)
    time.sleep(0.5)
    return processes[:3]


def _left(family):
    return sum(process.is_running() for process in family)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    answer = (
        kill(*arguments) if what == "kill" else {"ctrl-c": ctrl_c, "children": children}[what]()
    )
    print(json.dumps(answer))  # noqa: T201  (its answer)
