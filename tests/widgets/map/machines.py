"""Machines that are not there, from almost unknown to one that fills two racks."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial

from machine.condition import Clock
from machine.devices import Disk, Gpu, GpuLink, Link, NetworkInterface, PciDevice
from machine.model import (
    Cache,
    Cpu,
    Machine,
    Memory,
    MemoryModule,
    Missing,
    NumaNode,
    OperatingSystem,
    Thread,
    from_json,
)
from tests import ROOT

SHIPPED = ROOT / "resources" / "machines"
KIB, MIB, GIB = 2**10, 2**20, 2**30
UNREAD = tuple(
    Missing(what=what, why="This version does not read it yet.", how="lspci")
    for what in ("gpus", "storage", "network")
)


def _cache(level: int, size_bytes: int, threads: Iterable[int], kind="unified") -> Cache:
    return Cache(
        level=level,
        kind=kind,
        size_bytes=size_bytes,
        line_bytes=64,
        ways=8,
        threads=tuple(sorted(threads)),
    )


def small() -> Machine:
    """Two cores in a virtual machine that reports little."""
    threads = tuple(
        Thread(id=n, package=0, core=n, numa_node=0, online=True, usable=True) for n in (0, 1)
    )
    caches = [_cache(3, 16 * MIB, (0, 1))]
    for n in (0, 1):
        caches += [
            _cache(1, 32 * KIB, (n,), "data"),
            _cache(1, 64 * KIB, (n,), "instruction"),
            _cache(2, MIB, (n,)),
        ]
    return Machine(
        fingerprint="small",
        os=OperatingSystem(kind="linux", distribution="Debian 12"),
        virtualization="kvm",
        cpu=Cpu(model="Test CPU", cores=2, threads=2, threads_list=threads, caches=tuple(caches)),
        memory=Memory(total_bytes=24 * GIB),
        numa=(NumaNode(id=0, threads=(0, 1), memory_bytes=24 * GIB),),
        sources={"cpu.caches": "/sys/devices/system/cpu/cpu*/cache/index*"},
        missing=(
            *UNREAD,
            Missing(
                what="memory.modules",
                why="Virtual machines have none.",
                how="dmidecode",
            ),
        ),
    )


def workstation() -> Machine:
    """Sixteen cores on two dies with different L3 caches, two GPUs, one in too narrow a slot."""
    threads = tuple(
        Thread(id=n, package=0, die=n % 16 // 8, core=n % 16, numa_node=0, online=True, usable=True)
        for n in range(32)
    )
    caches = []
    for core in range(16):
        caches += [
            _cache(1, 48 * KIB, (core, core + 16), "data"),
            _cache(2, MIB, (core, core + 16)),
        ]
    for die, size in enumerate((96, 32)):
        cores = range(8 * die, 8 * die + 8)
        caches.append(_cache(3, size * MIB, [*cores, *(core + 16 for core in cores)]))
    return Machine(
        fingerprint="workstation",
        virtualization="none",
        cpu=Cpu(
            model="Test CPU",
            cores=16,
            threads=32,
            threads_list=threads,
            caches=tuple(caches),
            clock=Clock(max_hz=5_700_000_000),
        ),
        memory=Memory(
            total_bytes=64 * GIB,
            channels=2,
            peak_bytes_per_s=96e9,
            modules=(
                MemoryModule(slot="A1", size_bytes=0),
                MemoryModule(slot="A2", kind="DDR5-6000", size_bytes=32 * GIB),
                MemoryModule(slot="B1", size_bytes=0),
                MemoryModule(slot="B2", kind="DDR5-6000", size_bytes=32 * GIB),
            ),
        ),
        pci=(
            PciDevice(address="01", link=Link(generation=5, width=16, card_width=16,
                                              peak_bytes_per_s=63e9)),
            PciDevice(address="02", link=Link(generation=5, width=8, card_width=16,
                                              peak_bytes_per_s=31.5e9)),
            PciDevice(address="03", link=Link(generation=4, width=4, card_width=4,
                                              peak_bytes_per_s=7.9e9)),
        ),
        gpus=tuple(
            Gpu(index=n, name="RTX 5090", pci_address=f"0{n + 1}", memory_bytes=32 * GIB, sms=170)
            for n in (0, 1)
        ),
        storage=(Disk(name="nvme0n1", size_bytes=2 * 10**12, pci_address="03"),),
        network=(NetworkInterface(name="eth0", peak_bytes_per_s=1.25e9),),
    )  # fmt: skip


def server() -> Machine:
    """Two packages of 128 cores with two threads each, eight GPUs behind NVSwitches."""
    threads = tuple(
        Thread(
            id=n,
            package=n % 256 // 128,
            die=n % 256 // 128,
            core=n % 256,
            numa_node=n % 256 // 128,
            online=True,
            usable=True,
        )
        for n in range(512)
    )
    caches = []
    for core in range(256):
        caches += [
            _cache(1, 48 * KIB, (core, core + 256), "data"),
            _cache(2, MIB, (core, core + 256)),
        ]
    for group in range(32):
        cores = range(8 * group, 8 * group + 8)
        caches.append(_cache(3, 32 * MIB, [*cores, *(core + 256 for core in cores)]))
    return Machine(
        cpu=Cpu(model="Test CPU", cores=256, threads_list=threads, caches=tuple(caches)),
        numa=tuple(
            NumaNode(
                id=node,
                threads=tuple(t.id for t in threads if t.numa_node == node),
                memory_bytes=768 * GIB,
                distances=(10, 32) if node == 0 else (32, 10),
            )
            for node in (0, 1)
        ),
        memory=Memory(
            total_bytes=1536 * GIB,
            modules=(MemoryModule(kind="DDR5-4800", size_bytes=64 * GIB),) * 24,
        ),
        pci=tuple(
            PciDevice(
                address=f"g{n}",
                numa_node=n // 4,
                link=Link(generation=5, width=16, card_width=16, peak_bytes_per_s=63e9),
            )
            for n in range(8)
        ),
        gpus=tuple(
            Gpu(index=n, name="H200", pci_address=f"g{n}", memory_bytes=141 * GIB, sms=132)
            for n in range(8)
        ),
        gpu_links=tuple(
            GpuLink(a=a, b=b, path="NV18", nvlinks=18) for a in range(8) for b in range(a + 1, 8)
        ),
        nvswitch=True,
    )


def dense() -> Machine:
    """Thirty-two cores, eight of which share an L3 each: too many to show the caches of each."""
    threads = tuple(
        Thread(id=n, package=0, core=n, numa_node=0, online=True, usable=True) for n in range(32)
    )
    own = [_cache(1, 48 * KIB, (core,), "data") for core in range(32)]
    own += [_cache(2, MIB, (core,)) for core in range(32)]
    shared = [_cache(3, 32 * MIB, range(8 * group, 8 * group + 8)) for group in range(4)]
    return Machine(cpu=Cpu(cores=32, threads_list=threads, caches=(*own, *shared)))


def hybrid() -> Machine:
    """Six fast cores with two threads, eight thrifty ones of which four share an L2."""
    threads, caches = [], []
    for core in range(6):
        ids = (2 * core, 2 * core + 1)
        threads += [
            Thread(id=n, package=0, core=core, kind="performance", online=True, usable=True)
            for n in ids
        ]
        caches += [_cache(1, 48 * KIB, ids, "data"), _cache(2, 1280 * KIB, ids)]
    for n in range(12, 20):
        threads.append(
            Thread(id=n, package=0, core=n - 6, kind="efficiency", online=True, usable=True)
        )
        caches.append(_cache(1, 32 * KIB, (n,), "data"))
    caches += [_cache(2, 2 * MIB, range(12, 16)), _cache(2, 2 * MIB, range(16, 20))]
    caches.append(_cache(3, 24 * MIB, range(20)))
    return Machine(
        cpu=Cpu(model="Test CPU", cores=14, threads_list=tuple(threads), caches=tuple(caches)),
        memory=Memory(total_bytes=32 * GIB),
        missing=UNREAD,
    )


def pinned() -> Machine:
    """Three cores, one off and one forbidden, and a thread that is off at an unknown place."""
    return Machine(
        cpu=Cpu(
            threads_list=(
                Thread(id=0, package=0, core=0, online=True, usable=True),
                Thread(id=1, package=0, core=1, online=True, usable=False),
                Thread(id=2, package=0, core=2, online=False, usable=False),
                Thread(id=3, online=False, usable=False),
            )
        )
    )


def elsewhere() -> Machine:
    """Ten hardware threads of which only the count is known, as on other systems than Linux."""
    return Machine(
        os=OperatingSystem(kind="macos"),
        cpu=Cpu(
            model="Test CPU",
            threads=10,
            threads_list=tuple(Thread(id=n, online=True, usable=True) for n in range(10)),
        ),
        memory=Memory(total_bytes=16 * GIB),
    )


def unknown() -> Machine:
    """A machine of which nothing could be read."""
    return Machine()


def shipped(name: str) -> Machine:
    """Return one of the machines that come with the program."""
    return from_json(json.loads((SHIPPED / f"{name}.json").read_text(encoding="utf-8")))


MACHINES = {
    make.__name__: make
    for make in (small, workstation, server, dense, hybrid, pinned, elsewhere, unknown)
} | {path.stem: partial(shipped, path.stem) for path in sorted(SHIPPED.glob("*.json"))}
