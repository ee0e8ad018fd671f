"""A server: two processors of 128 cores, eight GPUs behind NVSwitches, a network card for each.

After AMD's data sheet of the EPYC 9755, and NVIDIA's of HGX H100: four switches of PCIe, each with
two GPUs, two adapters and two disks behind one link to the processor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from machine.condition import Clock, System, Temperature
from machine.devices import Disk, Gpu, GpuLink, NetworkInterface, NvLink, PciDevice
from machine.model import (
    Cache,
    Cpu,
    Machine,
    Memory,
    MemoryModule,
    Missing,
    NumaNode,
    OperatingSystem,
)
from tests.tools.made_machines.parts import (
    BRIDGE,
    COMPUTE,
    ETHERNET,
    GIB,
    IDLE,
    KIB,
    MIB,
    NVME,
    cache,
    card,
    counts,
    file_system,
    finished,
    huge_pages,
    link,
    own_caches,
    thread,
    vulnerabilities,
)

_CORES, _CORES_A_DIE = 256, 8
_NODE_BYTES = 811_748_818_944
_SWITCHES = 4
_NVLINKS = (5, 4, 4, 5)  # of each GPU, to the four NVSwitches
_NVLINK_BYTES_PER_S = 26_562e6  # as the driver tells it
_PORT = (0x1022, 0x153E), "Turin GPP Bridge"
_SWITCH = (0x1000, 0xC030), "PEX890xx PCIe Gen 5 Switch"
_CX7 = (0x15B3, 0x1021), "MT2910 Family [ConnectX-7]"
_SSD = (0x144D, 0xA826), "NVMe SSD Controller PM174X"
_BUSES = (0x10, 0x30, 0x90, 0xB0)  # of the switches of PCIe


def make() -> Machine:
    """Return the server."""
    gpus = tuple(_gpu(n) for n in range(2 * _SWITCHES))
    return finished(
        Machine(
            os=OperatingSystem(
                kind="linux",
                release="6.8.0-generic",
                distribution="Ubuntu 24.04.3 LTS",
                architecture="x86_64",
            ),
            system=System(
                maker="Supermicro",
                model="AS-8126GS-TNMR",
                board="Supermicro H14DSG-O-CPU",
                firmware="American Megatrends International, LLC. 1.3",
                firmware_date="2025-05-12",
            ),
            virtualization="none",
            container="none",
            cpu=Cpu(
                model="AMD EPYC 9755 128-Core Processor",
                packages=2,
                cores=_CORES,
                threads=2 * _CORES,
                usable_threads=2 * _CORES,
                counts=counts(2 * _CORES),
                threads_list=tuple(
                    thread(
                        n,
                        package=n % _CORES // 128,
                        die=n % _CORES // 128,
                        core=n % _CORES,
                        core_id=n % 128,
                        numa_node=n % _CORES // 128,
                    )
                    for n in range(2 * _CORES)
                ),
                caches=tuple(_caches()),
                features=(
                    *("avx", "avx2", "avx512_bf16", "avx512_vnni", "avx512f", "avx_vnni"),
                    *("f16c", "fma", "sse4_2"),
                ),
                clock=Clock(
                    min_hz=1_500_000_000,
                    max_hz=4_100_000_000,
                    governor="performance",
                    driver="amd-pstate-epp",
                    energy_preference="performance",
                    boost="on",
                ),
                temperatures=(
                    Temperature(name="Tctl", now_celsius=51.9),
                    Temperature(name="Tctl", now_celsius=54.3),
                ),
                vulnerabilities=vulnerabilities(),
                microcode="0xb002147",
            ),
            numa=tuple(
                NumaNode(
                    id=node,
                    threads=tuple(n for n in range(2 * _CORES) if n % _CORES // 128 == node),
                    memory_bytes=_NODE_BYTES,
                    distances=(10, 32) if node == 0 else (32, 10),
                    kind="host",
                    allowed=True,
                )
                for node in range(2)
            ),
            memory=Memory(
                total_bytes=2 * _NODE_BYTES,
                modules=tuple(
                    MemoryModule(
                        slot=f"P{package} CHANNEL {channel}",
                        kind="DDR5",
                        size_bytes=64 * GIB,
                        transfers_per_s=6000e6,
                        rated_transfers_per_s=6000e6,
                        data_bits=64,
                    )
                    for package in range(2)
                    for channel in "ABCDEFGHIJKL"
                ),
                channels=24,
                peak_bytes_per_s=24 * 6000e6 * 64 / 8,
                transparent_huge_pages="madvise",
                huge_pages=huge_pages(total=4096),
                swap_total_bytes=0,
                swap_used_bytes=0,
                swap_in_memory_bytes=0,
            ),
            pci=tuple(_pci()),
            gpus=gpus,
            gpu_links=tuple(
                GpuLink(
                    a=a.index,
                    b=b.index,
                    path="NV18",
                    nvlinks=18,
                    nvlink_version="4.0",
                    peer_access_reported=True,
                    peer_access_cuda=True,
                )
                for a, b in itertools.combinations(gpus, 2)
            ),
            nvswitch=True,
            storage=tuple(
                Disk(
                    name=f"nvme{n}n1",
                    kind="nvme",
                    transport="pcie",
                    model="SAMSUNG MZWLO3T8HCLS-00A07",
                    size_bytes=3_840_755_982_336,
                    pci_address=f"0000:{bus:02x}:00.0",
                    peak_bytes_per_s=link(5, 4).peak_bytes_per_s,
                    file_systems=(
                        file_system("ext4", "system", 3778.0, 2904.0),
                        file_system("vfat", "boot", 1.1, 1.1),
                    )
                    if n == 0
                    else (file_system("xfs", "other", 3839.0, 1520.0 + 210 * n),),
                )
                for n, bus in enumerate(_below_switches(4))
            ),
            network=(
                *(
                    NetworkInterface(
                        name=f"ib{n}",
                        kind="infiniband",
                        is_up=True,
                        peak_bytes_per_s=400e9 / 8,
                        pci_address=f"0000:{bus:02x}:00.0",
                    )
                    for n, bus in enumerate(_below_switches(2))
                ),
                *(
                    NetworkInterface(
                        name=f"enp225s0f{n}",
                        kind="ethernet",
                        is_up=n == 0,
                        peak_bytes_per_s=10e9 / 8 if n == 0 else None,
                        pci_address=f"0000:e1:00.{n}",
                    )
                    for n in range(2)
                ),
            ),
        ),
        Missing(
            what="network[*].peak_bytes_per_s",
            why="It is down, and two ends agree on a speed when it comes up.",
            how="ip link set enp225s0f1 up",
        ),
    )


def _below_switches(place: int) -> list[int]:
    """Return the buses of the two cards at `place` and behind it, of each switch."""
    return [bus + 2 + place + n for bus in _BUSES for n in range(2)]


def _caches() -> Iterator[Cache]:
    for core in range(_CORES):
        threads = (core, core + _CORES)
        yield from own_caches(threads, data=(48 * KIB, 12), instruction=(32 * KIB, 8))
        yield cache(2, MIB, threads, 16)
    for first in range(0, _CORES, _CORES_A_DIE):
        cores = range(first, first + _CORES_A_DIE)
        yield cache(3, 32 * MIB, (*cores, *(core + _CORES for core in cores)), 16)


def _pci() -> Iterator[PciDevice]:
    for number, bus in enumerate(_BUSES):
        node = number // 2
        root, port = f"pci0000:{bus - 1:02x}", f"0000:{bus - 1:02x}:01.1"
        yield card(port, root, BRIDGE, *_PORT, node=node)
        up = f"0000:{bus:02x}:00.0"
        yield card(up, port, BRIDGE, *_SWITCH, link=link(5, 16), node=node)
        for place in range(6):
            down, below = f"0000:{bus + 1:02x}:{place:02x}.0", f"0000:{bus + 2 + place:02x}:00.0"
            yield card(down, up, BRIDGE, *_SWITCH, node=node)
            if place < 2:
                gpu = (0x10DE, 0x2330), "GH100 [H100 SXM5 80GB]"
                yield card(below, down, COMPUTE, *gpu, link=link(5, 16), node=node)
            elif place < 4:
                yield card(below, down, 0x020700, *_CX7, link=link(5, 16), node=node)
            else:
                yield card(below, down, NVME, *_SSD, link=link(5, 4, slot=(5, 4)), node=node)
    yield card("0000:c0:03.1", "pci0000:c0", BRIDGE, *_PORT, node=1)
    yield card("0000:c1:00.0", "0000:c0:03.1", BRIDGE, *_SWITCH, link=link(4, 4), node=1)
    for n in range(4):
        down, below = f"0000:c2:0{n}.0", f"0000:{0xC3 + n:02x}:00.0"
        yield card(down, "0000:c1:00.0", BRIDGE, *_SWITCH, node=1)
        nvswitch = (0x10DE, 0x22A3), "GH100 [H100 NVSwitch]"
        yield card(below, down, 0x068000, *nvswitch, link=link(2, 2), node=1)
    yield card("0000:e0:01.1", "pci0000:e0", BRIDGE, *_PORT, node=1)
    for n in range(2):
        x550 = (0x8086, 0x1563), "Ethernet Controller X550"
        yield card(f"0000:e1:00.{n}", "0000:e0:01.1", ETHERNET, *x550, link=link(3, 4), node=1)


def _gpu(index: int) -> Gpu:
    to = [switch for switch, links in enumerate(_NVLINKS) for _ in range(links)]
    return Gpu(
        index=index,
        vendor="NVIDIA",
        name="NVIDIA H100 80GB HBM3",
        pci_address=f"0000:{_below_switches(0)[index]:02x}:00.0",
        torch_backend="cuda",
        driver="nvidia",
        driver_version="570.195.03",
        cuda_version="12.8",
        compute_capability="9.0",
        architecture="Hopper",
        memory_bytes=85_520_809_984,
        unified_memory=False,
        memory_bus_bits=5120,
        memory_clock_hz=2_619_000_000,
        sms=132,
        sm_clock_hz=1_980_000_000,
        l2_bytes=50 * MIB,
        power_limit_watts=700.0,
        power_default_watts=700.0,
        power_min_watts=200.0,
        power_max_watts=700.0,
        temperature_celsius=31.0 + index,
        temperature_slowdown_celsius=89.0,
        temperature_shutdown_celsius=92.0,
        clock_reasons=IDLE,
        numa_node=index // 4,
        visible=True,
        asleep=False,
        bar_bytes=128 * GIB,
        resizable_bar=True,
        ecc=True,
        ecc_pending=True,
        remapped_rows=0,
        remapping_pending=False,
        remapping_failed=False,
        persistence=True,
        virtualization="none",
        fabric="completed",
        mig=False,
        nvlinks=tuple(
            NvLink(
                number=number,
                state="active",
                version="4.0",
                bytes_per_s=_NVLINK_BYTES_PER_S,
                peer_kind="switch",
                peer=f"0000:{0xC3 + switch:02x}:00.0",
            )
            for number, switch in enumerate(to)
        ),
    )
