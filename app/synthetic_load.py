"""A known load to watch: processes that do nothing but compute, on the processor or on a GPU.

That on a GPU is made by PyTorch. To be confirmed on a GPU: it has run on the processor only.

Each process ends after `LONGEST_S`, and as soon as the pipe that all of them read is closed. The
system closes it even if the window is killed.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Mapping, Sequence

from experiments.core.problems import Problem
from experiments.core.processes.apart import APART
from experiments.core.processes.own_environment import own_environment
from machine.model import Machine
from machine.text import plain

KINDS = ("matmul", "copy")  # on a GPU
LONGEST_S = 60.0
REASON_LETTERS = 200
NICENESS = 10  # keeps the window smooth while every core is busy
PATIENCE_S = 1.0  # for the first process to end; it needs some 10 ms

# Every process ends with its standard input, and gives way.
_TIED = """
import os, subprocess, sys, threading, time
*what, niceness, seconds = sys.argv[1:]
def watch():
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
if hasattr(os, "nice"):
    os.nice(int(niceness))
"""
# The first process starts the others, so that the window need not wait for many.
_BURNER = (
    _TIED
    + """
code, count = what
for _ in range(int(count) - 1):
    subprocess.Popen([sys.executable, "-I", "-S", "-c", code, code, "1", "0", seconds], stdin=0)
end_s = time.monotonic() + float(seconds)
while time.monotonic() < end_s:
    for _ in range(10000):
        pass
os._exit(0)
"""
)

# It says on its output why it failed; nothing else does.
_ON_GPU = (
    _TIED
    + """
device, kind = what
try:
    import torch
    torch.set_num_threads(1)
    wait = torch.get_device_module(device.partition(":")[0]).synchronize
    if kind == "matmul":
        a, b = (torch.rand(4096, 4096, dtype=torch.float16, device=device) for _ in range(2))
        c = torch.empty_like(a)
        work = lambda: torch.mm(a, b, out=c)
    else:
        here = torch.zeros(2**28, dtype=torch.uint8)
        if device.startswith("cuda"):
            here = here.pin_memory()
        there = torch.empty_like(here, device=device)
        work = lambda: there.copy_(here, non_blocking=True)
    end_s = time.monotonic() + float(seconds)
    while time.monotonic() < end_s:
        for _ in range(4):
            work()
        wait()
except Exception as error:
    os.write(1, f"{type(error).__name__}: {error}".encode(errors="replace")[:1000])
    os._exit(1)
os._exit(0)
"""
)


class KnownLoad:
    """At most one load at a time."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._count = 0

    @property
    def count(self) -> int:
        """The number of hardware threads that are kept busy now."""
        is_there = self._process is not None and self._process.poll() is None
        return self._count if is_there else 0

    def start(self, count: int, seconds: float = LONGEST_S) -> None:
        """Keep `count` hardware threads busy, in place of an earlier load."""
        numbers = [str(count), str(NICENESS), str(seconds)]
        self._start([sys.executable, "-I", "-S", "-c", _BURNER, _BURNER, *numbers], count)

    def start_on_gpu(
        self, kind: str, device: str, machine: Machine, seconds: float = LONGEST_S
    ) -> None:
        """Keep a GPU busy, in place of an earlier load; one hardware thread feeds it."""
        command = command_on_gpu(device, kind, NICENESS, seconds)
        self._start(command, 1, environment(machine))

    def trouble(self) -> Problem | None:
        """Return why the load on a GPU has failed, once."""
        process = self._process
        if process is None or process.stdout is None or process.poll() in (None, 0):
            return None
        said = process.stdout.read().decode(errors="replace")
        self.stop()
        reason = plain(said, REASON_LETTERS) or f"exit code {process.returncode}"
        return Problem("known_load_failed", {"reason": reason})

    def _start(
        self, command: Sequence[str], count: int, environment: Mapping[str, str] | None = None
    ) -> None:
        self.stop()
        self._count = count
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL if environment is None else subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            **APART,  # Ctrl-C must not reach them
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
        if process.stdout is not None:
            process.stdout.close()


def gpus(machine: Machine) -> dict[str, int]:
    """Return the GPUs that can be loaded from here: their numbers, by torch's names."""
    from experiments.devices.device import devices_of, gpu_of

    found = ((name, gpu_of(machine, name)) for name in devices_of(machine))
    return {name: gpu.index for name, gpu in found if gpu is not None}


def lacking(machine: Machine) -> Problem | None:
    """Return why no GPU can be loaded here."""
    if not gpus(machine):
        return Problem("needs_gpu")
    return Problem("needs_torch") if importlib.util.find_spec("torch") is None else None


def command_on_gpu(device: str, kind: str, niceness: int, seconds: float) -> Sequence[str]:
    """Return what keeps a device busy for so long, or until its standard input is closed."""
    return (sys.executable, "-P", "-c", _ON_GPU, device, kind, str(niceness), str(seconds))


def environment(machine: Machine) -> dict[str, str]:
    """Return an environment in which torch numbers the GPUs as `gpus` does."""
    from experiments.devices.device import number_alike

    found = {**own_environment(), "OMP_NUM_THREADS": "1"}
    number_alike(machine, found)
    return found
