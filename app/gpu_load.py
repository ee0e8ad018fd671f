"""A known load on a GPU, by PyTorch in a process of its own: its program, and who may start it.

To be confirmed on a GPU: its program has run on the processor only.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

from experiments.core.problems import Problem
from experiments.core.processes.own_environment import own_environment
from machine.model import Machine

KINDS = ("matmul", "copy")

# It says on its output why it failed; nothing else does.
_PROGRAM = """
import os, sys, threading, time
device, kind, niceness, seconds = sys.argv[1:]
def watch():
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
if hasattr(os, "nice"):
    os.nice(int(niceness))
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


def command(device: str, kind: str, niceness: int, seconds: float) -> Sequence[str]:
    """Return what keeps a device busy for so long, or until its standard input is closed."""
    return (sys.executable, "-P", "-c", _PROGRAM, device, kind, str(niceness), str(seconds))


def environment(machine: Machine) -> dict[str, str]:
    """Return an environment in which torch numbers the GPUs as `gpus` does."""
    from experiments.devices.device import number_alike

    found = {**own_environment(), "OMP_NUM_THREADS": "1"}
    number_alike(machine, found)
    return found
