"""Did an earlier application leave something running? Ends it, by the mark of its guardian.

Only where guardian and application were killed in the same instant can anything be left. All that
a run starts carries the mark `PID:START` of its guardian in its environment; a marked process
whose guardian is gone is an orphan.
"""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from experiments.engine.guardian import MARK, start_of

log = logging.getLogger(__name__)


def sweep() -> int:
    """Kill every orphan of this user; return how many. Never touches a live run's processes."""
    count = 0
    for pid, mark in _marked():
        guardian, _, start = mark.partition(":")
        if start and start_of(int(guardian)) == start:
            continue
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue
        log.info("swept process %d, left behind by the run of guardian %s", pid, guardian)
        count += 1
    return count


def _marked() -> Iterator[tuple[int, str]]:
    # LIMIT: Linux only; elsewhere the guardian's process group or job object is the only net.
    key = MARK.encode() + b"="
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:
            continue
        for entry in environment.split(b"\0"):
            if entry.startswith(key):
                mark = entry[len(key) :].decode(errors="replace")
                if mark.partition(":")[0].isdigit() and int(folder.name) != os.getpid():
                    yield int(folder.name), mark
