"""What is tried in a Windows of our own, and how each should end."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

import psutil

from app.ending_signals import STOPPED
from tests.tools.windows import wine

LIMIT_S, CHECKUP_S = 120.0, 600.0
SOON_S = 2.0  # Wine's own time included, on a machine that does other things as well
BESIDE_S = 1.0  # a run goes on before it is disturbed
# What marks the command line of each process; that of the guardian has the worker's within.
ROLES = {
    "program": "-m app run",
    "guardian": "-I -S -c",
    "worker": "engine.worker",
    "job": "jobs.py",
}
LAST = 300  # characters of what went wrong


class Looked(NamedTuple):
    """How a look ended; `wrong` is "" where all is right."""

    took_s: float
    wrong: str


def look(name: str) -> Looked:
    """Try one thing; never raises for what the program does."""
    start_s = time.monotonic()
    try:
        wrong = LOOKS[name]()
    except subprocess.TimeoutExpired:
        wrong = "did not end within its limit"
    if wrong:
        wine.end()  # what it left would stand in the way of the next
    return Looked(time.monotonic() - start_s, wrong)


def _said(*command: str, says: str, code: int = 0, limit_s: float = LIMIT_S) -> str:
    """Run a command of the program into a file; return what is wrong with its end and words."""
    ended = wine.wine(wine.PYTHON, "-m", "app", *command, limit_s=limit_s)
    errors = ended.stderr.decode(errors="replace")
    if "Traceback" in errors or ended.returncode != code:
        said = ended.stdout.decode(errors="replace") + errors
        return f"ended with {ended.returncode}: {said.strip()[-LAST:]}"
    try:
        said = ended.stdout.decode()
    except UnicodeDecodeError as error:
        return f"not in UTF-8: {error}"
    return "" if says in said else f"does not say {says!r}: {said.strip()[-LAST:]}"


def _ctrl_c() -> str:
    """Press Ctrl-C in the terminal of a run."""
    return _ended_run(lambda terminal, _: os.write(terminal, b"\x03"), code=STOPPED)


def _killed(role: str) -> Callable[[], str]:
    """Return the look that kills the program of a run, its guardian or its worker."""
    return lambda: _ended_run(lambda _, here: here[role].kill(), code=None)


def _ended_run(act: Callable[[int, dict[str, psutil.Process]], object], code: int | None) -> str:
    """Start a run in a terminal of its own, act on it, and say what is wrong with its end."""
    terminal, inner = pty.openpty()
    process = wine.start(wine.PYTHON, "-m", "app", "run", "gil-threads", terminal=inner)
    os.close(inner)
    said = bytearray()
    reader = threading.Thread(target=_read, args=(terminal, said), daemon=True)
    reader.start()
    try:
        if not _until(lambda: "job" in _running(), LIMIT_S):
            return f"no run began: {said[-LAST:].decode(errors='replace')}"
        time.sleep(BESIDE_S)
        start_s = time.monotonic()
        act(terminal, _running())
        is_over = _until(lambda: process.poll() is not None and not _running(), LIMIT_S)
        took_s = time.monotonic() - start_s
    finally:
        process.kill()
        process.wait()
        reader.join(BESIDE_S)
        os.close(terminal)
    if not is_over or took_s > SOON_S:
        return f"after {took_s:.1f} s there are {', '.join(_running()) or 'none'}"
    if code not in (None, process.returncode) or b"Traceback" in said:
        return f"ended with {process.returncode}: {said[-LAST:].decode(errors='replace')}"
    return ""


def _running() -> dict[str, psutil.Process]:
    """Return the processes of a run in Wine, by their role, as Linux shows them."""
    found = {}
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or ())
        if line.startswith(wine.PYTHON):
            found[next((role for role, mark in ROLES.items() if mark in line), "other")] = process
    return found


def _read(terminal: int, said: bytearray) -> None:
    with contextlib.suppress(OSError):  # its other end has closed
        while data := os.read(terminal, 4096):
            said += data


def _until(is_so: Callable[[], bool], limit_s: float) -> bool:
    end_s = time.monotonic() + limit_s
    while not (so := is_so()) and time.monotonic() < end_s:
        time.sleep(0.02)
    return so


def _children() -> str:
    """Hold what Windows counts of a child's child against what there is; Wine counts no times."""
    ended = wine.wine(wine.PYTHON, "inside.py", limit_s=LIMIT_S)
    try:
        told = json.loads(ended.stdout)
    except ValueError:
        return ended.stderr.decode(errors="replace").strip()[-LAST:]
    return "" if told == {"processes": 2, "living": [2, 0]} else f"{told}"


LOOKS: dict[str, Callable[[], str]] = {
    "inspect": lambda: _said("inspect", says="→"),
    "doctor": lambda: _said("doctor", says="python.exe"),
    "cache-ladder": lambda: _said("run", "cache-ladder", "--quick", says="Kept as"),
    "gil-threads": lambda: _said("run", "gil-threads", "--quick", says="Kept as"),
    "isolation": lambda: _said("run", "isolation", "--quick", says="no thread is left"),
    "children": _children,
    "ctrl-c": _ctrl_c,
    "kill program": _killed("program"),
    "kill guardian": _killed("guardian"),
    "kill worker": _killed("worker"),
    "checkup": lambda: _said("checkup", "--quick", says="✓", limit_s=CHECKUP_S),
}
