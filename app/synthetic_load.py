"""A known load to watch: processes that do nothing but compute.

Each process ends after `LONGEST_S`, and as soon as the pipe that all of them read is closed. The
system closes it even if the window is killed.
"""

from __future__ import annotations

import os
import subprocess
import sys

LONGEST_S = 60.0
NICENESS = 10  # keeps the window smooth while every core is busy
PATIENCE_S = 1.0  # for the first process to end; it needs some 10 ms

# The first process starts the others, so that the window need not wait for many.
_BURNER = """
import os, subprocess, sys, threading, time
code, count, niceness, seconds = sys.argv[1:]
def watch():
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
if hasattr(os, "nice"):
    os.nice(int(niceness))
for _ in range(int(count) - 1):
    subprocess.Popen([sys.executable, "-I", "-S", "-c", code, code, "1", "0", seconds], stdin=0)
end_s = time.monotonic() + float(seconds)
while time.monotonic() < end_s:
    for _ in range(10000):
        pass
os._exit(0)
"""


class KnownLoad:
    """At most one load at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0

    @property
    def count(self) -> int:
        """How many hardware threads are kept busy now."""
        is_there = self._process is not None and self._process.poll() is None
        return self._count if is_there else 0

    def start(self, count: int, seconds: float = LONGEST_S) -> None:
        """Keep `count` hardware threads busy, in place of an earlier load."""
        self.stop()
        self._count = count
        numbers = [str(count), str(NICENESS), str(seconds)]
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _BURNER, _BURNER, *numbers],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            process_group=0 if os.name == "posix" else None,  # Ctrl-C must not reach them
        )

    def stop(self) -> None:
        """End every process."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
