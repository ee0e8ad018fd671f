"""The load of all GPUs, in the order of inspection.

Accelerators of other makers and the GPUs of Macs are not sampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

from machine.facts import Notes, Reason, note
from machine.gpus import nvml
from machine.gpus.pci_facts import live_host
from machine.live.drm import DrmSampler
from machine.live.gpu_samples import NAMES, GpuSample
from machine.live.nvidia import NvidiaSampler
from machine.live.nvidia_child import NvidiaChild
from machine.model import Missing

_NO_BUS = Reason(
    "No PCI bus is in sight, and no driver of NVIDIA.", "nvidia-smi, on the machine itself."
)


class GpuSampler:
    """Samples all GPUs. Not to be shared between threads."""

    def __init__(
        self,
        root: Path,
        load: Callable[[], nvml.Library] | None = None,
        *,
        patience_s: float = math.inf,
    ) -> None:
        """Watch the machine below `root`. With `load`, NVML is asked in this process."""
        self._host = live_host(root)
        self._nvidia: NvidiaSampler | NvidiaChild = (
            NvidiaChild(self._host, patience_s) if load is None else NvidiaSampler(self._host, load)
        )
        self._drm = DrmSampler(self._host)

    def sample(self, now_s: float) -> tuple[tuple[GpuSample, ...], list[Missing]]:
        """Return the sample of each GPU, and the reasons for gaps.

        Blocks for 40 ms as a rule, for `patience_s` if NVIDIA's library does not answer.
        """
        of_nvidia = self._nvidia.sample(now_s)
        found = [*of_nvidia, *self._drm.sample(now_s)]
        notes = Notes()
        note(found, "gpus", NAMES, notes)
        samples = tuple(GpuSample(index=n, **gpu.values) for n, gpu in enumerate(found))
        if not of_nvidia and (trouble := self._nvidia.trouble):
            notes.lack("gpus", trouble)
        elif not samples and not self._host.pci:
            notes.lack("gpus", _NO_BUS)
        return samples, notes.missing

    def close(self) -> None:
        """Release the GPUs."""
        self._nvidia.close()
