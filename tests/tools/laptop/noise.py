"""The load of an ordinary laptop: a process a core that works in bursts, and a file now and then.

`python -m tests.tools.laptop.noise` makes it until it is interrupted.
"""

from __future__ import annotations

import contextlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

import psutil

BURST_S = (0.005, 0.2)
BUSY_FRACTION = (0.15, 0.4)  # of one core, drawn anew for each burst
TOUCHED_BYTES = 100 * 2**20
STEP_BYTES = 4096
FILE_BYTES, FILE_EVERY_S = 32 * 2**20, 3.0
SEED = 38


@contextlib.contextmanager
def laptop() -> Iterator[None]:
    """Be an ordinary laptop meanwhile: one process a core works in bursts."""
    count = len(psutil.Process().cpu_affinity())
    command = [sys.executable, "-m", "tests.tools.laptop.noise"]
    started = [subprocess.Popen([*command, str(SEED + n)]) for n in range(count)]
    time.sleep(1.0)  # until their memory is there
    try:
        yield
    finally:
        for each in started:
            each.kill()
        for each in started:
            each.wait()


def work(seed: int) -> None:
    """Work in bursts for ever: go through memory, and read a file now and then."""
    chance, memory = random.Random(seed), bytearray(TOUCHED_BYTES)
    place, read_s = 0, time.monotonic()
    with tempfile.TemporaryFile() as file:
        file.write(os.urandom(FILE_BYTES))
        while True:
            burst_s = chance.uniform(*BURST_S)
            end_s = time.monotonic() + burst_s
            while time.monotonic() < end_s:
                for _ in range(1000):
                    memory[place] = (memory[place] + 1) & 255
                    place = (place + STEP_BYTES) % TOUCHED_BYTES
            if time.monotonic() - read_s > FILE_EVERY_S:
                read_s = time.monotonic()
                file.seek(0)
                file.read()
            time.sleep(burst_s * (1 / chance.uniform(*BUSY_FRACTION) - 1))


if __name__ == "__main__":
    work(int(sys.argv[1]) if len(sys.argv) > 1 else SEED)
