"""All that an experiment may do to its engine, a function each, named by the parameter `how`.

A function that hangs sends a row first, so that a test can let it get there. It gives up by itself
after `PATIENCE_S`, so that nothing stays for long where the engine fails.
"""

from __future__ import annotations

import ctypes
import gc
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from experiments.core import declare
from experiments.core.bench import Bench
from experiments.core.declare import (
    Experiment,
    Finding,
    Frame,
    Live,
    Measured,
    Note,
    Progress,
    Tables,
    column,
    param,
)
from experiments.core.problems import UserError
from machine.model import Machine
from machine.system.kill import KILL

posix: Any = os  # with what Windows lacks
signals: Any = signal  # likewise

PATIENCE_S = 60
MIB = 2**20


class Params(declare.Params):
    how: str = "behaves"
    rows: int = param(3, minimum=0, maximum=10**9)
    analysis: str = param("works", choices=("works", "raises", "says nan", "says nothing"))
    free_children: int = param(0, minimum=0, maximum=9)
    text: str = ""
    device: str = "cpu"


class Row(declare.Row):
    value: float = column(unit="s")


class Picture(declare.Row):
    brightness: float


class Undeclared(declare.Row):
    value: float = column(unit="s")


# --- ways to behave


def behaves(p: Params, bench: Bench) -> Measured:
    for number in range(p.rows):
        yield Row(value=float(number))
        yield Progress((number + 1) / p.rows)


def says_whether_garbage_is_collected(p: Params, bench: Bench) -> Measured:
    yield Row(value=float(gc.isenabled()))


def takes_samples(p: Params, bench: Bench) -> Measured:
    for turn, _ in bench.interleave(["a"], p.rows):
        yield Row(value=float(turn.round) + 0 * bench.time(lambda: None))


def says_and_takes_samples(p: Params, bench: Bench) -> Measured:
    yield Row(value=-1.0)
    yield from takes_samples(p, bench)


