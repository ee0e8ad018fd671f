"""The trials in a Windows of our own, and how each should end."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pty
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from typing import Any, NamedTuple

import psutil
from msgspec.structs import replace

from app.ending_signals import STOPPED
from experiments.core.catalogue import Catalogue
from experiments.core.declare import Experiment
from experiments.core.needs import missing_need
from experiments.engine.jobs import WINDOWS_CRASHES
from machine.inspect import inspect
from machine.model import OperatingSystem
from tests.tools.windows import wine
from tests.tools.windows.inside import STEPS

LIMIT_S, RUN_S, LONG_S, PACKAGE_S = 120.0, 240.0, 600.0, 1800.0
SHELVES = ("experiments.python_at_work", "experiments.memory", "experiments.inside_a_core")
INSIDE = "tests.tools.windows.inside"
UNITS = (
    "experiments/core",
    "widgets/plots",
    "widgets/controls",
    "app/runs",
    "app/window/core",
    "app/window/shell",
    "app/window/runs",
    "machine",
)
CANNOT = 3  # the exit status where a machine lacks what an experiment needs
SOON_S = 2.0  # Wine's own time included, on a machine that does other things as well
BESIDE_S = 1.0  # a run goes on before it is disturbed
# How a run that ends by a code of Windows should be told of.
ACCESS = ["crashed", WINDOWS_CRASHES[0xC0000005]]
CRASHED = {
    "": ACCESS,
    "C0000005": ACCESS,
    "C0000409": ["crashed", WINDOWS_CRASHES[0xC0000409]],
    "C000001D": ["illegal_instruction", ""],
    "3": ["crashed", WINDOWS_CRASHES[3]],
}
# What marks the command line of each process; that of the guardian has the worker's within.
ROLES = {
    "program": "-m app run",
    "guardian": "-I -S -c",
    "worker": "engine.worker",
    "job": "jobs.py",
}
LAST = 300  # characters of what went wrong

if sys.platform != "linux":
    raise ImportError("Wine runs on Linux.")


class Known(Exception):
    """A trial that ended as it should, with a remark."""


class Looked(NamedTuple):
    """The end of a trial; `wrong` is "" where all is right, `said` is what to know of it."""

    took_s: float
    wrong: str
    said: str = ""


def look(name: str) -> Looked:
    """Try one thing; never raises for what the program does."""
    start_s = time.monotonic()
    said = ""
    try:
        wrong = LOOKS[name]()
    except Known as known:
        wrong, said = "", str(known)
    except subprocess.TimeoutExpired:
        wrong = "did not end within its limit"
    if wrong:
        wine.end()  # what it left would stand in the way of the next
    return Looked(time.monotonic() - start_s, wrong, said)


def _said(*command: str, says: str, code: int = 0, limit_s: float = LIMIT_S) -> str:
    """Run a command of the program into a file; return what is wrong with its end and words."""
    ended = wine.wine(wine.PYTHON, "-m", "app", *command, limit_s=limit_s)
    errors = ended.stderr.decode(errors="replace")
    if "Traceback" in errors or ended.returncode != code:
        said = ended.stdout.decode(errors="replace") + errors
        return f"ended with {ended.returncode}: {said.strip()[-LAST:]}"
    try:  # what cannot be done is said as an error
        said = (ended.stderr if code else ended.stdout).decode()
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


def _inside(name: str, expected: object) -> str:
    """Compare the answer of a program of Windows with the expected one."""
    told = _told(name)
    return "" if told == expected else f"{told}"


def _told(*what: str) -> object:
    """Return the answer of `inside.py`, or the end of what went wrong."""
    ended = wine.wine(wine.PYTHON, "-m", INSIDE, *what, limit_s=LONG_S)
    try:
        return json.loads(ended.stdout.decode(errors="replace").strip().splitlines()[-1])
    except (ValueError, IndexError):
        return ended.stderr.decode(errors="replace").strip()[-LAST:] or f"no answer: {ended}"


def _quick_run(experiment: Experiment[Any]) -> str:
    """Run it quickly; if this machine lacks a need of it, the run must say so."""
    need = missing_need(experiment, replace(inspect(), os=OperatingSystem(kind="windows")))
    if need is not None:
        wrong = _said("run", experiment.id, "--quick", says="This needs", code=CANNOT)
        return wrong or _known(f"says what is missing: {need}")
    return _said("run", experiment.id, "--quick", says="Kept as", limit_s=RUN_S)


def _known(said: str) -> str:
    raise Known(said)


def _kept_there() -> str:
    """Keep a run below a folder whose name has spaces and umlauts."""
    folder = wine.DRIVE / "Größe und Maß"
    shutil.rmtree(folder, ignore_errors=True)
    command = ("-m", "app", "--data", f"C:\\{folder.name}", "run", "start-cost", "--quick")
    with wine.start(wine.PYTHON, *command) as process:  # by no shell, which would part the name
        process.wait(RUN_S)
    kept = list(folder.glob("runs/*.jsonl"))
    is_right = process.returncode == 0 and len(kept) == 1
    return "" if is_right else f"ended with {process.returncode}, kept {kept}"


def _second_waits() -> str:
    """Start a run while another one measures: it says for what it waits, and is done after it."""
    first = wine.start(wine.PYTHON, "-m", "app", "run", "gil-threads")
    try:
        if not _until(lambda: "job" in _running(), LIMIT_S):
            return "no run began"
        second = ("-m", "app", "run", "start-cost", "--quick")
        ended = wine.wine(wine.PYTHON, *second, limit_s=RUN_S)
        has_ended = first.poll() is not None
    finally:
        first.kill()
        first.wait()
    said = ended.stderr.decode(errors="replace")
    if ended.returncode or "Waiting: gil-threads" not in said or not has_ended:
        return f"ended with {ended.returncode}, the first is over: {has_ended}; {said[-LAST:]}"
    return ""


def _units(place: str) -> str:
    """Run our own tests of a folder there; what did not pass is listed in a file."""
    told = _told("units", f"tests/{place}")
    if not isinstance(told, dict):
        return f"{told}"
    listed = [f"{name}: {why}" for name, why in told["others"].items()]
    path = wine.CACHE / f"units-{place.replace('/', '-')}.txt"
    path.write_text("\n".join(listed) + "\n")
    failed = sum(": skipped: " not in each for each in listed)
    counted = f"{told['passed']} passed, {len(listed) - failed} skipped: {path}"
    if failed or not told["passed"]:
        return f"pytest ended with {told['code']}, {failed} did not pass, {counted}"
    return _known(counted)


def _packaged() -> str:
    """Make the folder that needs no Python, unpack its zip elsewhere, and let it measure there."""
    ended = wine.wine(wine.PYTHON, "-m", "tests.tools.package", limit_s=PACKAGE_S)
    zips = list((wine.CHECKOUT / "dist").glob("*.zip"))
    if ended.returncode or len(zips) != 1:
        said = ended.stderr.decode(errors="replace").strip()[-LAST:]
        return f"ended with {ended.returncode}, made {zips}: {said}"
    folder = wine.DRIVE / "unpacked here"
    shutil.rmtree(folder, ignore_errors=True)
    with zipfile.ZipFile(zips[0]) as packed:
        packed.extractall(folder)
    (program,) = folder.glob("*/coreopsis.exe")
    # A Windows has it whole; Wine's own lacks what numba asks for.
    shutil.copyfile(wine.DRIVE / "python/ucrtbase.dll", program.with_name("ucrtbase.dll"))
    place = f"C:\\{program.relative_to(wine.DRIVE)}".replace("/", "\\")
    for command in (("doctor",), ("run", "start-cost", "--quick"), ("run", "ilp", "--quick")):
        with wine.start(place, *command) as process:
            if code := process.wait(RUN_S):
                return f"{' '.join(command)} ended with {code}"
    return _known(f"{zips[0].name}, {zips[0].stat().st_size / 1e6:.0f} MB")


LOOKS: dict[str, Callable[[], str]] = {
    "inspect": lambda: _said("inspect", says="→"),
    "doctor": lambda: _said("doctor", says="python.exe"),
    "children": lambda: _inside("children", {"processes": 2, "living": [2, 0]}),
    "kept on a thread": lambda: _inside("pinned", {"several": True, "strayed": [], "let go": True}),
    "crashes": lambda: _inside("crashes", CRASHED),
    "a name with ä": _kept_there,
    "a second run": _second_waits,
    "ctrl-c": _ctrl_c,
    "kill program": _killed("program"),
    "kill guardian": _killed("guardian"),
    "kill worker": _killed("worker"),
    "package": _packaged,
    "checkup": lambda: _said("checkup", "--quick", says="✓", limit_s=LONG_S),
    "window": lambda: _inside("window", {"code": 0, "steps": list(STEPS)}),
    **{each.id: functools.partial(_quick_run, each) for each in Catalogue(SHELVES)},
    **{f"tests/{place}": functools.partial(_units, place) for place in UNITS},
}
