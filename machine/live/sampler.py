"""Samples of the whole machine's load, with the reasons for gaps.

The modules of the parts say how each part is sampled.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from msgspec.structs import replace

from machine.gpus import nvml
from machine.live import io as live_io
from machine.live import threads as live_threads
from machine.live.gpu_samples import GpuSample
from machine.live.gpus import GpuSampler
from machine.live.heat import HeatSample, HeatSampler
from machine.live.io import DiskSample, IoSampler, NetworkSample
from machine.live.memory import MemorySample, MemorySampler
from machine.live.threads import ThreadSample, ThreadSampler
from machine.model import Missing
from machine.record import Record

_PATIENCE_S = 0.2  # with NVIDIA's library; what it says later is in the next sample


class Sample(Record):
    """One sample of the load, `t_s` after the sampler was made."""

    t_s: float
    threads: tuple[ThreadSample, ...]
    memory: MemorySample
    disks: tuple[DiskSample, ...] = ()
    network: tuple[NetworkSample, ...] = ()
    gpus: tuple[GpuSample, ...] = ()
    missing: tuple[Missing, ...] = ()
    heat: HeatSample | None = None


class Sampler:
    """Samples all parts of the machine. Not to be shared between threads."""

    def __init__(
        self,
        root: Path = Path("/"),
        clock_s: Callable[[], float] = time.monotonic,
        load_nvml: Callable[[], nvml.Library] | None = None,
    ) -> None:
        self._clock_s, self._start_s = clock_s, clock_s()
        self._threads, self._memory = ThreadSampler(root), MemorySampler(root)
        self._heat = HeatSampler(root)
        self._io, self._gpus = IoSampler(root), GpuSampler(root, load_nvml, patience_s=_PATIENCE_S)

    def sample(self) -> Sample:
        """Take a sample; takes about 1 ms on a small machine without GPUs."""
        now_s = self._clock_s()
        threads, memory = self._threads.sample(now_s), self._memory.sample(now_s)
        disks, network = self._io.sample(now_s)
        heat = self._heat.sample(now_s)
        gpus, missing = self._gpus.sample(now_s)
        return Sample(
            t_s=round(now_s - self._start_s, 6),
            threads=threads,
            memory=memory,
            disks=disks,
            network=network,
            gpus=gpus,
            heat=heat,
            missing=(
                *live_threads.missing(threads),
                *self._memory.missing(memory),
                *live_io.missing(disks, network),
                *self._heat.missing(heat),
                *missing,
            ),
        )

    def close(self) -> None:
        """Release the GPUs, which an open driver keeps awake."""
        self._gpus.close()


def portable(sample: Sample) -> Sample:
    """Return the sample without what identifies people and their programs, for saved files."""
    return replace(
        sample,
        network=tuple(
            replace(card, name=re.sub(r"[0-9a-f]{12}", "", card.name)) for card in sample.network
        ),
        gpus=tuple(replace(gpu, processes=None) for gpu in sample.gpus),
    )