def says_all_kinds(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    yield Note("told", {"count": 1})
    yield Frame("pictures", (2, 3), bytes(6))
    yield Row(value=1.0)


def takes_its_time(p: Params, bench: Bench) -> Measured:
    for number in range(p.rows):
        yield Row(value=float(number))
        time.sleep(0.02)


def says_no_rows(p: Params, bench: Bench) -> Measured:
    return
    yield


# --- ways to fail


def raises(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    raise ValueError(p.text or "on purpose")


def raises_what_cannot_be_told(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    raise ValueError("\udcff" * MIB)


def raises_trouble(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    raise UserError("too_much_memory", needed_bytes=2, free_bytes=1)


def says_nan(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    yield Row(value=math.nan)


def says_infinity(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    yield Row(value=-math.inf)


def says_an_undeclared_row(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    yield Undeclared(value=0.0)


def says_an_undeclared_frame(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    yield Frame("undeclared", (1, 1), b"\0")


def fills_memory_at_once(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    _lower_memory_limit(64 * MIB)
    yield Row(value=float(len(bytearray(512 * MIB))))


def fills_memory_to_the_last_byte(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    _lower_memory_limit(64 * MIB)
    hoard = []
    for size in (MIB, 1000, 20):
        try:
            while True:
                hoard.append(bytearray(size))
        except MemoryError:
            if size == 20:
                raise


def _lower_memory_limit(more_bytes: int) -> None:
    if sys.platform == "win32":
        raise NotImplementedError
    import resource

    used_kib = next(
        int(line.split()[1])
        for line in Path("/proc/self/status").read_text().splitlines()
        if line.startswith("VmData")
    )
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (used_kib * 1024 + more_bytes, hard))


# --- ways to vanish


def exits(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os._exit(7)


def ends_on_windows(p: Params, bench: Bench) -> Measured:
    """End with the code in `text`, as Windows ends what has crashed."""
    yield Row(value=0.0)
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    kernel.TerminateProcess(ctypes.c_void_p(-1), int(p.text, 16))


def reads_address_0(p: Params, bench: Bench) -> Measured:
    """Crash as an extension does: ctypes makes an exception of it on Windows."""
    yield Row(value=0.0)
    import faulthandler

    faulthandler._read_null()  # type: ignore[attr-defined]  # noqa: SLF001


def exits_like_a_program(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    sys.exit("a library that thinks it is the program")


def crashes(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    ctypes.string_at(0)


def meets_an_unknown_instruction(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.kill(os.getpid(), signal.SIGILL)


def is_killed(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.kill(os.getpid(), KILL)


# --- ways to hang


def sleeps(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    time.sleep(PATIENCE_S)


def sleeps_before_a_word(p: Params, bench: Bench) -> Measured:
    time.sleep(PATIENCE_S)
    yield Row(value=0.0)


def holds_the_gil(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    ctypes.PyDLL(None).sleep(PATIENCE_S)


def ignores_signals(p: Params, bench: Bench) -> Measured:
    for number in set(signal.valid_signals()) - {KILL, signals.SIGSTOP}:
        signal.signal(number, signal.SIG_IGN)
    yield Row(value=0.0)
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        time.sleep(0.1)


def stops_itself(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.kill(os.getpid(), signals.SIGSTOP)


def leaves_a_thread(p: Params, bench: Bench) -> Measured:
    threading.Thread(target=time.sleep, args=(PATIENCE_S,)).start()
    yield Row(value=0.0)


# --- ways to spoil the wire


def prints(p: Params, bench: Bench) -> Measured:
    print("from Python")  # noqa: T201
    os.write(1, b"from descriptor 1\n")
    libc = ctypes.CDLL(None)
    libc.puts(b"from a C library")
    libc.fflush(None)
    subprocess.run(["/bin/sh", "-c", "echo from a child process"], check=True)
    if (pid := posix.fork()) == 0:
        os.write(1, b"from a forked process\n")
        os._exit(0)
    os.waitpid(pid, 0)
    yield Row(value=0.0)


def starts_a_child_that_reads(p: Params, bench: Bench) -> Measured:
    read = subprocess.run(["/bin/cat"], check=True, stdout=subprocess.PIPE)  # of its own input
    yield Row(value=len(read.stdout) + len(sys.stdin.read()))


def floods(p: Params, bench: Bench) -> Measured:
    row = Row(value=0.0)
    for _ in range(p.rows):
        yield row


def floods_the_log(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    for _ in range(p.rows):
        os.write(2, b"\xff\0\x1b[31m nothing that matters " * 40)
        os.write(1, b"\n")
    yield Row(value=1.0)


def tears_a_line(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.write(_protocol(), b'{"type": "row", "n": 1, "t_')
    os._exit(0)


def talks_garbage(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.write(_protocol(), b"\xff\xfe\0 \"garbage'\n")
    yield Row(value=1.0)


def talks_endlessly(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    line = b'{"type": "note", "key": "' + b"x" * 2 * MIB
    while line:
        line = line[os.write(_protocol(), line) :]
    yield Row(value=1.0)


def names_a_long_table(p: Params, bench: Bench) -> Measured:
    """Send a line that is refused for a reason which is too long itself when it is quoted."""
    yield Row(value=0.0)
    line = b'{"type":"row","n":1,"t_s":0,"table":"%s","row":{}}\n' % (b"\x7f" * 400_000)
    while line:
        line = line[os.write(_protocol(), line) :]
    yield Row(value=1.0)


def jumps_in_n(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.write(_protocol(), b'{"type":"row","n":2,"t_s":0,"table":"rows","row":{"value":0}}\n')
    yield Row(value=1.0)


def starts_twice(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.write(
        _protocol(),
        b'{"type":"started","format":"coreopsis.run","version":1,"run":"","experiment":"",'
        b'"experiment_version":1,"params":{},"quick":false,"tables":{},"machine":{},'
        b'"environment":{},"at":""}\n',
    )
    yield Row(value=1.0)


def pretends_to_be_the_application(p: Params, bench: Bench) -> Measured:
    """Say hello again, with a process id whose group must not be killed."""
    yield Row(value=0.0)
    os.write(_protocol(), b'{"type":"hello","protocol":1,"program":"","pid":0,"python":""}\n')
    time.sleep(PATIENCE_S)


def closes_the_wire(p: Params, bench: Bench) -> Measured:
    yield Row(value=0.0)
    os.close(_protocol())
    time.sleep(PATIENCE_S)


def _protocol() -> int:
    """Return the descriptor that the engine keeps for its events: a pipe, not 0, 1 or 2."""
    if sys.platform == "win32":
        raise NotImplementedError
    import fcntl

    log = os.readlink("/proc/self/fd/2")
    for number in range(3, 32):
        try:
            kind = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        is_written = fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY
        if kind.startswith("pipe:") and kind != log and is_written:
            return number
    raise LookupError("the protocol's descriptor")


# --- ways to leave children


def leaves_children(p: Params, bench: Bench) -> Measured:
    """Leave one that is still in the group, one with a program of its own, and go on."""
    if posix.fork() == 0:
        _become_useless()
    subprocess.Popen(["/bin/sleep", str(PATIENCE_S)])
    yield Row(value=0.0)


def exits_before_children_that_keep_the_wire(p: Params, bench: Bench) -> Measured:
    _leave_children_that_keep_the_wire()
    yield Row(value=0.0)
    os._exit(7)


def sleeps_beside_children_that_keep_the_wire(p: Params, bench: Bench) -> Measured:
    _leave_children_that_keep_the_wire()
    yield Row(value=0.0)
    time.sleep(PATIENCE_S)


def _leave_children_that_keep_the_wire() -> None:
    """Leave one in the group and a free one, which hold every descriptor open."""
    c = ctypes.PyDLL(None)  # forks without the hooks of Python, and keeps the lock of the child
    for free in (False, True):
        if c.fork() == 0:
            if free:
                posix.setsid()
            c.sleep(PATIENCE_S)
            os._exit(0)


def starts_what_nobody_finds(p: Params, bench: Bench) -> Measured:
    """Start a program without any mark, which holds the log open; report its number."""
    hidden = subprocess.Popen(["/bin/sleep", str(PATIENCE_S)], env={}, start_new_session=True)
    yield Row(value=float(hidden.pid))
    time.sleep(PATIENCE_S)


def forks_and_the_child_raises(p: Params, bench: Bench) -> Measured:
    """Fork like a library that forgot about the child: it comes back here a second time."""
    yield Row(value=0.0)
    if (pid := posix.fork()) == 0:
        raise ValueError("in the child")
    os.waitpid(pid, 0)
    yield Row(value=1.0)


def forks_all_the_time(p: Params, bench: Bench) -> Measured:
    """A child that sets itself free and is never the same process for long."""
    if posix.fork() == 0:
        posix.setsid()
        _ignore_signals()
        end_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < end_s:
            if posix.fork():
                os._exit(0)
            time.sleep(0.001)
        os._exit(0)
    yield Row(value=0.0)
    time.sleep(PATIENCE_S)


def _set_child_free() -> None:
    """Start a process that has done all it can to outlive this one."""
    first = posix.fork()
    if first:
        os.waitpid(first, 0)
        return
    posix.setsid()
    if posix.fork():
        os._exit(0)
    _become_useless()


def _become_useless() -> None:
    _ignore_signals()
    os.closerange(0, 64)
    time.sleep(PATIENCE_S)
    os._exit(0)


def _ignore_signals() -> None:
    for number in (signal.SIGTERM, signals.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)


WAYS: dict[str, Callable[[Params, Bench], Measured]] = {
    name: way
    for name, way in list(globals().items())
    if callable(way) and getattr(way, "__module__", "") == __name__ and name.islower()
    and not name.startswith("_")
}  # fmt: skip


def measure(p: Params, bench: Bench) -> Measured:
    for _ in range(p.free_children):
        _set_child_free()
    yield from WAYS[p.how](p, bench)


def points(bench: Bench) -> Callable[[Params], Measured]:
    """Measure a point as a run would be; each point may misbehave in another way."""
    return lambda p: measure(p, bench)


def analyse(p: Params, tables: Tables, machine: Machine) -> Finding:
    if p.analysis == "raises":
        raise ZeroDivisionError("on purpose")
    if p.analysis == "says nan":
        return Finding("measured", {"count": math.nan})
    if p.analysis == "says nothing":
        return None  # type: ignore[return-value]
    return Finding("measured", {"count": float(len(tables["rows"]))})


EXPERIMENT = Experiment(
    version=1,
    params=Params,
    tables={"rows": Row, "pictures": Picture},
    measure=measure,
    analyse=analyse,
    views=(),
    values=(),
    parts=(),
    defaults=lambda machine: Params(),
    quick=lambda params: params,
    seconds=lambda params: 1.0,
    memory_bytes=lambda params: 0,
    quiet_limit_s=20.0,
    live=Live(Params, points),
)
