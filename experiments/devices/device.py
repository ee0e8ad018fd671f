"""One device of torch, the processor or a GPU of any maker, as measurements need it.

A GPU works through queues: calls are queued and done later, in order within a stream. A mark is an
event in such a queue, with the device's own time. The processor does everything at once, so its
marks are moments of the bench's clock.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from experiments.core.bench import Bench
from experiments.core.declare import Experiment, P, Part
from experiments.core.problems import UserError
from experiments.core.processes.own_environment import own_caches
from machine.devices import Gpu
from machine.memory.host import available_bytes
from machine.model import Machine, physical_cores, usable_threads

CPU = "cpu"
MEMORY_SHARE = 0.6  # of a GPU's free memory, unless the user asks for more
HOLD_HZ = 2e9  # about a GPU's clock; a higher one shortens a hold, and `taken` lengthens it
MS = 1e-3

_TORCH_NAMES = {"cuda": "cuda", "rocm": "cuda", "xpu": "xpu", "mps": "mps"}


class Mark:
    """A moment in a device's work; known once the work before it is done."""

    def __init__(self, device: Device, stream: Any = None) -> None:
        self._device = device
        self._event: Any = device.backend.Event(enable_timing=True) if device.is_gpu else None
        if self._event is None:
            self._at_s = device.bench.now_s()
        elif device.has_streams:
            own = device.backend.current_stream(device.index) if stream is None else stream
            self._event.record(own)
        else:
            self._event.record()

    def is_done(self) -> bool:
        """Has the device passed it? Never waits."""
        return self._event is None or bool(self._event.query())

    def wait(self) -> None:
        """Wait until the device has come past it."""
        if self._event is not None:
            self._event.synchronize()

    def since(self, earlier: Mark) -> float:
        """Return the device's seconds from an earlier mark to this one; both must be done."""
        if self._event is None:
            return self._at_s - earlier._at_s
        return float(earlier._event.elapsed_time(self._event)) * MS


class Device:
    """A device by its name in torch: "cpu", "cuda:0", "xpu:0" or "mps"."""

    def __init__(self, name: str, bench: Bench) -> None:
        """Take the device. Raises UserError if torch cannot use it."""
        for variable, folder in own_caches().items():  # a worker has them already, others do not
            os.environ.setdefault(variable, folder)
        import torch

        self.torch, self.name, self.bench = torch, name, bench
        self.kind, _, number = name.partition(":")
        self.index = int(number or 0)
        self.is_gpu = self.kind != CPU
        self.has_streams = self.kind in ("cuda", "xpu")
        self.backend = torch.get_device_module(self.kind)
        if self.is_gpu:
            count = self.backend.device_count()
            if self.index >= count:
                raise UserError("device_unusable", device=name, count=count)
            if self.has_streams:
                self.backend.set_device(self.index)

    def wait(self) -> None:
        """Wait until all that was queued is done."""
        if self.has_streams:
            self.backend.synchronize(self.index)  # there may be others
        elif self.is_gpu:
            self.backend.synchronize()

    def mark(self, stream: Any = None) -> Mark:
        """Put a mark behind what is queued so far, in the current stream or in another."""
        return Mark(self, stream)

    def stream(self) -> Any:
        """Return a new stream, None where the device has only one queue."""
        return self.backend.Stream(self.index) if self.has_streams else None

    def on(self, stream: Any) -> contextlib.AbstractContextManager[Any]:
        """Queue the calls of the block into this stream."""
        if stream is None:
            return contextlib.nullcontext()
        made: contextlib.AbstractContextManager[Any] = self.backend.stream(stream)
        return made

    def hold(self, seconds: float) -> bool:
        """Keep the queue busy for about `seconds`; False if the device cannot.

        Work queued meanwhile then runs without gaps. The hold ends by itself, so it cannot lock up.
        """
        if self.kind != "cuda":
            return False
        with self.backend.device(self.index):
            self.backend._sleep(int(seconds * HOLD_HZ))
        return True

    def free_bytes(self) -> int:
        """Return how much memory may be taken unless the user asks for more."""
        if not self.is_gpu:
            return (available_bytes() or 0) // 2
        if self.kind == "mps":
            free = self.backend.recommended_max_memory() - self.backend.driver_allocated_memory()
        else:
            free, _ = self.backend.mem_get_info(self.index)
        return int(free * MEMORY_SHARE)

    def fitting(self, size: int, needs: Callable[[int], int], least: int) -> int:
        """Return the size, or a half, a quarter... of it that the device has the bytes for."""
        while needs(size) > self.free_bytes() and size > least:
            size //= 2
        return size

    def gpu(self) -> Gpu | None:
        """Return the GPU as inspection knows it, None for the processor or if unsure.

        CUDA may count GPUs in another order, so torch's unique number decides where there is one.
        """
        machine = self.bench.machine
        if self.kind == "cuda":
            unique = str(getattr(self.backend.get_device_properties(self.index), "uuid", "?"))
            found = [gpu for gpu in machine.gpus if unique in (gpu.uuid or "")]
            if len(found) == 1:
                return found[0]
        return gpu_of(machine, self.name)


