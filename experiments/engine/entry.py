"""`coreopsis worker`: reads the first command and becomes what that needs.

For a measurement the guardian, so that a caller over ssh reaches the guardian; else a plain
worker, which inspects and watches.
"""

from __future__ import annotations

import json
import os
import sys

from experiments.core.processes.own_environment import own_environment
from experiments.engine import guardian

FIRST_LINE_BYTES = 2**20  # that of `messages`, which a guardian need not load


def main() -> None:
    """Serve standard input until it ends."""
    first = _first_line()
    if _is_measurement(first):
        environment = own_environment()
        os.environ.clear()
        os.environ.update(environment)
        guardian.main([sys.executable, "-P", "-m", "experiments.engine.worker"], first)
    else:
        from experiments.engine import worker

        worker.main([], first)


def _is_measurement(line: bytes) -> bool:
    try:
        command = json.loads(line)
    except (ValueError, RecursionError):
        return False  # the worker says what is wrong with it
    return isinstance(command, dict) and command.get("type") in ("measure", "live")


def _first_line() -> bytes:
    """Return it, or of one that is too long as much as shows that."""
    line = bytearray()
    while not line.endswith(b"\n") and len(line) <= FIRST_LINE_BYTES:
        data = os.read(0, 1)  # one byte at a time: what follows belongs to the worker
        if not data:
            break
        line += data
    return bytes(line)
