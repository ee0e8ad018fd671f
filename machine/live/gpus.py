"""The load of all GPUs, in the order of inspection.

Accelerators of other makers and the GPUs of Macs are not sampled.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from machine.bus.pci import read_pci
from machine.facts import Notes, note
from machine.gpus import nvml
from machine.gpus.pci_facts import Host
from machine.live.drm import DrmSampler
from machine.live.gpu_samples import NAMES, GpuSample
from machine.live.nvidia import NvidiaSampler
from machine.model import Missing
from machine.system.linux import read_text

_NO_BUS = Missing(
    what="gpus",
    why="No PCI bus is in sight, and no driver of NVIDIA.",
    how="nvidia-smi, on the machine itself.",
)


class GpuSampler:
    """Samples all GPUs. Not to be shared between threads."""

    def __init__(self, root: Path, load: Callable[[], nvml.Library] = nvml.load) -> None:
        self._host = Host(
            root=root,
            pci=read_pci(root, (), Notes()),
            is_live=True,
            is_wsl="microsoft" in (read_text(root / "proc/version") or "").lower(),
        )
        self._nvidia, self._drm = NvidiaSampler(self._host, load), DrmSampler(self._host)

    def sample(self, now_s: float) -> tuple[tuple[GpuSample, ...], list[Missing]]:
        """Return the sample of each GPU, and the reasons for gaps. May block for 40 ms."""
        found = [*self._nvidia.sample(now_s), *self._drm.sample(now_s)]
        notes = Notes()
        note(found, "gpus", NAMES, notes)
        samples = tuple(GpuSample(index=n, **gpu.values) for n, gpu in enumerate(found))
        if not samples and not self._host.pci:
            notes.missing.append(_NO_BUS)
        return samples, notes.missing

    def close(self) -> None:
        """Release the GPUs."""
        self._nvidia.close()