@contextlib.contextmanager
def torch_threads(torch: Any, count: int = 0) -> Iterator[None]:
    """Let the processor compute with `count` threads meanwhile, 0 for as many as before."""
    before = torch.get_num_threads()
    torch.set_num_threads(count or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def devices_of(machine: Machine) -> tuple[str, ...]:
    """Return torch's names for a machine's devices, GPUs first.

    They are in the order of the PCI bus, which `number_alike` asks of CUDA too.
    """
    return (*_usable_gpus(machine), CPU)


def _usable_gpus(machine: Machine) -> dict[str, Gpu]:
    numbers: dict[str, int] = {}
    found: dict[str, Gpu] = {}
    for gpu in machine.gpus:
        kind = _TORCH_NAMES.get(gpu.torch_backend or "")
        if kind is None or gpu.visible is False:
            continue
        number = numbers.setdefault(kind, 0)
        numbers[kind] += 1
        found.setdefault(kind if kind == "mps" else f"{kind}:{number}", gpu)
    return found


def torch_devices(machine: Machine) -> tuple[str, ...]:
    """Return the same, the processor alone where PyTorch is not installed."""
    is_here = importlib.util.find_spec("torch") is not None
    return devices_of(machine) if is_here else (CPU,)


def number_alike(machine: Machine, environment: MutableMapping[str, str]) -> None:
    """Let CUDA number the GPUs as `devices_of` does, by the environment that it reads.

    By itself CUDA puts the fastest first, or keeps the order in which a person listed the visible
    ones. Parts of a GPU (MIG) are left as they are.
    """
    environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    listed = environment.get("CUDA_VISIBLE_DEVICES")
    visible = [g.uuid for g in machine.gpus if g.torch_backend == "cuda" and g.visible is not False]
    if listed is not None and "MIG" not in listed and None not in visible:
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(filter(None, visible))


def gpu_of(machine: Machine, name: str) -> Gpu | None:
    """Return the GPU that torch calls by this name, None if there is none."""
    return _usable_gpus(machine).get(name)


def cores_of(machine: Machine) -> int:
    """Return how many cores a program may use here; more threads hardly help arithmetic."""
    return physical_cores(machine) or len(usable_threads(machine)) or 1


def gpus_of(machine: Machine) -> tuple[str, ...]:
    """Return the GPUs alone, or the processor if there are none."""
    return devices_of(machine)[:-1] or (CPU,)


def default_device(machine: Machine) -> str:
    """Return the first GPU, or the processor if there is none."""
    return devices_of(machine)[0]


def on_first_device(params: type[P], **on_gpu: Any) -> Callable[[Machine], P]:
    """Return what makes parameters for the first GPU, or for the processor if there is none.

    A GPU gets these values in place of the usual ones.
    """

    def suited(machine: Machine) -> P:
        device = default_device(machine)
        return params(device=device, **({} if device == CPU else on_gpu))

    return suited


def device_of(params: object) -> str:
    """Return the device that a run was set to, the processor where it cannot be set."""
    return getattr(params, "device", CPU)


def uses_gpu(experiment: Experiment[Any], params: object, machine: Machine) -> bool:
    """May a run use a GPU? One that offers no choice takes what the machine has."""
    if hasattr(params, "device"):
        return device_of(params) != CPU
    return Part.GPU in experiment.parts and default_device(machine) != CPU
