"""Machines that are not there, as small as a test needs them."""

from __future__ import annotations

from experiments.core.sizes import GIB as GIB
from experiments.core.sizes import KIB as KIB
from experiments.core.sizes import MIB as MIB
from machine.devices import Gpu
from machine.model import Cache, Cpu, Machine, Memory, NumaNode, Thread


def machine(
    *,
    cores: int = 4,
    threads_per_core: int = 1,
    caches: tuple[int | None, ...] = (32 * KIB, MIB, 32 * MIB),
    virtualization: str | None = None,
    gpus: int = 0,
    nodes: int = 1,
    peak_bytes_per_s: float | None = None,
) -> Machine:
    """Return a machine whose L1 and L2 belong to a core and whose L3 to all of them."""
    threads = tuple(
        Thread(id=core + cores * turn, core=core, online=True, usable=True)
        for turn in range(threads_per_core)
        for core in range(cores)
    )
    own = tuple(thread.id for thread in threads)
    instances = tuple(
        Cache(level=level, kind="unified", size_bytes=size, threads=shared)
        for level, size in enumerate(caches, start=1)
        for shared in ([own] if level == 3 else [(t.id,) for t in threads])
    )
    return Machine(
        virtualization=virtualization,
        fingerprint="test",
        cpu=Cpu(model="Test CPU", cores=cores, threads_list=threads, caches=instances),
        memory=Memory(total_bytes=16 * GIB, peak_bytes_per_s=peak_bytes_per_s),
        gpus=tuple(Gpu(index=index, torch_backend="cuda") for index in range(gpus)),
        numa=tuple(NumaNode(id=node, memory_bytes=GIB) for node in range(nodes)),
    )
