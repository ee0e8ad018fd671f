"""The conditions a GPU worked under: clock, reasons for a lower one, other programs on it.

NVIDIA's management library and the kernel supply them; what they do not know is left out.
"""

from __future__ import annotations

from pathlib import Path

from experiments.core.declare import Note, Row
from experiments.devices.device import Device, gpu_of
from machine.devices import Gpu
from machine.live.gpu_samples import GpuSample
from machine.model import Machine

BUSY = 0.05  # of the time; a busier GPU is at work for somebody


class Condition(Row):
    """The GPU right after one round; `held_back` lists why its clock was not higher."""

    repeat: int
    sm_hz: float | None
    memory_hz: float | None
    power_watts: float | None
    temperature_celsius: float | None
    pcie_generation: int | None
    held_back: str


class Conditions:
    """Looks at the GPU of a device between rounds."""

    def __init__(self, device: Device) -> None:
        self._watch = _Watch(device.bench.machine, device.gpu()) if device.is_gpu else None
        self._bench = device.bench

    def look(self) -> GpuSample | None:
        """Return the GPU's current condition, None if it is unknown. May block for 40 ms."""
        return None if self._watch is None else self._watch.sample(self._bench.now_s())

    def rows(self, repeat: int) -> list[Condition]:
        """Return one row, none if the clock is unknown. May block for 40 ms."""
        now = self.look()
        if now is None or now.sm_hz is None:
            return []
        held_back = [r.key for r in now.clock_reasons or () if r.severity != "information"]
        return [
            Condition(
                repeat=repeat,
                sm_hz=now.sm_hz,
                memory_hz=now.memory_hz,
                power_watts=now.power_watts,
                temperature_celsius=now.temperature_celsius,
                pcie_generation=now.pcie_generation,
                held_back=", ".join(held_back),
            )
        ]


def others_on(machine: Machine, device: str) -> Note | None:
    """Return a note if other programs work on the GPU, before the run takes it."""
    gpu = gpu_of(machine, device)
    if gpu is None:
        return None
    watch = _Watch(machine, gpu)
    now = watch.sample(0.0)
    watch.close()
    if now is None:
        return None
    computing = [each for each in now.processes or () if each.kind == "compute"]
    if not computing and (now.busy or 0.0) < BUSY:
        return None
    held_bytes = sum(each.memory_bytes or 0 for each in computing)
    return Note(
        "gpu_is_shared",
        {"processes": len(computing), "held_bytes": held_bytes, "busy_fraction": now.busy or 0.0},
    )


class _Watch:
    """Live's sampler, for one GPU."""

    def __init__(self, machine: Machine, gpu: Gpu | None) -> None:
        from machine.live.gpus import GpuSampler  # the catalogue is read without it

        self._sampler = GpuSampler(Path("/"))
        self._place = machine.gpus.index(gpu) if gpu in machine.gpus else None

    def sample(self, now_s: float) -> GpuSample | None:
        found, _ = self._sampler.sample(now_s)
        if self._place is None or self._place >= len(found):
            return None
        return found[self._place]

    def close(self) -> None:
        self._sampler.close()
