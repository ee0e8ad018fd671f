"""Ends what a killed application left running, found by its guardian's mark, and removes its files.

Only where guardian and application were killed in the same instant can anything be left. All that
a run starts carries the mark `PID:START` of its guardian in its environment; a Python with that
mark whose guardian is gone is an orphan. Other programs may have the mark too: whatever a person
started from a shell that came out of a run.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from experiments.engine.guardian import MARK, start_of
from machine.system import scratch
from machine.system.kill import kill

log = logging.getLogger(__name__)

LIMIT_S = 1.0
PYTHON = re.compile(r"python\d*(\.\d+t?)?( \(deleted\))?")  # replaced meanwhile, it is still ours


def sweep() -> int:
    """Kill every orphan of this user; return how many. Never touches a live run, or its files."""
    killed: set[int] = set()
    end_s = time.monotonic() + LIMIT_S
    while time.monotonic() < end_s:  # what was killed may just have started another
        before = len(killed)
        for pid, guardian, start in _marked():
            if pid in killed or start_of(guardian) == start or not _is_ours(pid, start):
                continue
            if not kill(pid):
                continue
            log.info("swept process %d, left behind by the run of guardian %d", pid, guardian)
            killed.add(pid)
        if len(killed) == before:
            break
    scratch.sweep()
    return len(killed)


def _is_ours(pid: int, guardian_start: str) -> bool:
    """Is it a Python, and no older than the guardian of its mark?"""
    try:
        program = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return False
    is_python = program == os.path.realpath(sys.executable) or PYTHON.fullmatch(Path(program).name)
    return bool(is_python) and int(start_of(pid) or 0) >= int(guardian_start)


def _marked() -> Iterator[tuple[int, int, str]]:
    """Yield each marked process, its guardian, and when that started."""
    # LIMIT: Linux only; elsewhere the guardian's process group or job object is the only net.
    mark = re.compile(MARK.encode() + rb"=([0-9]{1,9}):([0-9]+)")
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            # In a container of its own, a guardian has a number that means another process here.
            if not (folder / "ns/pid").samefile("/proc/self/ns/pid"):
                continue
        except OSError:
            continue
        for entry in environment.split(b"\0"):
            found = mark.fullmatch(entry)
            if found and int(folder.name) != os.getpid():
                yield int(folder.name), int(found[1]), found[2].decode()
